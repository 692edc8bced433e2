"""Promise 2: who said yes to 5 euros has not said yes to 900, whoever has changed the state meanwhile."""

from contextlib import nullcontext
from itertools import count
from typing import Any, TypedDict

import pytest

from signoff.errors import AlreadyAnswered, InvalidAnswer, ReplayMismatch
from signoff.func import task
from signoff.graph import END, START, StateGraph
from signoff.testing import Input, World, did
from signoff.types import Command, Send, interrupt


class Payment(TypedDict, total=False):
    amount: int
    paid: int
    status: str
    told: str


def asking(*, key: str | None = None, **more: Any) -> Any:
    def pay(state):
        if interrupt(f"Pay {state['amount']}?", key=key, **more) == "yes":
            return {"paid": state["amount"]}
        return {"paid": 0}

    return pay


def tell(state):
    """Asks, and tells the state another amount."""
    interrupt("Is it more?", key="more", update={"amount": 900})
    return {"told": "yes"}


def raise_amount(state):
    return {"amount": 900}


def quiet(state):
    return {"status": "quiet"}


def beside(pay: Any, other: Any) -> StateGraph:
    graph = StateGraph(Payment).add_node("pay", pay).add_node("other", other)
    return graph.add_edge(START, "pay").add_edge(START, "other")


KEYS = pytest.mark.parametrize("key", [None, "pay"])
PAUSES = pytest.mark.parametrize("pause", ["step", "branch"])


@KEYS
@PAUSES
def test_what_another_node_tells_as_it_asks_is_not_paid_without_being_asked(open_app, key, pause):
    app = open_app(beside(asking(key=key), tell), pause=pause)
    app.invoke({"amount": 5})
    result = app.invoke(Command(resume={app.ids()["Pay 5?"]: "yes"}))
    assert "paid" not in result
    assert app.ids().keys() == {"Pay 900?", "Is it more?"}
    assert {one.interrupt.value for one in app.filed()} == {"Pay 900?", "Is it more?"}
    assert app.invoke(Command(resume={app.ids()["Pay 900?"]: "yes", "more": "yes"}))["paid"] == 900


@KEYS
@PAUSES
def test_the_old_question_is_not_open_any_more_though_another_answer_of_the_same_call_is_refused(open_app, key, pause):
    inner = StateGraph(Payment).add_node("check", lambda state: {"status": interrupt(f"Is {state['amount']} right?")})
    graph = beside(asking(key=key), tell).add_node("inner", inner.add_edge(START, "check").compile())
    app = open_app(graph.add_edge(START, "inner"), pause=pause)
    app.invoke({"amount": 5})
    (place,) = [one.state for one in app.get_state().tasks if one.state is not None]
    app.update_state({"amount": 6}, config=place)
    old = app.ids()
    both = {old["Pay 5?"]: "yes", old["Is 5 right?"]: "yes"}
    with pytest.raises(ReplayMismatch, match="'Is 6 right"):
        app.invoke(Command(resume=both))
    open = {"Pay 900?", "Is 5 right?", "Is it more?"}
    assert (app.ids().keys(), {one.value for one in app.filed()}) == (open, open)
    with pytest.raises(AlreadyAnswered):
        app.invoke(Command(resume={old["Pay 5?"]: "yes"}))
    assert app.invoke(Command(resume={app.ids()["Pay 900?"]: "yes"}))["__interrupt__"]
    assert "Pay 900?" not in app.ids()


@KEYS
def test_what_goes_on_beside_a_question_changes_what_is_asked(open_app, key, caplog):
    graph = beside(asking(key=key), quiet).add_node(raise_amount).add_edge("other", "raise_amount")
    app = open_app(graph, pause="branch")
    assert app.ask({"amount": 5}) == ["Pay 5?"]
    assert app.ask(Command(resume="yes")) == ["Pay 900?"]
    assert [one.interrupt.value for one in app.filed()] == ["Pay 900?"]
    assert app.invoke(Command(resume="yes"))["paid"] == 900
    assert not caplog.records, "nobody has to look at an answer that was asked for anew"


@KEYS
def test_so_does_a_person_who_changes_the_state_while_a_branch_waits(open_app, key):
    app = open_app(beside(asking(key=key), quiet), pause="branch")
    app.ask({"amount": 5})
    app.update_state({"amount": 900}, as_node="other")
    assert app.ask(Command(resume="yes")) == ["Pay 900?"]
    assert app.invoke(Command(resume="no"))["paid"] == 0


@KEYS
@PAUSES
def test_an_answer_counts_where_the_question_says_the_same(open_app, key, pause):
    graph = beside(asking(key=key), quiet).add_node("more", quiet).add_edge("other", "more")
    app = open_app(graph, pause=pause)
    assert app.ask({"amount": 5}) == ["Pay 5?"]
    assert app.invoke(Command(resume="yes"))["paid"] == 5


@KEYS
@PAUSES
def test_what_a_node_tells_itself_takes_no_answer_back(open_app, key, pause):
    def pay(state):
        said = {"amount": state["amount"], "status": state["status"]}
        interrupt(said, key=key, update={"status": "asked"})
        interrupt({**said, "again": True}, update={"status": "asked twice"})
        return {"paid": state["amount"]}

    app = open_app(StateGraph(Payment).add_node(pay).add_edge(START, "pay"), pause=pause)
    app.invoke({"amount": 5, "status": "new"})
    app.invoke(Command(resume="yes"))
    assert app.invoke(Command(resume="yes")) == {"amount": 5, "status": "asked twice", "paid": 5}


@PAUSES
def test_nor_does_what_a_call_tells_that_it_makes(open_app, pause):
    @task
    def confirm():
        return interrupt("Sure?", update={"status": "asked"})

    def pay(state):
        interrupt(f"Pay {state['amount']}, which is {state['status']}?")
        confirm().result()
        interrupt("Now?")
        return {"paid": state["amount"]}

    app = open_app(StateGraph(Payment).add_node(pay).add_edge(START, "pay"), pause=pause)
    app.invoke({"amount": 5, "status": "new"})
    assert app.ask(Command(resume="yes")) == ["Sure?"]
    assert app.ask(Command(resume="yes")) == ["Now?"]
    assert app.invoke(Command(resume="yes")) == {"amount": 5, "status": "asked", "paid": 5}


@PAUSES
def test_what_was_answered_before_is_asked_again_too(open_app, pause):
    def pay(state):
        first = interrupt(f"Pay {state['amount']}?")
        return {"paid": state["amount"], "status": f"{first} {interrupt('Now?')}"}

    def tell_later(state):
        interrupt("Is it the same?", key="same")
        return tell(state)

    app = open_app(beside(pay, tell_later), pause=pause)
    app.invoke({"amount": 5})
    app.invoke(Command(resume={app.ids()["Pay 5?"]: "yes"}))
    app.invoke(Command(resume={"same": "no"}))
    app.invoke(Command(resume={app.ids()["Now?"]: "now"}))
    assert app.ids().keys() == {"Pay 900?", "Is it more?"}
    assert app.invoke(Command(resume={app.ids()["Pay 900?"]: "yes"}))["status"] == "yes now"


@pytest.mark.parametrize("by_hand", [False, True])
@PAUSES
def test_what_is_asked_later_is_another_question_too_if_it_says_something_else(open_app, pause, by_hand):
    def pay(state):
        status = interrupt(f"Is {state['status']} right?")
        return {"status": status, "paid": interrupt(f"Pay {state['amount']}?")}

    app = open_app(StateGraph(Payment).add_node(pay).add_edge(START, "pay"), pause=pause)
    app.invoke({"amount": 5, "status": "new"})
    assert app.ask(Command(resume="new")) == ["Pay 5?"]
    seen = app.ids()["Pay 5?"]
    for change in ({"status": "old"}, {"amount": 900}):
        if by_hand:
            app.update_state(change, as_node=START)
            app.invoke(None)
        else:
            app.invoke(Command(update=change))
    for question in ("Is old right?", "Pay 900?"):
        assert app.questions() == [question]
        with pytest.raises(InvalidAnswer):
            app.invoke(Command(resume={seen: 5}))
        result = app.invoke(Command(resume=900))
    assert result["paid"] == 900


@task
def approved(amount):
    return interrupt(f"Pay {amount}?") == "yes"


@pytest.mark.parametrize("by_hand", [False, True])
@PAUSES
def test_nobody_who_has_seen_a_question_answers_another_though_a_call_has_asked_in_between(open_app, pause, by_hand):
    def pay(state):
        is_small = state["amount"] == 1
        return {"paid": approved(1).result() if is_small else interrupt(f"Pay {state['amount']}?")}

    app = open_app(StateGraph(Payment).add_node(pay).add_edge(START, "pay"), pause=pause)
    assert app.ask({"amount": 4}) == ["Pay 4?"]
    seen = app.ids()["Pay 4?"]
    if by_hand:
        app.update_state({"amount": 1}, as_node=START)
    assert app.ask(None if by_hand else Command(update={"amount": 1})) == ["Pay 1?"]
    app.update_state({"amount": 900}, as_node=START)
    assert app.ask(None) == ["Pay 900?"]
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume={seen: 4}))
    assert app.invoke(Command(resume=900))["paid"] == 900


def pay_if_approved(state):
    return {"paid": state["amount"] if approved(state["amount"]).result() else 0}


@pytest.mark.parametrize(("other", "pause"), [("tell", "step"), ("tell", "branch"), ("go on", "branch")])
def test_what_a_call_asks_is_asked_again_too(open_app, other, pause):
    graph = beside(pay_if_approved, tell if other == "tell" else quiet)
    app = open_app(graph.add_node(raise_amount).add_edge("other", "raise_amount"), pause=pause)
    app.invoke({"amount": 5})
    app.invoke(Command(resume={app.ids()["Pay 5?"]: "yes"}))
    assert "Pay 900?" in app.ids()
    answers = dict.fromkeys(app.ids().values(), "yes")
    assert app.invoke(Command(resume=answers))["paid"] == 900


@PAUSES
def test_whoever_accepts_changes_gets_what_a_call_asks_now(open_app, pause):
    app = open_app(beside(pay_if_approved, tell), pause=pause)
    app.invoke({"amount": 5})
    result = app.invoke(Command(resume={app.ids()["Pay 5?"]: "yes"}), on_changed="accept")
    assert result["paid"] == 900


@PAUSES
def test_so_it_is_after_a_caller_has_told_the_state_something_unless_that_came_with_the_answer(open_app, pause):
    app = open_app(StateGraph(Payment).add_node("pay", pay_if_approved).add_edge(START, "pay"), pause=pause)
    app.invoke({"amount": 5})
    app.invoke(Command(update={"amount": 900}))
    assert app.ask(Command(resume={app.ids()["Pay 5?"]: "yes"})) == ["Pay 900?"]
    assert app.invoke(Command(resume="yes", update={"amount": 950}))["paid"] == 950


@PAUSES
def test_what_was_approved_anew_is_done_anew(open_app, pause):
    done, numbers = [], count(1)

    @task
    def pay(amount, number):
        done.append(amount)
        return amount

    def order(state):
        interrupt(f"Pay {state['amount']}?")
        paid = pay(state["amount"], next(numbers)).result()
        interrupt("Ship?", key="ship")
        return {"paid": paid}

    app = open_app(StateGraph(Payment).add_node(order).add_edge(START, "order"), pause=pause)
    app.invoke({"amount": 5})
    app.invoke(Command(resume="yes"))
    app.invoke(Command(update={"amount": 900}))
    assert app.questions() == ["Pay 900?"]
    for answer in ("yes", "yes"):
        result = app.invoke(Command(resume=answer))
    assert (result["paid"], done) == (900, [5, 900])


def test_what_is_given_something_else_each_time_is_done_once_while_others_go_on(open_app):
    done = []

    @task
    def pay(number):
        done.append(number)
        return number

    def order(state):
        paid = pay(next(numbers)).result()
        interrupt("Ship?")
        return {"paid": paid}

    numbers = count(1)
    graph = beside(order, quiet).add_node(raise_amount).add_edge("other", "raise_amount")
    app = open_app(graph, pause="branch")
    app.invoke({"amount": 5})
    assert (app.invoke(Command(resume="yes"))["paid"], done) == (1, [1])


@PAUSES
def test_what_came_by_a_send_has_an_input_of_its_own(open_app, pause):
    times = count(1)

    def pay(payment):
        interrupt(f"Pay {payment['amount']}, asked {next(times)} times?")
        return {"paid": payment["amount"]}

    graph = beside(lambda state: None, tell).add_node("send", pay)
    graph.add_conditional_edges(START, lambda state: [Send("send", {"amount": 5})], ["send"])
    app = open_app(graph, pause=pause)
    app.invoke({"amount": 5})
    assert app.invoke(Command(resume={app.ids()["Pay 5, asked 1 times?"]: "yes"}))["paid"] == 5


@pytest.mark.parametrize("by", ["another", "hand", "caller"])
@PAUSES
def test_but_an_edge_behind_it_reads_the_state(open_app, pause, by):
    paid = []

    def lead(state):
        if interrupt(f"Pay {state['amount']}?") == "yes":
            paid.append(state["amount"])
        return END

    graph = beside(lambda state: None, tell if by == "another" else quiet).add_node("send", lambda payment: None)
    graph.add_conditional_edges(START, lambda state: [Send("send", {"amount": 1})], ["send"])
    app = open_app(graph.add_conditional_edges("send", lead, [END]), pause=pause)
    app.invoke({"amount": 5})
    seen = app.ids()["Pay 5?"]
    if by == "hand":
        app.update_state({"amount": 900}, as_node=START)
    elif by == "caller":
        app.invoke(Command(update={"amount": 900}))
    try:
        app.invoke(Command(resume={seen: "yes"}))
    except (ReplayMismatch, InvalidAnswer):
        app.invoke(None)
    assert "Pay 900?" in app.ids()
    assert paid == []
    app.invoke(Command(resume={app.ids()["Pay 900?"]: "yes"}))
    assert paid == [900]


@KEYS
@pytest.mark.parametrize("is_cold", [False, True])
def test_an_answer_is_for_what_a_call_asks_on_the_state_that_comes_with_it(open_app, key, is_cold):
    is_down = is_cold

    @task
    def confirm(amount):
        if is_down and amount == 900:
            raise ConnectionError("the bank is not to be had")
        return interrupt(f"Pay {amount}?", key=key)

    def pay(state):
        confirm(state["amount"]).result()
        return {"paid": state["amount"]}

    app = open_app(StateGraph(Payment).add_node(pay).add_edge(START, "pay"))
    app.invoke({"amount": 5})
    with pytest.raises(ConnectionError) if is_cold else nullcontext():
        app.invoke(Command(resume="yes", update={"amount": 900}))
    is_down = False
    assert (app.invoke(None) if is_cold else app.get_state().values)["paid"] == 900


def test_what_others_told_before_a_question_takes_no_answer_to_it_back(open_app):
    times = count(1)

    def pay(state):
        interrupt("Now?")
        interrupt(f"Pay {state['amount']}, asked {next(times)} times?")
        return {"paid": state["amount"]}

    app = open_app(beside(pay, tell))
    app.invoke({"amount": 5})
    app.invoke(Command(resume={app.ids()["Now?"]: "yes"}))
    asked = app.ids()["Pay 900, asked 1 times?"]
    assert app.invoke(Command(resume={asked: "yes"}))["__interrupt__"][0].value == "Is it more?"
    assert app.invoke(Command(resume="yes"))["paid"] == 900


@PAUSES
def test_whoever_accepts_changes_gets_what_is_asked_now(open_app, pause):
    app = open_app(beside(asking(), tell), pause=pause)
    app.invoke({"amount": 5})
    result = app.invoke(Command(resume={app.ids()["Pay 5?"]: "yes"}), on_changed="accept")
    assert result["paid"] == 900


def checked(state):
    """Looks at whether an answer was given to what it asks. (So it is with the answers of the world below.)"""
    asked = f"Pay {state['amount']}?"
    did("paid" if interrupt(asked) == f"to {asked}" else "paid without being asked")
    return {"paid": 1}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("pause", "other"), [("step", tell), ("branch", quiet)])
def test_it_is_asked_again_wherever_a_process_is_killed(pause, other, is_async):
    def build(saver):
        graph = beside(checked, other).add_node(raise_amount).add_edge("other", "raise_amount")
        return graph.compile(saver, pause=pause)

    script, answers = [Input({"amount": 5})], lambda question: f"to {question.value}"
    world = World(build, script, answers=answers, is_async=is_async, same_history=False)
    assert world.run().witness.done["paid"] == 1
    world.crash_everywhere()
