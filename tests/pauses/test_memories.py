"""A nested graph that remembers, on a thread that goes back: it knows what it knew where the branch began."""

from typing import Any

import pytest

from signoff.constants import COPY
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .diaries import NESTED, Diary, Kept, Turn, around, plan
from .ways import CONFIG, ONE_SERVER

ON_SERVERS = ONE_SERVER


def after_turns(open_app: Any, diary: Diary, *words: str, nested: str = "as a node", **settings: Any) -> Any:
    app = open_app(NESTED[nested](diary))
    for word in words:
        app.invoke({"word": word}, **settings)
    diary.seen.clear()
    return app


def before(app: Any, word: str) -> Any:
    """Where a word was about to be written into the diary."""
    return next(one.config for one in app.history() if one.next == ("diary",) and one.values["word"] == word)


WAYS_BACK = {
    "a replay": lambda app, at: app.invoke(None, at),
    "new input": lambda app, at: app.invoke({"word": "other"}, at),
    "an update, gone on from": lambda app, at: app.invoke(None, app.update_state({"word": "other"}, at)),
    "an update and a new turn": lambda app, at: (app.update_state(None, at), app.invoke({"word": "other"})),
    "a copy": lambda app, at: app.invoke(None, app.update_state(None, at, as_node=COPY)),
}


EACH = [(way, "as a node") for way in WAYS_BACK] + [("an update, gone on from", nested) for nested in NESTED]


@pytest.mark.parametrize(("way", "nested"), dict.fromkeys(EACH))
def test_a_branch_remembers_what_was_known_where_it_began(open_app, way, nested):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", "three", nested=nested)
    WAYS_BACK[way](app, before(app, "two"))
    app.invoke({"word": "last"})
    first, second = diary.seen
    assert first == ["one"]
    assert second in (["one", "two"], ["one", "other"])


@pytest.mark.parametrize("way", WAYS_BACK)
def test_a_branch_from_before_there_was_a_memory_has_none(open_app, way):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two")
    WAYS_BACK[way](app, before(app, "one"))
    assert diary.seen == [[]]


@pytest.mark.parametrize("way", WAYS_BACK)
def test_a_branch_that_is_stored_when_it_ends_remembers_the_same(open_app, way):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", durability="exit")
    at = next(one.config for one in app.history() if one.values["word"] == "one")
    WAYS_BACK[way](app, at)
    app.invoke({"word": "last"}, durability="exit")
    assert diary.seen[-1][0] == "one"
    assert "two" not in diary.seen[-1]


def a_word_that_is_skipped(app, at):
    app.update_state({"word": "skip"}, at, as_node="plan")
    app.invoke(None)


def an_end_that_is_replayed(app, at):
    ended = [one.config for one in app.history() if not one.next and one.values["word"] == "one"]
    app.invoke(None, ended[-1])


@pytest.mark.parametrize("way", [a_word_that_is_skipped, an_end_that_is_replayed])
def test_a_memory_that_is_asked_in_a_later_run_of_the_branch_is_the_one_of_the_branch(open_app, way):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", "three")
    way(app, before(app, "two"))
    app.invoke({"word": "skip"})
    app.invoke({"word": "four"})
    app.invoke({"word": "five"})
    assert diary.seen == [["one"], ["one", "four"]]


def test_each_branch_of_a_branch_remembers_its_own_past(open_app):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", "three")
    app.update_state({"word": "skip"}, before(app, "two"), as_node="plan")
    app.invoke({"word": "a"})
    app.invoke({"word": "b"})
    app.update_state({"word": "skip"}, before(app, "b"), as_node="plan")
    app.update_state({"word": "skip"}, before(app, "a"), as_node="plan")
    app.invoke({"word": "c"})
    assert diary.seen == [["one"], ["one", "a"], ["one"]]


def test_a_branch_of_one_that_was_left_remembers_what_was_learned_there(open_app):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", "three")
    at = before(app, "three")
    app.update_state({"word": "skip"}, before(app, "two"), as_node="plan")
    app.invoke({"word": "a"})
    app.invoke(None, at)
    assert diary.seen == [["one"], ["one", "two"]]


@pytest.mark.parametrize("way", WAYS_BACK)
def test_what_a_branch_has_learned_before_a_failure_is_not_learned_again(open_app, way):
    fails: list[str] = []

    def check(state: Kept) -> None:
        if fails:
            raise ValueError(fails.pop())

    diary = Diary(check=check)
    app = after_turns(open_app, diary, "one", "two")
    at = before(app, "two")
    fails.append("down")
    with pytest.raises(ValueError, match="down"):
        WAYS_BACK[way](app, at)
    app.invoke(None)
    app.invoke({"word": "last"})
    assert [len(kept) for kept in diary.seen] == [1, 2]


def test_what_a_branch_has_learned_before_a_question_is_not_learned_again(open_app):
    def ask(state: Kept) -> Any:
        return {"kept": [interrupt(state["word"])]}

    diary = Diary(ask=ask)
    app = open_app(around(diary.graph))
    for word in ("one", "two"):
        app.invoke({"word": word})
        app.invoke(Command(resume=f"{word}!"))
    diary.seen.clear()
    assert app.ask(None, app.update_state({"word": "other"}, before(app, "two"))) == ["other"]
    app.invoke(Command(resume="other!"))
    assert app.ask({"word": "last"}) == ["last"]
    assert diary.seen == [["one", "one!"], ["one", "one!", "other", "other!"]]


def test_a_question_that_is_left_behind_leaves_no_memory(open_app):
    def ask(state: Kept) -> Any:
        return {"kept": [interrupt(state["word"])]}

    diary = Diary(ask=ask)
    app = open_app(around(diary.graph))
    app.invoke({"word": "one"})
    app.invoke(Command(resume="one!"))
    assert app.ask({"word": "two"}) == ["two"]
    at = next(one.config for one in app.history() if one.next == ("plan",) and one.values["word"] == "two")
    assert app.ask(None, app.update_state({"word": "other"}, at)) == ["other"]
    assert diary.seen == [[], ["one", "one!"], ["one", "one!"]]


def test_an_update_of_the_head_leaves_the_memory_as_it_is(open_app):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two")
    app.update_state({"word": "other"}, as_node="diary")
    app.update_state({"word": "other"}, app.get_state().config, as_node="diary")
    app.update_state(None, as_node=COPY)
    app.invoke({"word": "three"})
    assert diary.seen == [["one", "two"]]
    assert not any("branched_off" in one.metadata for one in app.history())


def test_a_snapshot_of_a_branch_shows_the_memory_of_the_branch(open_app):
    app = after_turns(open_app, Diary(), "one", "two", "three")
    app.update_state({"word": "other"}, before(app, "two"))
    (task,) = app.get_state(subgraphs=True).tasks
    assert task.state.values["kept"] == ["one"]


def test_what_a_person_tells_the_memory_of_a_branch_stays(open_app):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", "three")
    app.update_state({"word": "other"}, before(app, "two"))
    (task,) = app.get_state(subgraphs=True).tasks
    app.update_state({"kept": ["told"]}, task.state.config)
    app.invoke(None)
    assert diary.seen == [["one", "told"]]


def test_the_memory_that_is_read_and_told_by_its_place_is_the_one_of_the_branch(open_app):
    diary = Diary()
    app = after_turns(open_app, diary, "one", "two", "three")
    app.update_state({"word": "other"}, before(app, "two"))
    place = {"configurable": {**CONFIG["configurable"], "checkpoint_ns": "diary"}}
    assert app.get_state(place).values["kept"] == ["one"]
    app.update_state({"kept": ["told"]}, place)
    assert app.get_state(place).values["kept"] == ["one", "told"]
    app.invoke(None)
    assert diary.seen == [["one", "told"]]


@pytest.mark.parametrize("remembers", [None, True], ids=["in a graph that forgets", "in a graph that remembers"])
def test_a_branch_that_begins_inside_of_a_nested_graph_remembers_what_was_known_there(open_app, remembers):
    diary = Diary()

    def check(state: Turn) -> Any:
        interrupt("sure?")

    steps = [("first", diary.call), plan, ("second", diary.call), check]
    page = StateGraph(Turn).add_sequence(steps).add_edge(START, "first").compile(checkpointer=remembers)
    app = open_app(StateGraph(Turn).add_node("page", page).add_edge(START, "page"))
    assert app.ask({"word": "one"}) == ["sure?"]
    old = next(one for one in app.history(app.get_state().tasks[0].state) if one.next == ("plan",))
    assert app.ask(None, old.config) == ["sure?"]
    app.invoke(Command(resume="yes"))
    app.invoke({"word": "two"})
    assert diary.seen == [[], [], [], ["one"], ["one"]]


def called_by_a_task(diary: Diary) -> Any:
    """A node that makes a call, which calls the graph."""
    write = task(diary.call, name="write")
    return lambda state: write(state).result()


WAITING = {
    "as a node": lambda diary: diary.graph,
    "called by a node": lambda diary: diary.call,
    "called by a task": called_by_a_task,
    "in a graph that forgets": lambda diary: around(diary.call).compile(),
}


@pytest.mark.parametrize("how", ["a replay", "an update"])
@pytest.mark.parametrize("nested", WAITING)
def test_a_turn_that_waited_where_a_branch_begins_begins_anew_there(open_app, nested, how):
    def ask(state: Any) -> Any:
        return {"kept": [interrupt(f"keep {state['word']}?")]}

    diary = Diary(ask=ask)
    graph = StateGraph(Turn).add_node("diary", WAITING[nested](diary)).add_node(plan).add_node("more", plan)
    app = open_app(graph.add_edge(START, "diary").add_edge(START, "plan").add_edge("plan", "more"), pause="branch")
    for word in ("one", "two"):
        app.invoke({"word": word})
        app.invoke(Command(resume="yes"))
    old = next(one for one in app.history()[::-1] if set(one.next) == {"diary", "more"})
    assert diary.seen == [[], ["one", "yes"]]
    if how == "a replay":
        app.invoke(None, old.config)
    else:
        app.update_state(None, old.config, as_node="more")
        app.invoke(None)
    app.invoke(Command(resume="no"))
    app.invoke({"word": "three"})
    assert diary.seen[2:] == [["one", "yes"], ["one", "yes", "two", "no"]]


@pytest.mark.parametrize("between", [[], ["two"]], ids=["the newest", "an older one"])
def test_a_branch_that_begins_at_the_end_of_a_turn_remembers_that_turn(open_app, between):
    diary = Diary()
    app = open_app(around(diary.graph))
    app.invoke({"word": "one"})
    called = next(one for one in app.history() if one.next == ("diary",))
    ended = app.get_state(called.config, subgraphs=True).tasks[0].state
    for word in between:
        app.invoke({"word": word})
    app.invoke(None, ended.config)
    app.invoke({"word": "three"})
    assert diary.seen == [[], *(["one"] for _ in between), ["one"]]


def test_whoever_calls_beside_a_turn_that_waits_knows_what_was_known_where_the_branch_began(open_app):
    def ask(state: Any) -> Any:
        return {"kept": [interrupt("keep it?")] if state["word"] == "waits" else []}

    diary = Diary(ask=ask)
    graph = StateGraph(Turn).add_node(plan).add_node("diary", diary.call).add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda state: [Send("diary", {"word": word}) for word in state["word"].split()])
    app = open_app(graph)
    app.invoke({"word": "one"})
    before = app.get_state().config
    app.invoke({"word": "two"})
    app.invoke({"word": "waits late"}, {**before, "max_concurrency": 1})
    assert diary.seen == [[], ["one"], ["one"], ["one"]]


TWO_DEEP = {
    "called by a task": called_by_a_task,
    "in a graph that remembers": lambda diary: around(diary.graph).compile(checkpointer=True),
    "in one that forgets, in one that remembers": lambda diary: around(around(diary.call).compile()).compile(
        checkpointer=True
    ),
}


@pytest.mark.parametrize("nested", TWO_DEEP)
def test_whoever_calls_later_beside_a_turn_that_waits_does_not_know_half_of_it(open_app, nested):
    def ask(state: Any) -> Any:
        return {"kept": [interrupt("keep it?")] if state["word"] == "waits" else []}

    diary = Diary(ask=ask)
    graph = StateGraph(Turn).add_node(plan).add_node("diary", TWO_DEEP[nested](diary)).add_edge(START, "plan")
    graph.add_conditional_edges(START, lambda state: Send("diary", {"word": state["word"]}), ["diary"])
    graph.add_conditional_edges("plan", lambda state: Send("diary", {"word": "late"}), ["diary"])
    app = open_app(graph, pause="branch")
    app.invoke({"word": "one"})
    app.invoke({"word": "waits"})
    assert diary.seen[-1] == ["one", "late"]
    app.invoke(Command(resume="yes"))
    assert app.get_state().next == ()


@pytest.mark.parametrize("durability", ["async", "exit"])
def test_whoever_calls_beside_a_turn_that_waits_knows_what_was_learned_earlier_in_the_run(open_app, durability):
    def ask(state: Any) -> Any:
        return {"kept": [interrupt("keep it?")] if state["word"] == "waits" else []}

    rounds = iter([["one"], ["two"], ["waits", "late"], [], ["three"], []])
    diary = Diary(ask=ask)
    graph = StateGraph(Turn).add_node(plan).add_node("diary", diary.call).add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda state: [Send("diary", {"word": word}) for word in next(rounds)])
    app = open_app(graph.add_edge("diary", "plan"))
    app.invoke({"word": ""}, {**CONFIG, "max_concurrency": 1}, durability=durability)
    assert diary.seen == [[], ["one"], ["one", "two"], ["one", "two"]]
    app.invoke(Command(resume="yes"), durability=durability)
    app.invoke({"word": ""}, durability=durability)
    assert diary.seen[4:] == [["one", "two", "waits", "yes"]]
