"""Promise 8: new input never silently drops a question."""

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, InvalidInput, QuestionsOpen
from signoff.func import entrypoint
from signoff.inbox import Inbox
from signoff.types import Command, interrupt

from .programs import NEW, Works, asking, beside
from .ways import on_thread


def chat(state):
    """Asks at the first message, not at others."""
    return {"log": [f"answer: {interrupt('sure?')}"]} if state["log"][-1] == "ask" else {}


def waiting(open_app, **settings):
    app = open_app(beside(chat=chat), **settings)
    app.invoke({"log": ["ask"]})
    return app


def test_new_input_is_refused_by_default(open_app):
    app = waiting(open_app)
    before = app.get_state()
    with pytest.raises(QuestionsOpen, match='on_pending="answer".*on_pending="discard"') as refused:
        app.invoke({"log": ["hello"]})
    assert before.interrupts[0].id in str(refused.value)
    assert app.get_state() == before


def test_new_input_can_be_the_answer(open_app):
    app = waiting(open_app)
    assert app.invoke("yes", on_pending="answer") == {"log": ["ask", "answer: yes"]}


def test_new_input_can_discard_the_question_and_the_history_says_so(open_app):
    app = waiting(open_app)
    dropped = app.get_state().interrupts[0].id
    assert app.invoke({"log": ["hello"]}, on_pending="discard") == {"log": ["ask", "hello"]}
    inputs = [one for one in app.history() if one.metadata["source"] == "input"]
    assert [one.metadata.get("discarded") for one in inputs] == [None, [dropped]]
    assert (app.questions(), app.filed()) == ([], [])


def test_an_answer_to_a_discarded_question_is_refused(open_app):
    app = waiting(open_app)
    dropped = app.ids()["sure?"]
    app.invoke({"log": ["hello"]}, on_pending="discard")
    with pytest.raises(InvalidAnswer, match="There is no open question"):
        app.invoke(Command(resume={dropped: "yes"}))


@pytest.mark.parametrize("meaning", ["answer", "discard"])
def test_a_graph_can_say_what_new_input_means(open_app, meaning):
    app = waiting(open_app, on_pending=meaning)
    log = app.invoke("yes" if meaning == "answer" else {"log": ["hello"]})["log"]
    assert log == (["ask", "answer: yes"] if meaning == "answer" else ["ask", "hello"])


def test_a_call_can_overrule_its_graph(open_app):
    app = waiting(open_app, on_pending="discard")
    with pytest.raises(QuestionsOpen):
        app.invoke({"log": ["hello"]}, on_pending="raise")
    assert app.invoke("yes", on_pending="answer")["log"] == ["ask", "answer: yes"]


@pytest.mark.parametrize("meaning", ["raise", "answer", "discard"])
def test_where_nothing_is_open_new_input_is_new_input(open_app, meaning):
    app = open_app(beside(chat=chat), on_pending=meaning)
    assert app.invoke({"log": ["hello"]}) == {"log": ["hello"]}
    assert app.invoke({"log": ["again"]}) == {"log": ["hello", "again"]}


def test_new_input_as_the_answer_has_to_fit_like_any(open_app):
    app = open_app(beside(ask=asking("age?", response_schema=int)), on_pending="answer")
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="not of type 'integer'"):
        app.invoke("thirty")
    assert app.invoke(30) == {"log": [30]}


def test_new_input_cannot_be_the_answer_of_two(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two")), on_pending="answer")
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="2 questions are open"):
        app.invoke("yes")
    ids = app.ids()
    assert app.invoke({ids["one"]: 1, ids["two"]: 2}) == {"log": [1, 2]}


def test_empty_new_input_can_be_the_answer(open_app):
    app = open_app(beside(ask=asking()), on_pending="answer")
    for number, answer in enumerate([{}, False, 0]):
        app.invoke(NEW, on_thread(str(number)))
        assert app.invoke(answer, on_thread(str(number))) == {"log": [answer]}


def test_questions_of_nested_graphs_count(open_app):
    app = open_app(beside(inner=beside(ask=asking()).compile()))
    app.invoke(NEW)
    with pytest.raises(QuestionsOpen):
        app.invoke(NEW)
    assert app.ask(NEW, on_pending="discard") == ["sure?"]
    assert len(app.filed()) == 1


def test_a_stateful_nested_graph_forgets_a_discarded_question(open_app):
    inner = beside(chat=chat).compile(checkpointer=True)
    app = open_app(beside(inner=inner))
    assert app.ask({"log": ["ask"]}) == ["sure?"]
    app.invoke({"log": ["hello"]}, on_pending="discard")
    assert (app.questions(), app.filed()) == ([], [])
    assert app.ask({"log": ["ask"]}) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"][-1] == "answer: yes"


def test_what_siblings_had_finished_is_dropped_with_the_question(open_app):
    works = Works()
    app = open_app(beside(ask=asking(), work=works.node("work")))
    app.invoke(NEW)
    app.invoke(NEW, on_pending="discard")
    assert works.done == {"work": 2}


def test_an_entrypoint_refuses_new_input_too(open_app):
    def program(saver):
        @entrypoint(checkpointer=saver)
        def flow(text):
            return f"{text}: {interrupt('sure?')}"

        return flow

    app = open_app(program)
    app.invoke("a")
    with pytest.raises(QuestionsOpen):
        app.invoke("b")
    assert app.invoke("yes", on_pending="answer") == "a: yes"


def test_streams_are_refused_too(open_app):
    app = waiting(open_app)
    with pytest.raises(QuestionsOpen):
        app.stream({"log": ["hello"]})
    assert [list(chunk) for chunk in app.stream("yes", on_pending="answer")] == [["chat"]]


def test_an_unknown_meaning_is_refused(open_app):
    said = '"raise", "answer" or "discard", not \'ignore\''
    with pytest.raises(InvalidInput, match=said):
        open_app(beside(chat=chat), on_pending="ignore").invoke(NEW)
    with pytest.raises(InvalidInput, match=said):
        open_app(beside(chat=chat)).invoke(NEW, on_pending="ignore")


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_new_input_that_a_reducer_refuses_has_not_come(open_app, durability):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    before, filed = app.get_state(), app.filed()
    with pytest.raises(TypeError):
        app.invoke({"log": 3}, on_pending="discard", durability=durability)
    assert (app.get_state(), app.filed()) == (before, filed)
    assert app.invoke(Command(resume="yes"))["log"] == ["yes"]


class Killed(BaseException):
    """What ends a process in the middle of its work."""


def answered_and_cut_off(open_app):
    """A thread whose answer is stored, and whose run was cut off before anything came of it."""
    killers = [Killed()]

    def chat(state):
        if state["log"][-1] != "ask":
            return {}
        said = interrupt("sure?")
        if killers:
            raise killers.pop()
        return {"log": [f"answer: {said}"]}

    app = open_app(beside(chat=chat))
    app.invoke({"log": ["ask"]})
    with pytest.raises(Killed):
        app.invoke(Command(resume="yes", by="ana"))
    return app


@pytest.mark.parametrize("meaning", ["raise", "answer"])
def test_new_input_does_not_drop_an_answer_that_nothing_has_come_of_yet(open_app, meaning):
    app = answered_and_cut_off(open_app)
    before = app.get_state()
    with pytest.raises(QuestionsOpen, match=r"'sure\?' by ana.*invoke\(None, config\)"):
        app.invoke({"log": ["hello"]}, on_pending=meaning)
    assert app.get_state() == before
    assert app.invoke(None) == {"log": ["ask", "answer: yes"]}
    assert app.invoke({"log": ["hello"]}) == {"log": ["ask", "answer: yes", "hello"]}


def test_a_snapshot_says_which_answer_nothing_has_come_of_yet(open_app):
    app = answered_and_cut_off(open_app)
    state = app.get_state()
    assert (len(state.metadata["answered"]), state.interrupts, "paused" in state.metadata) == (1, (), False)
    assert {"source", "step"} <= state.metadata.keys()
    app.invoke(None)
    assert "answered" not in app.get_state().metadata


def test_new_input_can_discard_an_answer_that_nothing_has_come_of_yet_and_the_history_says_so(open_app):
    app = answered_and_cut_off(open_app)
    assert app.invoke({"log": ["hello"]}, on_pending="discard") == {"log": ["ask", "hello"]}
    inputs = [one for one in app.history() if one.metadata["source"] == "input"]
    assert [len(one.metadata.get("discarded", ())) for one in inputs] == [0, 1]


@pytest.mark.parametrize("how", ["run", "update"])
def test_who_goes_back_and_leaves_an_answer_behind_that_nothing_has_come_of_finds_it_in_the_history(open_app, how):
    app = answered_and_cut_off(open_app)
    begun = app.history()[0].config
    app.invoke(None, begun) if how == "run" else app.update_state({"log": ["told"]}, begun, as_node="chat")
    assert [len(one.metadata["discarded"]) for one in app.history() if "discarded" in one.metadata] == [1]


def test_new_input_does_not_drop_an_answer_that_lies_in_the_inbox():
    saver = InMemorySaver()
    app, inbox, config = beside(chat=chat).compile(checkpointer=saver), Inbox(saver), on_thread("1")
    app.invoke({"log": ["ask"]}, config)
    inbox.answer(inbox.open()[0].id, "yes", by="ana")
    with pytest.raises(QuestionsOpen, match="by ana"):
        app.invoke({"log": ["hello"]}, config)
    assert app.resume_answered() == {"1": {"log": ["ask", "answer: yes"]}}
    app.invoke({"log": ["ask"]}, config)
    inbox.answer(inbox.open()[0].id, "yes", by="ana")
    app.invoke({"log": ["hello"]}, config, on_pending="discard")
    assert app.resume_answered() == {}


def test_new_input_does_not_drop_an_answer_to_what_was_asked_after_a_failure(open_app):
    failures = [LookupError(), Killed()]

    def chat(state):
        if len(failures) == 2:
            raise failures.pop(0)
        said = interrupt("sure?")
        if failures:
            raise failures.pop()
        return {"log": [said]}

    app = open_app(beside(chat=chat))
    with pytest.raises(LookupError):
        app.invoke({"log": ["ask"]})
    app.invoke(None)
    with pytest.raises(Killed):
        app.invoke(Command(resume="yes", by="ana"))
    with pytest.raises(QuestionsOpen, match="by ana"):
        app.invoke({"log": ["hello"]})
    assert app.invoke(None) == {"log": ["ask", "yes"]}


def test_new_input_after_an_answer_whose_node_has_failed_begins_a_new_turn(open_app):
    def chat(state):
        if state["log"][-1] == "ask":
            raise LookupError(interrupt("sure?"))

    app = open_app(beside(chat=chat))
    app.invoke({"log": ["ask"]})
    with pytest.raises(LookupError, match="yes"):
        app.invoke(Command(resume="yes"))
    assert app.invoke({"log": ["hello"]}) == {"log": ["ask", "hello"]}
