"""Promise 2: an answer that no code has taken, since it does not ask any more, is not lost in silence."""

from contextlib import suppress

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, Log, Works, asking, beside, line
from .ways import CONFIG


@pytest.fixture
def told(caplog):
    """What the log says."""
    return lambda: [record.getMessage() for record in caplog.records if record.name.startswith("signoff")]


def unread(app, config=CONFIG):
    """Which answers the history says nobody has taken, oldest first."""
    return [one for snapshot in reversed(app.history(config)) for one in snapshot.metadata.get("unread_answers", ())]


def in_node(ask):
    return line(pay=ask, after=Works().node("after"))


def in_nested(ask):
    return beside(inner=in_node(ask).compile())


def in_call(ask):
    @task
    def pay(state):
        return ask(state)

    return in_node(lambda state: pay(state).result())


def in_nested_call(ask):
    return beside(inner=in_call(ask).compile())


PROGRAMS = {"a node": in_node, "a nested graph": in_nested, "a call": in_call, "a call in one": in_nested_call}


def paying(state):
    """Does not ask any more."""
    return {"log": ["paid"]}


@pytest.mark.parametrize("where", PROGRAMS)
def test_whoever_answered_what_is_not_asked_any_more_is_heard_of(open_app, told, where):
    program = PROGRAMS[where]
    old = open_app(program(asking("pay 900?")))
    old.invoke(NEW)
    id = old.ids()["pay 900?"]
    new = open_app(program(paying))
    assert new.invoke(Command(resume="no, never", by="ana"))["log"] == ["paid", "after"]
    (said,) = told()
    for word in ("'pay 900?'", "'no, never'", "ana", "pay", id):
        assert word in said
    assert (new.ids(), new.filed()) == ({}, [])


def test_the_history_says_which_answer_nobody_has_taken(open_app):
    open_app(in_node(asking("pay 900?"))).invoke(NEW)
    app = open_app(in_node(paying))
    id = app.ids()["pay 900?"]
    app.invoke(Command(resume="no"))
    assert unread(app) == [id]
    (where,) = [one for one in app.history() if "unread_answers" in one.metadata]
    assert where.values["log"] == ["paid"]
    assert where.next == ("after",)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_the_history_says_so_whenever_it_is_stored(open_app, told, durability):
    open_app(in_node(asking("pay 900?"))).invoke(NEW, durability=durability)
    app = open_app(in_node(paying))
    id = app.ids()["pay 900?"]
    app.invoke(Command(resume="no"), durability=durability)
    assert (unread(app), len(told())) == ([id], 1)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("where", PROGRAMS)
def test_the_history_says_so_once_wherever_it_was_asked(where, durability):
    saver = InMemorySaver()
    PROGRAMS[where](keyed("refund")).compile(checkpointer=saver).invoke(NEW, CONFIG, durability=durability)
    app = PROGRAMS[where](paying).compile(checkpointer=saver)
    app.invoke(Command(resume={"refund": "no"}), CONFIG, durability=durability)
    assert [event.kind for event in Inbox(saver).history("1")].count("unread") == 1


def test_a_function_that_does_not_ask_any_more_is_heard_of(open_app, told):
    def program(body):
        return lambda saver: entrypoint(checkpointer=saver)(body)

    def day(amount):
        return interrupt("pay 900?")

    open_app(program(day)).invoke(900)

    def day(amount):
        return "paid"

    assert open_app(program(day)).invoke(Command(resume="no")) == "paid"
    assert len(told()) == 1


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_it_is_heard_of_while_another_branch_still_waits(open_app, told, pause):
    open_app(beside(pay=asking("pay 900?"), other=asking("other?")), pause=pause).invoke(NEW)
    app = open_app(beside(pay=paying, other=asking("other?")), pause=pause)
    app.invoke(Command(resume={app.ids()["pay 900?"]: "no"}))
    assert len(told()) == 1
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["paid", "yes"]
    assert len(told()) == 1


@pytest.mark.parametrize("where", PROGRAMS)
def test_an_answer_that_lay_in_the_inbox_is_heard_of(told, where):
    saver = InMemorySaver()
    PROGRAMS[where](asking("pay 900?")).compile(checkpointer=saver).invoke(NEW, CONFIG)
    (question,) = Inbox(saver).open()
    Inbox(saver).answer(question.id, "no", by="ana")
    PROGRAMS[where](paying).compile(checkpointer=saver).invoke(None, CONFIG)
    assert len(told()) == 1


def keyed(*keys):
    return lambda state: {"log": [interrupt(f"{key}?", key=key) for key in keys]}


@pytest.mark.parametrize("where", PROGRAMS)
def test_an_answer_is_heard_of_though_another_question_with_a_key_was_asked_in_its_place(open_app, told, where):
    open_app(PROGRAMS[where](keyed("refund"))).invoke(NEW)
    app = open_app(PROGRAMS[where](keyed("voucher")))
    app.invoke(Command(resume={"refund": "no"}, by="ana"))
    assert told() == [], "it may still be asked, behind the other question"
    app.invoke(Command(resume={"voucher": "yes"}))
    assert [("'no' that ana gave to 'refund?'" in one) for one in told()] == [True]


@pytest.mark.parametrize("where", PROGRAMS)
def test_an_answer_is_heard_of_though_a_question_with_a_key_was_asked_in_place_of_one_without(open_app, told, where):
    open_app(PROGRAMS[where](asking("refund?"))).invoke(NEW)
    app = open_app(PROGRAMS[where](keyed("voucher")))
    app.invoke(Command(resume="no", by="ana"))
    assert told() == [], "it may still be asked, behind the other question"
    app.invoke(Command(resume={"voucher": "yes"}))
    assert [("'no' that ana gave to 'refund?'" in one) for one in told()] == [True]


@pytest.mark.parametrize("where", PROGRAMS)
def test_an_answer_is_heard_of_though_its_question_is_asked_in_a_call_now(open_app, told, where):
    confirm = task(asking("refund?"))
    open_app(PROGRAMS[where](asking("refund?"))).invoke(NEW)
    app = open_app(PROGRAMS[where](lambda state: confirm(state).result()))
    assert app.ask(Command(resume="no", by="ana")) == ["refund?"]
    app.invoke(Command(resume="yes"))
    assert [("'no' that ana gave to 'refund?'" in one) for one in told()] == [True]


@pytest.mark.parametrize("where", PROGRAMS)
def test_an_answer_is_heard_of_though_its_question_is_not_asked_in_a_call_any_more(open_app, told, where):
    confirm = task(asking("refund?"))
    open_app(PROGRAMS[where](lambda state: confirm(state).result())).invoke(NEW)
    app = open_app(PROGRAMS[where](asking("refund?")))
    assert app.ask(Command(resume="no", by="ana")) == ["refund?"]
    app.invoke(Command(resume="yes"))
    assert [("'no' that ana gave to 'refund?'" in one) for one in told()] == [True]


def test_an_answer_is_heard_of_that_a_task_had_taken_before_its_question_went(open_app, told):
    old = open_app(in_node(keyed("refund", "voucher")))
    old.invoke(NEW)
    old.invoke(Command(resume={"refund": "no"}))
    id = old.ids()["voucher?"]
    app = open_app(in_node(keyed("voucher")))
    assert app.invoke(Command(resume={id: "yes"}))["log"] == ["yes", "after"]
    assert len(told()) == len(unread(app)) == 1


def test_an_answer_that_lay_in_the_inbox_is_heard_of_beside_one_that_the_caller_gives(told):
    saver = InMemorySaver()
    questions = beside(pay=asking("pay?"), send=asking("send?")).compile(saver).invoke(NEW, CONFIG)["__interrupt__"]
    ids = {question.value: question.id for question in questions}
    Inbox(saver).answer(ids["pay?"], "no", by="ana")
    app = beside(pay=paying, send=paying).compile(checkpointer=saver)
    app.invoke(Command(resume={ids["send?"]: "no"}), CONFIG)
    assert len(told()) == 2
    assert set(app.get_state(CONFIG).metadata["unread_answers"]) == set(ids.values())


# Nothing to hear of


@pytest.mark.parametrize("where", PROGRAMS)
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_nothing_is_said_of_answers_that_were_taken(open_app, told, where, pause):
    def ask(state):
        return {"log": [interrupt("one?"), interrupt("two?", key="two"), *[interrupt(n) for n in range(2)]]}

    graph = PROGRAMS[where](ask).add_node("other", asking("other?")).add_edge(START, "other")
    app = open_app(graph, pause=pause)
    app.invoke(NEW)
    while ids := app.ids():
        name, id = next(iter(ids.items()))
        app.invoke(Command(resume={id: name}))
    assert app.get_state().next == ()
    assert (told(), unread(app)) == ([], [])


@pytest.mark.parametrize("where", PROGRAMS)
def test_nothing_is_said_if_a_task_fails_after_it_has_taken_its_answer(open_app, told, where):
    fails = [True, True]

    def ask(state):
        answer = interrupt("sure?")
        if fails:
            fails.pop()
            raise OSError("no network")
        return {"log": [answer]}

    app = open_app(PROGRAMS[where](ask))
    app.invoke(NEW)
    with pytest.raises(OSError, match="no network"):
        app.invoke(Command(resume="yes"))
    with pytest.raises(OSError, match="no network"):
        app.invoke(None)
    assert app.invoke(None)["log"] == ["yes", "after"]
    assert told() == []


def test_nothing_is_said_if_what_has_taken_its_answer_is_not_run_again(open_app, told):
    fails = [True]

    @task
    def pay(amount):
        return f"{amount}: {interrupt(amount)}"

    def work(state):
        paid = [future.result() for future in [pay(5), pay(900)]]
        if fails:
            fails.pop()
            raise OSError("no network")
        return {"log": paid}

    app = open_app(beside(work=work, inner=line(ask=asking("sure?"), late=_failing_once()).compile()))
    app.invoke(NEW)
    with pytest.raises(OSError, match="no network"):
        app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))
    while app.get_state().next:
        try:
            app.invoke(None)
        except OSError:
            continue
    assert app.get_state().values["log"] == ["yes", "late", "5: yes", "900: yes"]
    assert told() == []


@pytest.mark.parametrize("is_away", [False, True])
def test_nothing_is_said_of_a_call_that_fails_after_it_has_taken_its_answer(open_app, told, is_away):
    """Its task catches that. If it is away first, what has taken the answer inside of it is not run again."""
    fails = [OSError("away")] if is_away else []
    confirm = line(ask=asking("sure?")).compile()

    @task
    def order():
        confirm.invoke(NEW)
        raise fails.pop() if fails else LookupError("sold")

    @task
    def errand():
        with suppress(LookupError):
            order().result()
        return interrupt("what else?")

    def work(state):
        with suppress(LookupError):
            order().result()
        return {"log": [errand().result(), interrupt("all?")]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    while state := app.get_state():
        if not state.next:
            break
        with suppress(OSError):
            app.invoke(Command(resume="yes") if state.interrupts else None)
    assert state.values["log"] == ["yes", "yes"]
    assert told() == unread(app) == []


def _failing_once():
    fails = [True]

    def late(state):
        if fails:
            fails.pop()
            raise OSError("no network")
        return {"log": ["late"]}

    return late


def test_nothing_is_said_of_an_answer_that_only_a_second_try_takes(open_app, told):
    fails = []

    def ask(state):
        if fails:
            fails.pop()
            raise OSError("no network")
        return {"log": [interrupt("sure?")]}

    graph = StateGraph(Log).add_node(
        "ask", ask, retry_policy=RetryPolicy(initial_interval=0, jitter=False, retry_on=OSError)
    )
    app = open_app(graph.add_edge(START, "ask"))
    app.invoke(NEW)
    fails.append(True)
    assert app.invoke(Command(resume="yes"))["log"] == ["yes"]
    assert told() == []


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("where", ["a node", "a nested graph"])
def test_the_history_says_which_question_went_unanswered_since_it_is_not_asked_any_more(open_app, where, durability):
    confirm = task(lambda text: interrupt(text))

    def shop(*texts):
        def pay(state):
            calls = [confirm(text) for text in texts]
            return {"log": [call.result() for call in calls]}

        return open_app(PROGRAMS[where](pay))

    old, new = shop("pay 5?", "pay 900?"), shop("pay 5?")
    old.invoke(NEW)
    ids = old.ids()
    assert new.invoke(Command(resume={ids["pay 5?"]: "yes"}), durability=durability)["log"] == ["yes", "after"]
    dropped = [one for snapshot in new.history() for one in snapshot.metadata.get("discarded", ())]
    assert dropped == [ids["pay 900?"]]
    assert new.filed() == []


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_the_history_says_so_of_a_question_beside_one_that_waits(open_app, pause):
    confirm = task(lambda text: interrupt(text))

    def shop(*texts):
        def pay(state):
            calls = [confirm(text) for text in texts]
            return {"log": [call.result() for call in calls]}

        return open_app(beside(pay=pay, send=asking("send?")), pause=pause)

    old, new = shop("pay 5?", "pay 900?"), shop("pay 5?")
    old.invoke(NEW)
    ids = old.ids()
    assert new.ask(Command(resume={ids["pay 5?"]: "yes"})) == ["send?"]
    new.invoke(Command(resume="no"))
    dropped = [one for snapshot in new.history() for one in snapshot.metadata.get("discarded", ())]
    assert dropped == [ids["pay 900?"]]


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_what_a_task_does_not_ask_any_more_is_not_open_while_others_ask(open_app, pause):
    @task
    def confirm(what):
        return interrupt(what)

    def shop(*wanted):
        def buy(state):
            return {"log": [one.result() for one in [confirm(what) for what in wanted]]}

        return open_app(beside(buy=buy, other=asking("other?")), pause=pause)

    first, deployed = shop("tea?", "milk?"), shop("tea?")
    first.invoke(NEW)
    assert sorted(question.value for question in first.filed()) == ["milk?", "other?", "tea?"]
    assert deployed.ask(Command(resume={first.ids()["tea?"]: "yes"})) == ["other?"]
    assert [question.value for question in deployed.filed()] == ["other?"]
