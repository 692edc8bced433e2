"""Several tasks wait in one graph that remembers: each is seen, and changed, where it stands itself."""

from typing import Annotated, Any, TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .diaries import Diary, Kept, Turn, around
from .ways import CONFIG

WORDS = ["rent", "tax", "power"]


class Words(TypedDict):
    word: Annotated[str, lambda before, word: word]


def ask(state: Kept) -> Any:
    return {"kept": [interrupt(f"keep {state['kept'][-1]}?")]}


def one_more(inner: Any) -> StateGraph:
    return StateGraph(Turn).add_node("more", inner).add_edge(START, "more")


def called(diary: Diary) -> Any:
    """A node that calls the graph."""
    graph = diary.graph
    return lambda state: {} if graph.invoke({"word": state["word"]}) else None


NESTED = {
    "as a node": lambda diary: diary.graph,
    "called by a node": called,
    "in a graph that forgets": lambda diary: one_more(diary.graph).compile(),
    "in a graph that remembers": lambda diary: one_more(diary.graph).compile(checkpointer=True),
    "in one that forgets, in one that remembers": lambda diary: one_more(one_more(called(diary)).compile()).compile(
        checkpointer=True
    ),
}


def sent(desk: Any) -> StateGraph:
    """A graph that sends each word to a task of its own."""
    graph = StateGraph(Words).add_node("desk", desk)
    return graph.add_conditional_edges(
        START, lambda state: [Send("desk", {"word": word}) for word in state["word"].split()], ["desk"]
    )


def innermost(state: Any) -> Any:
    while state.tasks and state.tasks[0].state is not None:
        state = state.tasks[0].state
    return state


def seen(app: Any) -> list[Any]:
    """How the tasks of the root stand, in the order of the words."""
    found = [(one, innermost(one.state)) for one in app.get_state(subgraphs=True).tasks]
    assert all(one.interrupts == inner.interrupts for one, inner in found)
    return [inner for _, inner in found]


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("nested", NESTED)
def test_each_task_shows_its_own_turn(open_app, nested, pause):
    app = open_app(sent(NESTED[nested](Diary(ask=ask))), pause=pause)
    app.invoke({"word": " ".join(WORDS)})
    assert [(one.values["kept"], one.next) for one in seen(app)] == [([word], ("ask",)) for word in WORDS]


def followed(app: Any, config: Any) -> Any:
    """The innermost state, read by the config that stands for it in the one around."""
    state = app.get_state(config)
    return followed(app, state.tasks[0].state) if state.tasks and state.tasks[0].state is not None else state


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("nested", NESTED)
def test_each_task_tells_where_its_own_turn_is(open_app, nested, pause):
    app = open_app(sent(NESTED[nested](Diary(ask=ask))), pause=pause)
    app.invoke({"word": " ".join(WORDS)})
    found = [followed(app, one.state) for one in app.get_state().tasks]
    assert [(one.values["kept"], one.next) for one in found] == [([word], ("ask",)) for word in WORDS]
    assert [one.interrupts for one in found] == [one.interrupts for one in seen(app)]


def test_a_task_that_is_alone_in_a_graph_that_remembers_names_just_the_graph(open_app):
    app = open_app(sent(Diary(ask=ask).graph))
    app.invoke({"word": "rent"})
    assert app.get_state().tasks[0].state["configurable"] == {"thread_id": "1", "checkpoint_ns": "desk"}


@pytest.mark.parametrize("at", range(len(WORDS)))
@pytest.mark.parametrize("nested", NESTED)
def test_what_a_person_tells_one_turn_the_others_do_not_know(open_app, nested, at):
    diary = Diary(ask=ask)
    app = open_app(sent(NESTED[nested](diary)))
    app.invoke({"word": " ".join(WORDS)})
    app.update_state({"kept": ["more"]}, seen(app)[at].config, as_node="note")
    told = [[word, "more"] if place == at else [word] for place, word in enumerate(WORDS)]
    assert [one.values["kept"] for one in seen(app)] == told
    assert {one.id for one in app.filed()} == {one.id for one in app.get_state().interrupts}
    app.invoke(None)
    asked = [f"keep {kept[-1]}?" for kept in told]
    assert app.questions() == asked
    for question in app.get_state().interrupts[::-1]:
        app.invoke(Command(resume={question.id: f"yes to {question.value}"}))
    assert (app.get_state().next, len(diary.seen)) == ((), len(WORDS))


@pytest.mark.parametrize("at", range(len(WORDS)))
def test_whoever_goes_on_at_a_turn_that_waits_begins_no_branch(open_app, at):
    app = open_app(sent(Diary(ask=ask).graph))
    app.invoke({"word": " ".join(WORDS)})
    turn = seen(app)[at]
    app.invoke(Command(resume={turn.interrupts[0].id: "yes"}), turn.config)
    assert app.questions() == [f"keep {word}?" for word in WORDS if word != WORDS[at]]


@pytest.mark.parametrize("at", range(len(WORDS)))
def test_an_update_where_a_turn_was_before_leaves_the_questions_of_the_others(open_app, at):
    app = open_app(sent(Diary(ask=ask).graph))
    app.invoke({"word": " ".join(WORDS)})
    app.update_state({"kept": ["more"]}, seen(app)[at].parent_config, as_node="note")
    others = [f"keep {word}?" for word in WORDS if word != WORDS[at]]
    assert app.questions() == others
    assert sorted(one.value for one in app.filed()) == sorted(others)
    app.invoke(None)
    assert app.questions() == ["keep more?" if place == at else f"keep {word}?" for place, word in enumerate(WORDS)]


def test_a_task_that_has_not_called_the_graph_yet_shows_what_it_would_begin_with(open_app):
    graph = Diary(ask=ask).graph

    def desk(state: Turn) -> None:
        if state["word"] == "late":
            interrupt("now?")
        graph.invoke({"word": state["word"]})

    app = open_app(sent(desk))
    app.invoke({"word": "one"})
    app.invoke(Command(resume="yes"))
    app.invoke({"word": "two late"})
    two, late = app.get_state(subgraphs=True).tasks
    assert two.state.values["kept"] == ["one", "yes", "two"]
    assert late.state.values["kept"] == ["one", "yes"]


def left_in_the_middle(app: Any) -> None:
    """The thread goes on from another state than a turn was begun with."""
    app.update_state({"word": "other"}, as_node="plan")


def gone_back(app: Any) -> None:
    """The thread is where there was no memory yet."""
    old = next(one.config for one in app.history() if one.next == ("plan",))
    app.update_state({"word": "other"}, old, as_node="plan")


KNOWN = {left_in_the_middle: ["one", "told"], gone_back: ["told"]}


@pytest.mark.parametrize("by", ["its place", "its snapshot"])
@pytest.mark.parametrize("left", KNOWN)
def test_what_a_person_tells_a_graph_before_it_is_called_again_is_known_there(open_app, left, by):
    diary = Diary(ask=ask)
    app = open_app(around(diary.graph))
    assert app.ask({"word": "one"}) == ["keep one?"]
    left(app)
    place = {"configurable": {**CONFIG["configurable"], "checkpoint_ns": "diary"}}
    app.update_state(
        {"kept": ["told"]}, place if by == "its place" else app.get_state(subgraphs=True).tasks[0].state.config
    )
    assert app.get_state(subgraphs=True).tasks[0].state.values["kept"] == KNOWN[left]
    assert app.ask(None) == ["keep other?"]
    assert diary.seen[-1] == KNOWN[left]


def answered(app: Any) -> None:
    app.invoke(Command(resume="no"))


@pytest.mark.parametrize("left", [left_in_the_middle, answered])
@pytest.mark.parametrize("nested", [name for name in NESTED if not name.startswith("called")])
def test_a_branch_in_the_middle_of_a_turn_goes_on_with_it(open_app, nested, left):
    diary = Diary(ask=ask)
    app = open_app(around(NESTED[nested](diary)))
    app.invoke({"word": "one"})
    turn = innermost(app.get_state(subgraphs=True))
    left(app)
    assert app.ask(None, turn.config) == ["keep one?"]
    app.invoke(Command(resume="yes"))
    assert app.get_state().next == ()
    app.invoke({"word": "two"})
    assert diary.seen == [[], ["one", "yes"]]
