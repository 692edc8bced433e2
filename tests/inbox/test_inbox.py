"""The inbox: what is open over all threads, its answers, and the threads that go on with them."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import pytest
from pydantic import PositiveInt

from inbox.programs import Log, Work, form, nested, on, transfer, two_branches
from signoff.checkpoint.base import Lease
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.errors import AlreadyAnswered, GraphDrained, InvalidAnswer, InvalidInput, QuestionsOpen, ThreadBusy
from signoff.func import entrypoint
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox, answering, finding
from signoff.runtime import RunControl
from signoff.steps import drive
from signoff.types import Command, Interrupt, Send, interrupt


@pytest.fixture
def work() -> Work:
    return Work()


def ask(desk, build, *threads):
    for thread in threads:
        desk.graph(build, "invoke", {"log": []}, on(thread))


def transfers(work):
    return lambda saver: transfer(work, saver)


# What is open


def test_what_is_open_over_all_threads_is_listed_oldest_first(desk, work):
    ask(desk, transfers(work), "a", "b")
    ask(desk, form, "c")
    page = desk.open()
    assert [(one.thread_id, one.graph, one.node) for one in page] == [
        ("a", "transfers", "review"),
        ("b", "transfers", "review"),
        ("c", "form", "ask"),
    ]
    assert len(page) == 3
    assert page[0].value == "Transfer 500 euros?"
    assert page.cursor is None


@pytest.mark.parametrize(
    ("wanted", "threads"),
    [
        ({"graph": "form"}, ["c"]),
        ({"node": "review"}, ["a", "b"]),
        ({"thread_id": "b"}, ["b"]),
        ({"text": "EUROS"}, ["a", "b"]),
        ({"text": "euros", "thread_id": "c"}, []),
        ({"older_than": timedelta(0)}, ["a", "b", "c"]),
        ({"older_than": timedelta(days=1)}, []),
        ({"newer_than": timedelta(days=1)}, ["a", "b", "c"]),
        ({"newer_than": timedelta(0)}, []),
        ({"namespace": ""}, ["a", "b", "c"]),
        ({"namespace": "review"}, ["d"]),
        ({"node": "manager"}, ["d"]),
    ],
)
def test_open_questions_are_found_by_what_is_said_of_them(desk, work, wanted, threads):
    ask(desk, transfers(work), "a", "b")
    ask(desk, form, "c")
    if threads == ["d"]:
        ask(desk, nested, "d")
    assert [question.thread_id for question in desk.open(**wanted)] == threads


def test_a_question_is_found_by_what_it_says_whatever_characters_that_has(desk):
    said = {"a": "Delete C:\\Temp?", "b": {"lines": ["one\ntwo", ("\tthree",)]}, "c": 'it\'s "odd" \x00 \ud800'}

    def build(saver):
        asking = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt(said[state["log"][0]])]})
        return asking.add_edge(START, "ask").compile(checkpointer=saver)

    for thread in said:
        desk.graph(build, "invoke", {"log": [thread]}, on(thread))
    texts = {"c:\\temp": "a", "ONE\nTWO": "b", "\tthree": "b", 'it\'s "ODD" \x00': "c"}
    assert {text: [one.thread_id for one in desk.open(text=text)] for text in texts} == {
        text: [thread] for text, thread in texts.items()
    }


def test_pages_follow_each_other_and_miss_nothing(desk, work):
    threads = [f"t{number}" for number in range(5)]
    ask(desk, transfers(work), *threads)
    first = desk.open(limit=2)
    second = desk.open(limit=2, after=first.cursor)
    third = desk.open(limit=2, after=second.cursor)
    assert [question.thread_id for page in (first, second, third) for question in page] == threads
    assert third.cursor is None


@pytest.mark.parametrize("name", ["(answered)", "answered", "Ünïcode 'node'"])
def test_the_questions_of_a_node_are_listed_whatever_it_is_called(desk, name):
    def build(saver):
        asking = StateGraph(Log).add_node(name, lambda state: {"log": [interrupt("sure?")]}).add_edge(START, name)
        return asking.compile(checkpointer=saver)

    ask(desk, build, "a")
    assert [one.node for one in desk.open()] == [name]


def test_a_page_of_none_is_empty(desk, work):
    ask(desk, transfers(work), "a")
    assert (len(desk.open(limit=0)), desk.inbox("threads", limit=0)) == (0, [])


def test_an_age_may_be_longer_than_there_has_been_time(desk, work):
    ask(desk, transfers(work), "a")
    assert desk.asked(older_than=timedelta.max) == []
    assert desk.asked(newer_than=timedelta.max) == desk.asked(newer_than=datetime.min) == ["Transfer 500 euros?"]
    assert desk.asked(older_than=timedelta.min) == desk.asked(older_than=datetime.max) == ["Transfer 500 euros?"]


def copied(desk, source, *targets):
    for target in targets:
        desk._call(lambda saver: saver, "copy_thread", source, target)


def test_the_questions_of_copied_threads_are_not_parted_by_a_page(desk, work):
    ask(desk, transfers(work), "a", "b")
    ask(desk, nested, "n")
    copied(desk, "b", "b2", "b3")
    copied(desk, "n", "n2")
    first = desk.open(limit=2)
    assert sorted(question.thread_id for question in first) == ["a", "b", "b2", "b3"]
    second = desk.open(limit=1, after=first.cursor)
    assert (sorted(question.thread_id for question in second), second.cursor) == (["n", "n2"], None)
    assert sorted(question.thread_id for question in desk.open(limit=1, namespace="review")) == ["n", "n2"]
    copied(desk, "n", "n3")
    found = [sorted(one.thread_id for one in desk.open(limit=5, namespace=name)) for name in ("", "review")]
    assert found == [["a", "b", "b2", "b3"], ["n", "n2", "n3"]], "those that do not fit stand between"


def test_a_page_goes_on_where_copied_threads_have_gone_while_it_was_looked_for():
    def question(id, thread_id, path):
        return Question(id, thread_id, "g", path, f"2030-01-0{id}", Interrupt("?", id))

    copies, fits = [question("1", thread_id, "ask") for thread_id in "ab"], question("2", "c", "review|ask")
    found = iter([copies, [], [fits]])  # the index, at three moments
    page = drive(finding.find_page(InMemorySaver(), Wanted(limit=1), "review"), lambda ask: next(found))
    assert ([*page], page.cursor) == ([fits], None)


def test_a_question_of_a_copied_thread_is_answered_with_its_thread(desk, work):
    ask(desk, transfers(work), "a")
    copied(desk, "a", "b")
    id = desk.open(thread_id="a")[0].id
    for refused in (lambda: desk.answer(id, True), lambda: desk.inbox("get", id)):
        with pytest.raises(InvalidAnswer, match="thread_id="):
            refused()
    assert desk.answer(id, True, thread_id="b").thread_id == "b"
    assert [question.thread_id for question in desk.open()] == ["a"]
    assert desk.graph(transfers(work), "resume_answered").keys() == {"b"}
    assert desk.answer(id, False).thread_id == "a"


def test_a_page_of_a_namespace_is_full_although_others_stand_between(desk, work):
    ask(desk, transfers(work), "a", "b")
    ask(desk, nested, "n1")
    ask(desk, transfers(work), "c")
    ask(desk, nested, "n2", "n3")
    page = desk.open(namespace="review", limit=2)
    assert [question.thread_id for question in page] == ["n1", "n2"]
    assert [question.thread_id for question in desk.open(namespace="review", after=page.cursor)] == ["n3"]


def test_a_cursor_that_is_none_is_refused(desk):
    with pytest.raises(InvalidInput, match="page.cursor"):
        desk.open(after="yesterday")


def test_a_question_is_got_by_its_id_while_it_is_open(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    assert desk.inbox("get", question.id) == question
    desk.answer(question.id, True)
    assert desk.inbox("get", question.id) is None


# Answers


def test_an_answer_is_stored_and_runs_nothing(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    assert desk.answer(question.id, "yes", by="ana").thread_id == "a"
    assert work.done == {"prepare": 1}
    assert desk.asked() == []
    assert desk.graph(transfers(work), "get_state", on("a")).interrupts == ()
    assert desk._call(lambda saver: saver, "look", on("a"))[1].holder is None, "the thread is given back"


def test_a_stored_answer_is_handed_over_once_when_its_thread_goes_on(desk, work):
    ask(desk, transfers(work), "a", "b")
    desk.answer(desk.open(thread_id="a")[0].id, "yes")
    results = desk.graph(transfers(work), "resume_answered")
    assert results == {"a": {"log": ["prepare", "review said yes", "execute"]}}
    assert desk.graph(transfers(work), "resume_answered") == {}
    assert work.done == {"prepare": 2, "execute": 1}


def test_only_threads_of_the_graph_itself_go_on(desk, work):
    ask(desk, transfers(work), "a")
    ask(desk, form, "c")
    desk.answer(desk.open(thread_id="c")[0].id, "Ana")
    assert desk.graph(transfers(work), "resume_answered") == {}
    assert [q.value for q in desk.graph(form, "resume_answered")["c"]["__interrupt__"]] == ["age?"]


def test_named_threads_go_on_and_those_without_an_answer_are_left_out(desk, work):
    ask(desk, transfers(work), "a", "b", "c")
    for thread in ("a", "b"):
        desk.answer(desk.open(thread_id=thread)[0].id, "yes")
    assert desk.graph(transfers(work), "resume_answered", ["b", "c"]).keys() == {"b"}


def test_a_named_thread_that_is_not_there_is_refused_before_the_others_go_on(desk, work):
    ask(desk, transfers(work), "a")
    desk.answer(desk.open(thread_id="a")[0].id, "yes")
    with pytest.raises(InvalidInput, match="'unknown' has not begun here"):
        desk.graph(transfers(work), "resume_answered", ["a", "unknown"])
    results = desk.graph(transfers(work), "resume_answered", ["a", "unknown"], return_exceptions=True)
    assert results.keys() == {"a", "unknown"}
    assert isinstance(results["unknown"], InvalidInput)


def test_an_answer_to_one_of_several_questions_leaves_the_others_open(desk, work):
    def build(saver):
        return two_branches(work, saver)

    ask(desk, build, "a")
    left, right = sorted(desk.open(), key=lambda question: question.value)
    desk.answer(left.id, 1)
    assert desk.asked() == ["right?"]
    desk.answer(right.id, 2)
    results = desk.graph(build, "resume_answered")
    assert sorted(results["a"]["log"]) == ["left: 1 left", "right: 2 right"]
    assert work.done == {"left": 1, "right": 1}


def test_the_question_after_an_answered_one_is_filed_and_answered_in_turn(desk):
    ask(desk, form, "a")
    desk.answer(desk.open()[0].id, "Ana")
    desk.graph(form, "resume_answered")
    assert desk.asked() == ["age?"]
    assert desk.graph(form, "resume_answered") == {}, "the first answer was handed over"
    desk.answer(desk.open()[0].id, 30)
    assert desk.graph(form, "resume_answered") == {"a": {"log": ["Ana", 30]}}


def test_a_question_of_a_nested_graph_is_answered_at_the_root(desk):
    ask(desk, nested, "a")
    question = desk.open()[0]
    assert (question.path, question.node) == ("review|manager", "manager")
    desk.answer(question.id, "yes")
    assert desk.graph(nested, "resume_answered") == {"a": {"log": ["yes"]}}


@pytest.mark.parametrize("value", [None, {}, False, 0, ""])
def test_nothing_much_is_an_answer_like_any_other(desk, work, value):
    ask(desk, transfers(work), "a")
    desk.answer(desk.open()[0].id, value)
    assert desk.graph(transfers(work), "resume_answered")["a"]["log"][1] == f"review said {value}"


def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays_open(desk, work):
    def build(saver):
        return transfer(work, saver, response_schema=PositiveInt)

    ask(desk, build, "a")
    question = desk.open()[0]
    with pytest.raises(InvalidAnswer, match="-5"):
        desk.answer(question.id, -5)
    assert desk.open()[0].id == question.id
    desk.answer(question.id, 5)
    assert desk.graph(build, "resume_answered")["a"]["log"][1] == "review said 5"


def test_a_second_answer_is_told_who_was_first(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.answer(question.id, "yes", by="ana")
    with pytest.raises(AlreadyAnswered, match="ana"):
        desk.answer(question.id, "no", by="ben")


def test_a_question_is_not_answered_while_another_run_has_its_thread(work):
    saver = InMemorySaver()
    transfer(work, saver).invoke({"log": []}, on("a"))
    (question,) = Inbox(saver).open()
    lease = Lease("a", "another run", saver.look(on("a"))[1].seen)
    saver.store([], lease)
    with pytest.raises(ThreadBusy, match="try again when the run has ended"):
        Inbox(saver).answer(question.id, "yes")
    assert saver.look(on("a"))[1].holder == "another run"
    assert list(Inbox(saver).open()) == [question]
    saver.lease_s = -5.0
    saver.renew(lease)
    assert Inbox(saver).answer(question.id, "yes") == question, "the run gives no sign of life any more"


@pytest.mark.parametrize("thread_id", ["a", None])
def test_an_answer_that_comes_after_the_run_has_gone_on_is_told_who_was_first(desk, work, thread_id):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.answer(question.id, "yes", by="ana")
    desk.graph(transfers(work), "resume_answered")
    with pytest.raises(AlreadyAnswered, match="ana"):
        desk.answer(question.id, "no", thread_id=thread_id)


def test_an_answer_after_one_that_came_with_a_run_is_told_who_was_first(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.graph(transfers(work), "invoke", Command(resume="yes", by="ana"), on("a"))
    with pytest.raises(AlreadyAnswered, match="ana"):
        desk.answer(question.id, "no")


def test_a_run_cannot_answer_what_the_inbox_has(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.answer(question.id, "yes", by="ana")
    with pytest.raises(AlreadyAnswered, match="ana"):
        desk.graph(transfers(work), "invoke", Command(resume={question.id: "no"}), on("a"))
    assert desk.graph(transfers(work), "invoke", None, on("a"))["log"][1] == "review said yes"


def test_an_answer_to_a_question_that_was_dropped_says_so(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.graph(transfers(work), "invoke", {"log": []}, on("a"), on_pending="discard")
    with pytest.raises(InvalidAnswer, match="dropped"):
        desk.answer(question.id, "yes")


def test_so_does_one_to_a_question_that_says_something_else_by_now():
    saver, asked = InMemorySaver(), []
    graph = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt(f"keep {len(state['log'])}?")]})
    app, inbox = graph.add_edge(START, "ask").compile(checkpointer=saver), Inbox(saver)
    app.invoke({"log": []}, on("a"))
    for _ in range(2):
        asked += [question.id for question in inbox.open()]
        app.invoke(Command(update={"log": ["more"]}), on("a"))
    for id in asked:
        with pytest.raises(InvalidAnswer, match="not open any more.*asked in its place"):
            inbox.answer(id, "yes")
    assert [event.question_id for event in inbox.history("a") if event.kind == "dropped"] == asked
    assert app.get_state(on("a")).metadata["discarded"] == asked


def test_an_unknown_question_cannot_be_answered(desk, work):
    ask(desk, transfers(work), "a")
    with pytest.raises(InvalidAnswer, match="no open question"):
        desk.answer("0" * 32, "yes")


def test_the_errors_of_threads_that_fail_are_kept_or_raised(desk, work):
    def build(saver):
        return transfer(work, saver)

    ask(desk, build, "a", "b")
    for question in desk.open():
        desk.answer(question.id, "yes")

    work.did = lambda name: 1 / 0
    results = desk.graph(build, "resume_answered", return_exceptions=True)
    assert [type(result) for result in results.values()] == [ZeroDivisionError] * 2
    with pytest.raises(ZeroDivisionError):
        desk.graph(build, "invoke", None, on("a"))


def test_whoever_is_late_is_told_who_was_first_though_much_has_happened_since(desk, work, monkeypatch):
    monkeypatch.setattr(answering, "MOST_SEARCHED", 1)
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    ask(desk, transfers(work), "b")
    desk.answer(question.id, "yes", by="ana")
    for id in (question.id, question.id[:8]):  # a terminal shows the beginning of it
        assert "answered by ana" in str(desk.inbox("why_closed", id))
    with pytest.raises(AlreadyAnswered, match="answered by ana"):
        desk.answer(question.id, "no", by="ben")


def test_a_question_of_an_unnamed_thread_that_is_not_found_says_how_far_was_looked(desk, work, monkeypatch):
    monkeypatch.setattr(answering, "MOST_SEARCHED", 1)
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.graph(transfers(work), "invoke", Command(resume="yes", by="ana"), on("a"))
    with pytest.raises(InvalidAnswer, match="found in the newest 1 checkpoints; say which thread it is of"):
        desk.answer(question.id, "no", by="ben")
    assert "answered by ana" in str(desk.inbox("why_closed", question.id, thread_id="a"))


# What happened


def test_the_history_says_what_was_asked_answered_by_whom_and_what_ran(desk, work):
    ask(desk, transfers(work), "a")
    desk.answer(desk.open()[0].id, "yes", by="ana")
    desk.graph(transfers(work), "resume_answered")
    told = [(event.kind, event.path, event.value, event.by) for event in desk.inbox("history", "a")]
    assert told == [
        ("input", "", {"log": []}, None),
        ("ran", "prepare", {"log": ["prepare"]}, None),
        ("asked", "review", "Transfer 500 euros?", None),
        ("answered", "review", "yes", "ana"),
        ("ran", "review", {"log": ["prepare", "review said yes"]}, None),
        ("ran", "execute", {"log": ["prepare", "review said yes", "execute"]}, None),
    ]


def test_the_history_has_every_question_of_a_node_that_asks_several(desk):
    ask(desk, form, "a")
    desk.graph(form, "invoke", Command(resume="Ana", by="ana"), on("a"))
    desk.graph(form, "invoke", Command(resume=30, by="ben"), on("a"))
    told = [(event.kind, event.value) for event in desk.inbox("history", "a") if event.question_id]
    assert told == [("asked", "'name?'"), ("answered", "Ana"), ("asked", "age?"), ("answered", 30)]


def test_the_history_says_where_a_question_with_a_key_was_asked_though_its_node_has_asked_another_one(desk):
    def keyed(state):
        return {"log": [interrupt("name?", key="name"), interrupt("age?", key="age")]}

    def graph(saver):
        return StateGraph(Log).add_node("form", keyed).add_edge(START, "form").compile(checkpointer=saver)

    ask(desk, graph, "a")
    asked_at = desk.open()[0].asked_at
    desk.graph(graph, "invoke", Command(resume="Ana", by="ana"), on("a"))
    told = [event for event in desk.inbox("history", "a") if event.question_id]
    assert [(event.kind, event.path) for event in told] == [("asked", "form"), ("answered", "form"), ("asked", "form")]
    assert told[0].at == asked_at


def told(saver):
    return [(event.kind, event.path) for event in Inbox(saver).history("a")]


def test_the_history_has_once_what_stands_when_the_state_is_changed(work):
    app, inbox = two_branches(work, saver := InMemorySaver()), Inbox(saver)
    app.invoke({"log": []}, on("a"))
    inbox.answer(inbox.open()[0].id, "yes", by="ana")
    before = told(saver)
    app.update_state(on("a"), {"log": ["checked"]}, as_node="__start__")
    assert told(saver) == [*before, ("updated", "")]


def test_the_history_of_a_thread_that_went_back_to_its_input_names_no_node(work):
    app = transfer(work, saver := InMemorySaver())
    app.invoke({"log": []}, on("a"))
    *_, began, _ = app.get_state_history(on("a"))
    app.invoke(None, began.config)
    assert told(saver)[-3:] == [("forked", ""), ("ran", "prepare"), ("asked", "review")]


@pytest.mark.parametrize(("written", "shown"), [({"sum": 3}, {"sum": 3}), ([3], {"value": [3]})])
def test_the_history_shows_a_state_without_keys(written, shown):
    graph = StateGraph(type(written)).add_node("add", lambda state: written).add_edge(START, "add")
    graph.compile(saver := InMemorySaver()).invoke(type(written)(), on("a"))
    assert [event.value for event in Inbox(saver).history("a") if event.path == "add"] == [shown]


def test_the_history_names_the_questions_that_new_input_dropped(desk, work):
    ask(desk, transfers(work), "a")
    question = desk.open()[0]
    desk.graph(transfers(work), "invoke", {"log": []}, on("a"), on_pending="discard")
    dropped = [event.question_id for event in desk.inbox("history", "a") if event.kind == "dropped"]
    assert dropped == [question.id]


def test_the_history_names_the_answers_that_nobody_has_taken(desk):
    ask(desk, form, "a")
    question = desk.open()[0]

    def deployed(saver):
        graph = StateGraph(Log).add_node("ask", lambda state: {"log": ["Ana", 30]}).add_edge(START, "ask")
        return graph.compile(checkpointer=saver)

    desk.answer(question.id, "no")
    desk.graph(deployed, "invoke", None, on("a"))
    unread = [event.question_id for event in desk.inbox("history", "a") if event.kind == "unread"]
    assert unread == [question.id]


def test_the_history_of_a_nested_graph_names_the_way_from_the_root(desk):
    ask(desk, nested, "a")
    desk.answer(desk.open()[0].id, "yes")
    desk.graph(nested, "resume_answered")
    ran = [event.path for event in desk.inbox("history", "a") if event.kind == "ran"]
    assert ran == ["review|manager", "review"]


def test_the_history_shows_what_failed(desk, work):
    work.did = lambda name: 1 / 0
    with pytest.raises(ZeroDivisionError):
        ask(desk, transfers(work), "a")
    failed = [event.value for event in desk.inbox("history", "a") if event.kind == "failed"]
    assert failed == ["ZeroDivisionError('division by zero')"]


def failing(saver):
    def pay(state):
        interrupt("pay?")
        raise ConnectionError("the bank does not answer")

    return StateGraph(dict).add_node("pay", pay).add_edge(START, "pay").compile(saver)


def test_a_thread_that_fails_with_its_answer_has_failed(desk):
    ask(desk, failing, "a")
    desk.answer(desk.open()[0].id, "yes")
    assert [thread.status for thread in desk.inbox("threads")] == ["answered"]
    with pytest.raises(ConnectionError):
        desk.graph(failing, "invoke", None, on("a"))
    assert [thread.status for thread in desk.inbox("threads")] == ["failed"]


def mending(failures):
    def pay(state):
        if failures:
            raise failures.pop()
        interrupt("pay?")

    return lambda saver: StateGraph(dict).add_node("pay", pay).add_edge(START, "pay").compile(saver)


def test_a_thread_that_asks_after_it_has_failed_waits_for_its_answer_and_then_for_its_run(desk):
    mended = mending([ConnectionError("the bank does not answer")])
    with pytest.raises(ConnectionError):
        ask(desk, mended, "a")
    desk.graph(mended, "invoke", None, on("a"))
    assert [thread.status for thread in desk.inbox("threads")] == ["paused"]
    desk.answer(desk.open()[0].id, "yes")
    assert [thread.status for thread in desk.inbox("threads")] == ["answered"]
    assert [event.kind for event in desk.inbox("history", "a") if event.kind == "failed"] == ["failed"]
    with pytest.raises(QuestionsOpen):
        ask(desk, mended, "a")


def winding(saver, **settings):
    """Branches, a join, Sends and a deferred node."""
    graph = StateGraph(Log)
    for name in ("first", "long", "longer", "short", "joined", "sent"):
        graph.add_node(name, lambda state: {"log": []})
    graph.add_node("last", lambda state: {"log": []}, defer=True)
    graph.add_edge(START, "first").add_edge("first", "long").add_edge("first", "short").add_edge("long", "longer")
    graph.add_edge("first", "last").add_edge(["short", "longer"], "joined")
    graph.add_conditional_edges("joined", lambda state: [Send("sent", state), Send("sent", state)], ["sent"])
    return graph.compile(checkpointer=saver, **settings)


def test_a_thread_that_was_cut_off_is_told_from_one_that_has_ended(desk):
    input, cuts = {"log": []}, 0
    while cuts == 0 or desk.graph(winding, "get_state", on("a")).next:
        assert cuts == 0 or [thread.status for thread in desk.inbox("threads")] == ["unfinished"]
        control = RunControl()
        control.request_drain("as if the process ended here")
        with suppress(GraphDrained):
            desk.graph(winding, "invoke", input, on("a"), control=control)
        input, cuts = None, cuts + 1
    assert [thread.status for thread in desk.inbox("threads")] == ["resting"]
    assert cuts == 8, "one for each step"


def test_a_branch_that_begins_anew_in_the_past_has_not_ended():
    graph = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt("sure?")]})
    graph.add_node("other", lambda state: None).add_edge(START, "ask").add_edge(START, "other")
    saver = InMemorySaver()
    app = graph.compile(checkpointer=saver, pause="branch")
    app.invoke({"log": []}, on("a"))
    before = app.get_state(on("a")).config
    for config in (on("a"), before):
        app.update_state(config, {"log": ["told"]}, as_node="other")
    assert app.get_state(on("a")).next == ("ask",)
    assert [thread.status for thread in Inbox(saver).threads()] == ["unfinished"]


@pytest.mark.parametrize("names", [("a", "b"), ("R+D", "law"), ("50%", "a+b")], ids="-".join)
def test_a_thread_that_is_due_behind_a_join_has_not_ended(names):
    control = RunControl()

    def drain(state):
        control.request_drain()

    graph = StateGraph(Log).add_node("last", lambda state: {"log": ["last"]})
    for name in names:
        graph.add_node(name, drain).add_edge(START, name)
    saver = InMemorySaver()
    app = graph.add_edge([*names], "last").compile(checkpointer=saver)
    with pytest.raises(GraphDrained):
        app.invoke({"log": []}, on("a"), control=control)
    assert [thread.status for thread in Inbox(saver).threads()] == ["unfinished"]
    assert app.invoke(None, on("a")) == {"log": ["last"]}
    assert [thread.status for thread in Inbox(saver).threads()] == ["resting"]


def test_a_function_that_was_cut_off_is_told_from_one_that_has_ended():
    def work(ends):
        if not ends:
            raise KeyboardInterrupt

    app, inbox = entrypoint(checkpointer=(saver := InMemorySaver()))(work), Inbox(saver)
    with pytest.raises(KeyboardInterrupt):
        app.invoke(False, on("a"))
    app.invoke(True, on("b"))
    assert {thread.thread_id: thread.status for thread in inbox.threads()} == {"a": "unfinished", "b": "resting"}


def test_a_thread_that_stands_at_a_breakpoint_is_told_from_one_that_was_cut_off(desk):
    stopping = partial(winding, interrupt_before=["joined"], interrupt_after=["last"])
    desk.graph(stopping, "invoke", {"log": []}, on("a"))
    assert [thread.status for thread in desk.inbox("threads")] == ["stopped"]
    desk.graph(stopping, "invoke", None, on("a"))
    assert [thread.status for thread in desk.inbox("threads")] == ["resting"]


def test_a_thread_that_has_not_begun_has_no_history(desk):
    assert list(desk.inbox("history", "nobody")) == []


def test_the_time_that_a_step_waited_for_an_answer_does_not_count(work):
    saver = InMemorySaver()
    app = transfer(work, saver)
    app.invoke({"log": []}, on("a"))
    inbox = Inbox(saver)
    inbox.answer(inbox.open()[0].id, "yes")
    app.resume_answered()
    events = inbox.history("a")
    answered = next(event for event in events if event.kind == "answered")
    review = next(event for event in events if event.path == "review" and event.kind == "ran")
    since = datetime.fromisoformat(review.at) - datetime.fromisoformat(answered.at)
    assert review.took_s == since.total_seconds()


def test_threads_with_an_answer_are_found_without_looking_through_the_others(work, tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        app = transfer(work, saver)
        for number in range(30):
            app.invoke({"log": []}, on(f"t{number}"))
        question = Inbox(saver).open(thread_id="t7")[0]
        Inbox(saver).answer(question.id, True)
        assert len(Inbox(saver).open(limit=None)) == 29, "what is answered is not open"
        statements: list[str] = []
        saver.conn.set_trace_callback(statements.append)
        assert app.resume_answered().keys() == {"t7"}
        saver.conn.set_trace_callback(None)
        assert len(statements) < 25
        assert app.resume_answered() == {}


def test_a_page_of_the_inbox_is_one_statement_however_many_threads_there_are(work, tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "many.db")) as saver:
        app = transfer(work, saver)
        for number in range(200):
            app.invoke({"log": []}, on(str(number)), durability="exit")
        statements = []
        saver.conn.set_trace_callback(statements.append)
        page = Inbox(saver).open(limit=10)
        saver.conn.set_trace_callback(None)
    assert [question.thread_id for question in page] == [str(number) for number in range(10)]
    assert len([sql for sql in statements if "SELECT" in sql]) == 1


def test_threads_are_listed_by_as_many_statements_however_long_they_are(tmp_path):
    def chat(saver):
        graph = StateGraph(Log).add_node("say", lambda state: {"log": ["said"]}).add_edge(START, "say")
        return graph.compile(checkpointer=saver)

    def statements(turns):
        with SqliteSaver.from_conn_string(str(tmp_path / f"{turns}.db")) as saver:
            for number in range(turns * 3):
                chat(saver).invoke({"log": []}, on(str(number % 3)))
            made = []
            saver.conn.set_trace_callback(made.append)
            threads = Inbox(saver).threads()
            saver.conn.set_trace_callback(None)
        assert [(one.thread_id, one.status) for one in threads] == [
            ("2", "resting"),
            ("1", "resting"),
            ("0", "resting"),
        ]
        return len(made)

    # What a checkpoint stands on, down to a snapshot, is fetched as well: it is as much for both.
    assert statements(40) <= statements(2) + 6


def test_of_each_thread_its_newest_checkpoint_is_what_counts_without_those_of_nested_graphs(desk):
    ask(desk, nested, "a", "b")
    assert [(one.thread_id, one.status) for one in desk.inbox("threads")] == [("b", "paused"), ("a", "paused")]
    (question,) = desk.open(thread_id="a")
    desk.answer(question.id, "yes")
    desk.graph(nested, "resume_answered")
    listed = [(one.thread_id, one.status, one.questions) for one in desk.inbox("threads")]
    assert listed == [("a", "resting", 0), ("b", "paused", 1)]
    assert [one.thread_id for one in desk.inbox("threads", limit=1)] == ["a"]
