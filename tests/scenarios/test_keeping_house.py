"""Scenario 30: old threads go, of each the last three checkpoints stay, a thread that waits is left alone."""

import operator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import AlreadyAnswered, InvalidAnswer, LeaseLost, ThreadMoved
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.testing.conformance import savers
from signoff.testing.conformance._saver_words import put, values_of
from signoff.types import Command, Send, interrupt

from .savers import DATABASES, KINDS, opened


class State(TypedDict):
    asks: bool
    picture: bytes


def work(state: State) -> dict[str, Any]:
    return {"asks": bool(interrupt("Keep it?")) if state["asks"] else False}


def on(thread_id: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id}}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_freed_is_told_before_and_a_question_keeps_its_thread(kind, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:
        app = StateGraph(State).add_node("work", work).add_edge(START, "work").compile(checkpointer=saver)
        for _ in range(3):
            app.invoke({"asks": False, "picture": b"p" * 50_000}, on("done"))
        app.invoke({"asks": True, "picture": b"q" * 50_000}, on("waits"))

        week_ago, soon = datetime.now(UTC) - timedelta(days=7), datetime.now(UTC) + timedelta(minutes=1)
        assert saver.cleanup_before(week_ago, dry_run=True).threads == 0
        would = saver.keep_last(3, dry_run=True)
        assert len(list(app.get_state_history(on("done")))) == 9, "a dry run removes nothing"
        assert saver.keep_last(3) == would
        assert len(list(app.get_state_history(on("done")))) == 3

        assert saver.cleanup_before(soon).threads == 1
        assert saver.get_tuple(on("done")) is None
        Inbox(saver).answer(Inbox(saver).open()[0].id, False)
        assert (saver.cleanup_before(soon), saver.keep_last(1)) == ((0, 0, 0), (0, 0, 0)), "its answer waits for a run"
        assert app.resume_answered()["waits"]["asks"] is False
        assert saver.cleanup_before(soon).threads == 1


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_an_answer_that_comes_too_late_is_refused_though_nobody_knows_any_more_who_was_first(kind, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:
        app = StateGraph(State).add_node("work", work).add_edge(START, "work").compile(checkpointer=saver)
        [question] = app.invoke({"asks": True, "picture": b""}, on("ana"))["__interrupt__"]
        app.invoke(Command(resume=True, by="ben"), on("ana"))
        with pytest.raises(AlreadyAnswered, match="ben"):
            app.invoke(Command(resume={question.id: False}), on("ana"))
        saver.keep_last(1)
        with pytest.raises(InvalidAnswer, match="no open question"):
            app.invoke(Command(resume={question.id: False}), on("ana"))
        assert app.get_state(on("ana")).values["asks"] is True


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_nothing_has_come_of_keeps_its_thread_however_old_the_question_is(kind, request, tmp_path):
    fails = [True]

    def pay(state: State) -> dict[str, Any]:
        approved = interrupt("Pay 90 euros?")
        if fails:
            raise OSError("the bank is closed")
        return {"asks": approved}

    with opened(kind, request, tmp_path) as saver:
        app = StateGraph(State).add_node("pay", pay).add_edge(START, "pay").compile(checkpointer=saver)
        app.invoke({"asks": False, "picture": b""}, on("ana"))
        with pytest.raises(OSError, match="bank"):
            app.invoke(Command(resume=True, by="ben"), on("ana"))

        assert saver.cleanup_before(datetime.now(UTC)) == (0, 0, 0)
        assert saver.cleanup_before(datetime.now(UTC), dry_run=True, with_questions=True).threads == 1
        fails.clear()
        assert app.invoke(None, on("ana"))["asks"] is True
        assert saver.cleanup_before(datetime.now(UTC)).threads == 1


class Parts(TypedDict):
    done: Annotated[list[str], operator.add]


@pytest.mark.parametrize("kind", KINDS)
def test_a_thread_in_which_a_part_was_done_since_then_is_not_old_though_its_step_has_failed(kind, request, tmp_path):
    broken = {"b", "c"}

    def part(name: str, state: Parts) -> dict[str, Any]:
        if name in broken:
            raise OSError(name)
        return {"done": [name]}

    with opened(kind, request, tmp_path) as saver:
        graph = StateGraph(Parts)
        for name in "abc":
            graph.add_node(name, partial(part, name)).add_edge(START, name)
        app = graph.compile(checkpointer=saver)
        with pytest.raises(OSError, match="[bc]"):
            app.invoke({"done": []}, on("ana"))
        yesterday = datetime.now(UTC)
        broken.discard("b")
        with pytest.raises(OSError, match="c"):
            app.invoke(None, on("ana"))

        assert saver.cleanup_before(yesterday) == (0, 0, 0)
        broken.clear()
        assert app.invoke(None, on("ana"))["done"] == ["a", "b", "c"]


@pytest.mark.parametrize("check", savers.LOG_CHECKS, ids=str)
def test_the_memory_saver_keeps_house_by_the_same_rules(check):
    check(savers.World(InMemorySaver))


class Notes(TypedDict):
    notes: Annotated[list[str], operator.add]


class Desk(TypedDict):
    heard: str
    known: list[str]


def desk(saver: Any) -> Any:
    """An assistant who remembers what it was told in every run in which it was told something."""
    assistant = StateGraph(Notes).add_node("note", lambda state: {}).add_edge(START, "note").compile(checkpointer=True)

    def listen(state: Desk) -> dict[str, Any]:
        return {"known": assistant.invoke({"notes": [state["heard"]]})["notes"]}

    graph = StateGraph(Desk).add_node("listen", listen).add_node("rest", lambda state: {"known": []})
    graph.add_conditional_edges(START, lambda state: "listen" if state["heard"] else "rest", ["listen", "rest"])
    return graph.compile(checkpointer=saver)


def keep_one(saver: Any) -> None:
    saver.keep_last(1)


def prune(saver: Any) -> None:
    saver.prune(["ana"])


@pytest.mark.parametrize("tidy", [keep_one, prune])
@pytest.mark.parametrize("kind", KINDS)
def test_a_nested_graph_that_remembers_still_knows_what_it_knew(kind, tidy, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:
        app = desk(saver)
        for heard in ("limit 90", "", ""):
            app.invoke({"heard": heard}, on("ana"))
        tidy(saver)
        assert app.invoke({"heard": "limit 70"}, on("ana"))["known"] == ["limit 90", "limit 70"]
        assert saver.keep_last(1).checkpoints > 0


@pytest.mark.parametrize("tidy", [keep_one, prune])
@pytest.mark.parametrize("kind", KINDS)
def test_a_nested_graph_that_remembers_does_not_learn_again_what_was_taken_back(kind, tidy, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:
        app = desk(saver)
        app.invoke({"heard": "limit 90"}, on("ana"))
        before = app.get_state(on("ana")).config
        app.invoke({"heard": "no limit"}, on("ana"))
        app.invoke({"heard": ""}, before)
        twice_back = app.get_state(on("ana")).config
        app.invoke({"heard": ""}, on("ana"))
        app.invoke({"heard": ""}, twice_back)
        tidy(saver)
        assert app.invoke({"heard": "limit 70"}, on("ana"))["known"] == ["limit 90", "limit 70"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_nested_graph_that_remembers_does_not_know_what_it_learned_on_another_branch_that_stays(
    kind, request, tmp_path
):
    with opened(kind, request, tmp_path) as saver:
        app = desk(saver)
        app.invoke({"heard": "limit 90"}, on("ana"))
        careful = app.update_state(app.get_state(on("ana")).config, {"heard": ""})
        app.invoke({"heard": "no limit"}, on("ana"))
        bold = app.update_state(app.get_state(on("ana")).config, {"heard": ""})
        careful = app.update_state(careful, {"heard": ""})
        bold = app.update_state(bold, {"heard": ""})
        app.update_state(careful, {"heard": ""})
        assert saver.keep_last(2).checkpoints > 0
        assert app.invoke({"heard": "limit 70"}, on("ana"))["known"] == ["limit 90", "limit 70"]
        assert app.invoke({"heard": "ever"}, bold)["known"] == ["limit 90", "no limit", "ever"]


def forget_a(saver: Any) -> None:
    saver.delete_for_runs(["a", "d"])


@pytest.mark.parametrize("tidy", [forget_a, keep_one, prune])
@pytest.mark.parametrize("kind", KINDS)
def test_a_nested_graph_does_not_learn_what_was_taken_back_though_the_branch_between_is_gone(
    kind, tidy, request, tmp_path
):
    """A branch begins on a branch, and that on another: what says so of them is removed."""
    with opened(kind, request, tmp_path) as saver:
        app = desk(saver)

        def hear(heard: str, run: str, where: Any) -> Any:
            known = app.invoke({"heard": heard}, {**where, "metadata": {"run_id": run}})["known"]
            return app.get_state(on("ana")).config, known

        first, _ = hear("limit 90", "0", on("ana"))
        hear("no limit", "secret", on("ana"))
        back, _ = hear("", "a", first)
        hear("ever", "b", on("ana"))
        hear("", "c", back)
        back, _ = hear("", "d", on("ana"))
        hear("never", "e", on("ana"))
        here, _ = hear("", "f", back)
        hear("", "g", on("ana"))
        tidy(saver)
        assert hear("limit 70", "h", on("ana"))[1] == ["limit 90", "limit 70"]
        if tidy is forget_a:
            assert hear("limit 60", "i", here)[1] == ["limit 90", "limit 60"]
            assert [one for one in app.get_state_history(on("ana")) if one.metadata.get("run_id") in ("a", "d")] == []


class Order(TypedDict):
    amount: int
    lines: Annotated[list[str], operator.add]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_whose_checkpoints_are_removed_under_it_is_refused_and_half_a_state_is_never_stored(
    kind, request, tmp_path
):
    with opened(kind, request, tmp_path) as saver:

        def pay(state: Order) -> dict[str, Any]:
            saver.delete_for_runs(["second"] if state["amount"] == 70 else [])
            return {"lines": ["paid"]}

        app = StateGraph(Order).add_node("pay", pay).add_edge(START, "pay").compile(checkpointer=saver)
        app.invoke({"amount": 90, "lines": ["shoes"]}, {**on("ana"), "metadata": {"run_id": "first"}})
        with pytest.raises((LeaseLost, ThreadMoved)):
            app.invoke({"amount": 70}, {**on("ana"), "metadata": {"run_id": "second"}})
        assert saver.look(on("ana"))[1].holder is None, "nobody has to wait for the lease of a run that has lost it"
        assert app.get_state(on("ana")).values == {"amount": 90, "lines": ["shoes", "paid"]}


def interrupted(steps: Any, before: Any) -> Any:
    """A procedure of a saver, with something that happens before each of its effects."""
    go_on = partial(next, steps)
    while True:
        try:
            effect = go_on()
        except StopIteration as stop:
            return stop.value
        before(effect)
        try:
            go_on = partial(steps.send, (yield effect))
        except BaseException as error:
            go_on = partial(steps.throw, error)


@pytest.mark.parametrize("kind", DATABASES)
def test_a_thread_that_goes_on_while_old_ones_are_removed_keeps_its_question(kind, request, tmp_path):
    moment = 0
    with opened(kind, request, tmp_path) as saver, opened(kind, request, tmp_path) as other:
        app = StateGraph(State).add_node("work", work).add_edge(START, "work").compile(checkpointer=other)
        while True:
            for thread_id in ("a", "b"):
                app.invoke({"asks": False, "picture": b""}, on(thread_id))
            cutoff, seen = datetime.now(UTC), []

            def go_on(effect: Any, seen: Any = seen) -> None:
                if type(effect).__name__ in ("Acquire", "Take", "Run", "Ask"):  # else it has the database to itself
                    seen.append(effect)
                    if len(seen) == moment + 1:
                        app.invoke({"asks": True, "picture": b""}, on("a"))

            connection = saver._connection
            connection.run(interrupted(saver._cleanup_before(cutoff, False, False), go_on))
            if len(seen) <= moment:
                break
            assert [question.thread_id for question in Inbox(other).open()] == ["a"], f"at effect {moment}"
            assert app.get_state(on("a")).next == ("work",)
            assert saver.get_tuple(on("b")) is None
            other.delete_thread("a")
            moment += 1
    assert moment > 2


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


NESTED = {
    "a graph": [None],
    "in one that remembers": [None, True],
    "one that remembers in two of which one does": [True, None, True],
}


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_nested_graph_that_waits_while_others_go_on_is_not_begun_again(kind, nested, request, tmp_path):
    paid = []

    def pay(state: Log) -> dict[str, Any]:
        paid.append("shoes")
        return {"log": ["paid"]}

    def confirm(state: Log) -> dict[str, Any]:
        return {"log": [interrupt("Delivered?")]}

    innermost, *around = NESTED[nested]
    order = StateGraph(Log).add_sequence([pay, confirm]).add_edge(START, "pay").compile(checkpointer=innermost)
    for remembers in around:
        order = StateGraph(Log).add_node("order", order).add_edge(START, "order").compile(checkpointer=remembers)
    others = [(name, lambda state, name=name: {"log": [name]}) for name in ("pack", "weigh", "send")]
    with opened(kind, request, tmp_path) as saver:
        graph = StateGraph(Log).add_node("order", order).add_edge(START, "order")
        app = graph.add_sequence(others).add_edge(START, "pack").compile(checkpointer=saver, pause="branch")
        app.invoke({"log": []}, on("ana"))
        assert saver.keep_last(1, with_questions=True).checkpoints > 0
        assert app.invoke(Command(resume="yes"), on("ana"))["log"] == ["pack", "weigh", "send", "paid", "yes"]
    assert paid == ["shoes"]


def keep_one_that_waits(saver: Any) -> None:
    saver.keep_last(1, with_questions=True)


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("tidy", [keep_one_that_waits, prune])
@pytest.mark.parametrize("kind", KINDS)
def test_of_tasks_that_wait_in_one_graph_that_remembers_none_is_begun_again(kind, tidy, pause, request, tmp_path):
    paid = []

    def pay(state: Log) -> dict[str, Any]:
        paid.append(state["log"][-1])
        return {"log": ["paid"]}

    def confirm(state: Log) -> dict[str, Any]:
        return {"log": [interrupt("Delivered?")]}

    order = StateGraph(Log).add_sequence([pay, confirm]).add_edge(START, "pay").compile(checkpointer=True)
    orders = [Send("order", {"log": [what]}) for what in ("shoes", "socks")]
    graph = StateGraph(Log).add_node("order", lambda state: {"log": order.invoke(state)["log"][-3:]})
    graph.add_sequence([(name, lambda state: {"log": []}) for name in ("pack", "send")])
    graph.add_conditional_edges(START, lambda state: [*orders, "pack"], ["order", "pack"])
    config: Any = {**on("ana"), "max_concurrency": 1}
    with opened(kind, request, tmp_path) as saver:
        app = graph.compile(checkpointer=saver, pause=pause)
        asked = app.invoke({"log": []}, config)["__interrupt__"]
        tidy(saver)
        log = app.invoke(Command(resume={one.id: "yes" for one in asked}), config)["log"]
    assert (paid, log) == (["shoes", "socks"], ["shoes", "paid", "yes", "socks", "paid", "yes"])


@pytest.mark.parametrize("tidy", [keep_one_that_waits, prune])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_graph_that_remembers_knows_what_it_knew_though_a_task_waits_in_the_middle_of_a_turn(
    kind, tidy, request, tmp_path
):
    def note(state: Log) -> dict[str, Any]:
        return {"log": [interrupt("Note it?")]}

    memory = StateGraph(Log).add_node("note", note).add_edge(START, "note").compile(checkpointer=True)

    def call(state: Log) -> dict[str, Any]:
        if state["log"] == ["late"]:
            interrupt("Ready?")
        return {"log": [memory.invoke(state)["log"]]}

    graph = StateGraph(Log).add_node("call", call)
    graph.add_conditional_edges(START, lambda state: [Send("call", {"log": [what]}) for what in state["log"][-1]])
    config: Any = {**on("ana"), "max_concurrency": 1}
    with opened(kind, request, tmp_path) as saver:
        app = graph.compile(checkpointer=saver)
        app.invoke({"log": [["first"]]}, config)
        app.invoke(Command(resume="yes"), config)
        app.invoke({"log": [["waits", "late"]]}, config)
        tidy(saver)
        for value in ("Ready?", "Note it?"):
            asked = [one.id for one in app.get_state(config).interrupts if one.value == value]
            log = app.invoke(Command(resume=dict.fromkeys(asked, "yes")), config)["log"]
    assert ["first", "yes", "late", "yes"] in log


@pytest.mark.parametrize("tidy", [keep_one_that_waits, prune])
@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_that_remembers_knows_what_it_knew_though_the_thread_went_on_beside_a_turn_that_waits(
    kind, tidy, request, tmp_path
):
    def note(state: Log) -> dict[str, Any]:
        return {"log": [interrupt("Note it?")] if state["log"][-1] == "waits" else []}

    memory = StateGraph(Log).add_node("note", note).add_edge(START, "note").compile(checkpointer=True)

    def call(state: Log) -> dict[str, Any]:
        return {"log": [memory.invoke(state)["log"]]}

    def check(state: Log) -> None:
        interrupt("Ready?")

    graph = StateGraph(Log).add_node("call", call).add_sequence([("plan", lambda state: {}), check])
    graph.add_conditional_edges(START, lambda state: [Send("call", {"log": state["log"][-1:]}), "plan"])
    graph.add_conditional_edges("check", lambda state: Send("call", {"log": ["late"]}), ["call"])
    with opened(kind, request, tmp_path) as saver:
        app = graph.compile(checkpointer=saver, pause="branch")
        app.invoke({"log": ["first"]}, on("ana"))
        app.invoke(Command(resume="yes"), on("ana"))
        asked = app.invoke({"log": ["waits"]}, on("ana"))["__interrupt__"]
        tidy(saver)
        app.invoke(Command(resume={one.id: "yes" for one in asked if one.value == "Ready?"}), on("ana"))
        log = app.invoke(Command(resume="yes"), on("ana"))["log"]
    assert log[-2:] == [["first", "late", "late"], ["first", "late", "waits", "yes"]]


@pytest.mark.parametrize("kind", DATABASES)
def test_a_copy_made_while_somebody_answers_waits_with_its_question_or_goes_on_without(kind, request, tmp_path):
    moment = 0
    with opened(kind, request, tmp_path) as saver, opened(kind, request, tmp_path) as other:
        app = StateGraph(State).add_node("work", work).add_edge(START, "work").compile(checkpointer=other)
        while True:
            app.invoke({"asks": True, "picture": b""}, on("original"))
            seen: list[Any] = []

            def answer(effect: Any, seen: Any = seen) -> None:
                if type(effect).__name__ in ("Acquire", "Take", "Run", "Ask"):  # else it has the database to itself
                    seen.append(effect)
                    if len(seen) == moment + 1:
                        app.invoke(Command(resume=True), on("original"))

            saver._connection.run(interrupted(saver._copy_thread("original", "copy"), answer))
            asked = sorted(question.thread_id for question in Inbox(other).open())
            assert asked == (["copy"] if app.get_state(on("copy")).next else []) + ["original"] * (len(seen) <= moment)
            for thread_id in ("original", "copy"):
                other.delete_thread(thread_id)
            if len(seen) <= moment:
                break
            moment += 1
    assert moment > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_saw_a_checkpoint_which_is_gone_by_now_does_not_get_the_thread(kind, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:
        app = StateGraph(State).add_node("work", work).add_edge(START, "work").compile(checkpointer=saver)
        app.invoke({"asks": False, "picture": b""}, {**on("ana"), "metadata": {"run_id": "first"}})
        app.invoke({"asks": True, "picture": b""}, {**on("ana"), "metadata": {"run_id": "second"}})
        head, standing = saver.look(on("ana"))
        saver.delete_for_runs(["second"])
        answer = Commit(("ana", "", head.checkpoint["id"]), [TaskWrites("task", [("asks", False)])])
        with pytest.raises(ThreadMoved):
            saver.store(saver.prepare([answer]), Lease("ana", "late", standing.seen))
        assert app.get_state(on("ana")).next == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_whose_checkpoints_are_removed_under_it_leaves_no_question_that_nobody_waits_for(kind, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:

        def confirm(state: Order) -> dict[str, Any]:
            saver.delete_for_runs(["second"] if state["amount"] == 70 else [])
            return {"lines": [interrupt("Pay?")] if state["amount"] == 70 else []}

        app = StateGraph(Order).add_node("confirm", confirm).add_edge(START, "confirm").compile(checkpointer=saver)
        app.invoke({"amount": 90, "lines": ["shoes"]}, {**on("ana"), "metadata": {"run_id": "first"}})
        with pytest.raises((LeaseLost, ThreadMoved)):
            app.invoke({"amount": 70}, {**on("ana"), "metadata": {"run_id": "second"}})
        assert [*Inbox(saver).open()] == []
        assert app.invoke({"amount": 60}, on("ana")) == {"amount": 60, "lines": ["shoes"]}


@pytest.mark.parametrize("kind", DATABASES)
def test_what_is_stored_on_an_old_checkpoint_while_a_thread_is_pruned_is_whole(kind, request, tmp_path):
    moment = 0
    with opened(kind, request, tmp_path) as saver, opened(kind, request, tmp_path) as other:
        while True:
            put(other, "1", {"a": 1, "b": 1}, thread="ana")
            put(other, "2", {"a": 2, "b": 1}, parent="1", thread="ana", versions={"a": 2, "b": 1}, new={"a": 2})
            seen: list[Any] = []

            def store(effect: Any, seen: Any = seen) -> None:
                if type(effect).__name__ in ("Acquire", "Take", "Run", "Ask"):  # else it has the database to itself
                    seen.append(effect)
                    if len(seen) == moment + 1:
                        values, versions = {"a": 3, "b": 1}, {"a": 3, "b": 1}
                        put(other, "3", values, parent="1", thread="ana", versions=versions, new={"a": 3})

            saver._connection.run(interrupted(saver._prune(["ana"], "keep_latest"), store))
            if len(seen) <= moment:
                break
            assert values_of(saver, "3", thread="ana") == {"a": 3, "b": 1}, f"at effect {moment}"
            other.delete_thread("ana")
            moment += 1
    assert moment > 0
