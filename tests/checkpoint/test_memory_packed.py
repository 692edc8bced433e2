"""What the memory saver keeps without encoding it: what a program has of it is always a copy."""

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.checkpoint.base import Commit, Lease, TaskWrites, empty_checkpoint
from signoff.checkpoint.memory import InMemorySaver, shelf
from signoff.checkpoint.memory.packed import KeptSend, Packed, unpacked
from signoff.checkpoint.memory.packing import Packing
from signoff.constants import ATOMS, INTERRUPT, RESUME, TASKS
from signoff.errors import ThreadMoved
from signoff.graph import START, StateGraph
from signoff.testing.conformance._saver_words import T, after, at, put
from signoff.types import Command, Interrupt, Send, interrupt

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class State(TypedDict):
    log: Annotated[list[Any], operator.add]


@dataclass
class Order:
    id: int


plain = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.binary(max_size=3)
values = st.recursive(
    plain | st.builds(Order, st.integers(0, 9)) | st.tuples(plain, plain),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=20,
)


def _kept(channel: str, value: Any) -> Any:
    saver = InMemorySaver()
    serde = saver.serde.with_msgpack_allowlist([Order])
    return unpacked(serde, Packing(serde, ATOMS).pack(channel, value))


@given(values)
def test_whatever_is_packed_comes_back(value):
    assert _kept("key", value) == value
    assert _kept("key", Send("node", value)) == Send("node", value)
    assert _kept(TASKS, [Send("a", value), Send("b", 1)]) == [Send("a", value), Send("b", 1)]
    assert _kept(RESUME, {"id": {"value": value, "at": "now"}}) == {"id": {"value": value, "at": "now"}}
    (asked,) = _kept(INTERRUPT, (Interrupt(value, "id", key="k", origin={"at": "now"}),))
    assert (asked.value, asked.id, asked.key, asked.origin) == (value, "id", "k", {"at": "now"})


def _fanning_out(node: Any, args: list[Any]) -> Any:
    graph = StateGraph(State).add_node("node", node)
    graph.add_conditional_edges(START, lambda state: [Send("node", arg) for arg in args], ["node"])
    return graph.compile(checkpointer=InMemorySaver())


def test_what_a_task_changes_in_its_input_is_not_there_when_it_starts_over():
    def node(arg: Any) -> Any:
        arg["lines"].append(arg["lines"][-1] + 1)
        arg["count"] = 1 + arg.get("count", 0)
        answer = interrupt("ok?", key=str(arg["id"]))
        return {"log": [(arg["id"], arg["lines"], arg["count"], answer)]}

    app = _fanning_out(node, [{"id": id, "lines": [id]} for id in range(3)])
    app.invoke({"log": []}, CONFIG)
    for id in range(3):
        last = app.invoke(Command(resume={str(id): "yes"}), CONFIG)
    assert last["log"] == [(id, [id, id + 1], 1, "yes") for id in range(3)]


def test_what_whoever_asks_or_answers_changes_afterwards_is_not_stored():
    asked: list[Any] = []

    def node(arg: Any) -> Any:
        question = {"pay": {"amount": 5, "lines": [1]}}
        asked.append(question)
        return {"log": [interrupt(question)]}

    app = _fanning_out(node, [1])
    (shown,) = app.invoke({"log": []}, CONFIG)["__interrupt__"]
    shown.value["pay"]["amount"] = asked[0]["pay"]["lines"] = 900
    (read,) = app.get_state(CONFIG).interrupts
    assert read.value == {"pay": {"amount": 5, "lines": [1]}}
    read.value["pay"] = 900
    assert app.get_state(CONFIG).interrupts[0].value == {"pay": {"amount": 5, "lines": [1]}}

    answer = {"decisions": [{"type": "approve"}]}
    app.update_state(CONFIG, None)
    app.invoke(Command(resume=answer), CONFIG)
    answer["decisions"][0]["type"] = "reject"
    assert app.get_state(CONFIG).values["log"] == [{"decisions": [{"type": "approve"}]}]


def test_a_list_of_writes_that_the_caller_empties_afterwards_is_stored_as_it_was():
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    config = saver.put(config, empty_checkpoint(), {}, {})
    for task_id in ("a", "b"):
        writes = [("x", 1), ("y", 2)]
        saver.put_writes(config, writes, task_id)
        writes.clear()
    assert saver.get_tuple(config).pending_writes == [("a", "x", 1), ("a", "y", 2), ("b", "x", 1), ("b", "y", 2)]


@pytest.mark.parametrize("at_hand", [100, 1], ids=["as-it-is", "folded"])
def test_sends_that_are_kept_go_on_beside_one_that_has_to_be_encoded(at_hand, monkeypatch):
    monkeypatch.setattr(shelf, "AT_HAND", at_hand)

    def node(arg: Any) -> Any:
        return {"log": [(arg["order"], interrupt(f"{arg['order']}?"))]}

    app = _fanning_out(node, [{"order": 1}, {"order": 2}])
    app.invoke({"log": []}, CONFIG)
    app.invoke({"log": []}, {"configurable": {"thread_id": "another"}})
    app.invoke(Command(goto=Send("node", {"order": (3,)})), CONFIG)
    asked = app.get_state(CONFIG).interrupts
    last = app.invoke(Command(resume={one.id: "yes" for one in asked}), CONFIG)
    assert last["log"] == [(1, "yes"), (2, "yes"), ((3,), "yes")]


def test_a_list_of_sends_of_both_kinds_is_encoded():
    packing = Packing(InMemorySaver().serde, ATOMS)
    kept = packing.pack(TASKS, [Send("a", {"x": 1})]).data
    assert [type(send) for send in kept] == [KeptSend]
    both = packing.pack(TASKS, [*kept, Send("b", (1, 2))])
    assert (type(both), both.tag) == (Packed, "msgpack")
    assert unpacked(packing.serde, both) == [Send("a", {"x": 1}), Send("b", (1, 2))]


def test_a_thread_that_a_run_has_gone_on_with_is_not_taken_by_whoever_saw_it_before():
    saver = InMemorySaver()
    put(saver, "1", {"a": 1})
    run = Lease(T, "ana", saver.look(at())[1].seen)
    saver.store([], run)
    late = Lease(T, "bo", saver.look(at())[1].seen)
    saver.save([Commit(after("1"), [TaskWrites("task", [("a", 2)])])], run)
    with pytest.raises(ThreadMoved):
        saver.store([], late)
