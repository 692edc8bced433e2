"""Lists in memory: a checkpoint keeps what is new in them, and whoever reads one gets exactly what was stored."""

import operator
import threading
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from signoff.checkpoint.memory import InMemorySaver, shelf
from signoff.checkpoint.memory.folding import folded
from signoff.checkpoint.serde.encrypted import EncryptedSerializer
from signoff.errors import NotStorable
from signoff.graph import START, MessagesState, StateGraph
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "thread"}}


def chat(saver, reply=lambda state: {"messages": [AIMessage("a" * 200)]}):
    return StateGraph(MessagesState).add_node("reply", reply).add_edge(START, "reply").compile(checkpointer=saver)


def ask(app, text="q" * 200, **named):
    return app.invoke({"messages": [HumanMessage(text)]}, CONFIG, **named)


def stored_bytes(saver):
    return saver.cleanup_before(datetime.now(UTC) + timedelta(days=1), dry_run=True).bytes


def texts(app, config=CONFIG):
    return [message.content for message in app.get_state(config).values["messages"]]


# What is stored


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_turn_of_a_conversation_costs_the_same_bytes_early_and_late(durability):
    saver, sizes = InMemorySaver(), []
    app = chat(saver)
    for _ in range(100):
        ask(app, durability=durability)
        sizes.append(stored_bytes(saver))
    assert abs((sizes[99] - sizes[69]) - (sizes[49] - sizes[19])) < 300
    assert (sizes[99] - sizes[69]) / 30 < 1500


def test_what_a_run_is_given_is_stored_where_it_went():
    saver = InMemorySaver()
    app = chat(saver)
    ask(app, "x" * 10_000)
    assert stored_bytes(saver) < 12_000
    given = [one.checkpoint["channel_values"].get("__start__") for one in saver.list(CONFIG)]
    assert [value["messages"][0].content for value in given if value] == ["x" * 10_000]


def test_a_long_list_that_a_run_is_given_is_kept_whole_until_it_grows():
    class Listed(TypedDict):
        records: Annotated[list[Any], operator.add]

    def spoil(state):
        state["records"][0]["text"] = "changed in place"

    saver, sizes = InMemorySaver(), []
    app = StateGraph(Listed).add_node("spoil", spoil).add_edge(START, "spoil").compile(checkpointer=saver)
    given = [{"text": f"record {number} " + "r" * 80} for number in range(1000)]
    expected = deepcopy(given)
    for records in [given, *([{"text": f"one more {number}"}] for number in range(4))]:
        expected += deepcopy(records) if records is not given else []
        app.invoke({"records": records}, CONFIG)
        assert app.get_state(CONFIG).values["records"] == expected
        sizes.append(stored_bytes(saver))
    assert sizes[4] - sizes[2] < 10_000


def test_a_fork_shares_what_was_there_before():
    saver = InMemorySaver()
    app = chat(saver)
    for _ in range(30):
        ask(app)
    middle = list(app.get_state_history(CONFIG))[30].config
    before = stored_bytes(saver)
    app.invoke({"messages": [HumanMessage("another way")]}, middle)
    assert stored_bytes(saver) - before < 2000
    assert len(texts(app, middle)) + 2 == len(texts(app))


def test_a_list_that_is_always_cut_short_lets_go_of_what_nothing_has_any_more():
    def reply(state):
        return {"messages": [AIMessage("a" * 200), *(RemoveMessage(one.id) for one in state["messages"][:-20])]}

    saver = InMemorySaver()
    app = chat(saver, reply)
    for _ in range(200):
        ask(app)
    saver.keep_last(1)
    assert len(texts(app)) <= 23
    assert stored_bytes(saver) < 100 * 400


def test_a_list_in_which_a_step_changes_nothing_but_numbers_goes_on_at_the_same_cost():
    class Counted(MessagesState):
        count: int

    graph = StateGraph(Counted)
    graph.add_node("count", lambda state: {"count": state.get("count", 0) + 1})
    graph.add_node("reply", lambda state: {"messages": [AIMessage("a" * 200)]})
    saver = InMemorySaver()
    app = graph.add_edge(START, "count").add_edge("count", "reply").compile(checkpointer=saver)
    for _ in range(30):
        ask(app)
    before = stored_bytes(saver)
    ask(app)
    assert stored_bytes(saver) - before < 2000


def test_a_conversation_that_was_folded_goes_on_at_the_same_cost(monkeypatch):
    monkeypatch.setattr(shelf, "AT_HAND", 1)
    monkeypatch.setattr(shelf, "AT_REST", 0)
    saver = InMemorySaver()
    app = chat(saver)
    for _ in range(30):
        ask(app)
        app.invoke({"messages": []}, {"configurable": {"thread_id": "other"}})
    saver.delete_thread("other")
    before = stored_bytes(saver)
    ask(app)
    assert stored_bytes(saver) - before < 2000
    assert len(texts(app)) == 62


def test_items_are_encoded_by_the_serializer_of_the_caller():
    app = chat(InMemorySaver(serde=EncryptedSerializer.from_aes(b"k" * 32)))
    for _ in range(12):
        ask(app, "secret")
    assert texts(app) == ["secret", "a" * 200] * 12
    assert b"secret" not in folded(app.checkpointer._threads.get("thread"))


# Who gets what


def test_a_run_gets_the_objects_of_the_last_one_and_a_reader_gets_its_own():
    saver = InMemorySaver()
    app = chat(saver)
    last = ask(app)["messages"]
    first, second = (saver.look(CONFIG)[0].checkpoint["channel_values"]["messages"] for _ in range(2))
    assert first is not second
    assert all(one is other is mine for one, other, mine in zip(first, second, last, strict=True))
    assert app.get_state(CONFIG).values["messages"][0] is not last[0]


def test_what_the_caller_changes_in_a_result_is_not_stored():
    app = chat(InMemorySaver())
    for _ in range(3):
        out = ask(app, "question")
        out["messages"][0].content = "mine"
        out["messages"].clear()
    assert texts(app) == ["question", "a" * 200] * 3


def test_a_message_that_a_node_changed_in_place_is_read_as_it_was_stored():
    def meddle(state):
        state["messages"][0].content = "changed"
        state["messages"][0].additional_kwargs["more"] = 1
        return {"messages": [AIMessage("done")]}

    saver = InMemorySaver()
    ask(chat(saver), "question")
    ask(chat(saver, meddle), "go")
    assert texts(chat(saver)) == ["question", "a" * 200, "go", "done"]
    assert saver.look(CONFIG)[0].checkpoint["channel_values"]["messages"][0].content == "question"


def test_the_same_in_a_node_that_goes_on_after_an_answer():
    def meddle(state):
        state["messages"][0].content = "changed"
        return {"messages": [AIMessage(interrupt("what?"))]}

    app = chat(InMemorySaver(), meddle)
    ask(app, "question")
    app.invoke(Command(resume="this"), CONFIG)
    assert texts(app) == ["question", "this"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_message_that_a_node_changed_and_returned_is_stored(durability):
    def change(state):
        state["messages"][0].content = f"changed {len(state['messages'])}"
        return {"messages": [state["messages"][0]]}

    app = chat(InMemorySaver(), change)
    for _ in range(20):
        ask(app, durability=durability)
    assert texts(app)[0] == "changed 20"


def test_a_message_that_one_of_two_nodes_changed_and_returned_is_stored():
    first_is_done = threading.Event()

    def change(state):
        state["messages"][0].content = f"changed {len(state['messages'])}"
        return {"messages": [state["messages"][0]]}

    def wait(state):
        assert first_is_done.wait(10)
        return {"messages": [AIMessage("waited")]}

    graph = StateGraph(MessagesState).add_node("change", change).add_node("wait", wait)
    app = graph.add_edge(START, "change").add_edge(START, "wait").compile(checkpointer=InMemorySaver())
    for _ in range(2):
        first_is_done.clear()
        for chunk in app.stream({"messages": [HumanMessage("q")]}, CONFIG, stream_mode="updates", durability="sync"):
            if "change" in chunk:
                first_is_done.set()
    assert texts(app) == ["changed 3", "waited", "q", "waited"]


def test_what_a_reducer_changes_in_place_is_stored():
    def merge(before, new):
        for one in new:
            known = next((item for item in before if item["id"] == one["id"]), None)
            before.append(one) if known is None else known.update(one)
        return before

    class Table(TypedDict):
        rows: Annotated[list[Any], merge]

    def work(state):
        return {"rows": [{"id": 0, "seen": len(state["rows"])}]}

    app = StateGraph(Table).add_node("work", work).add_edge(START, "work").compile(checkpointer=InMemorySaver())
    for number in range(20):
        out = app.invoke({"rows": [{"id": number}]}, CONFIG)
        assert app.get_state(CONFIG).values == out
    assert out["rows"][0] == {"id": 0, "seen": 20}


def test_a_copy_of_a_thread_and_the_thread_go_their_own_ways():
    saver = InMemorySaver()
    app = chat(saver, lambda state: {"messages": [AIMessage("to " + state["messages"][-1].content)]})
    ask(app, "a")
    saver.copy_thread("thread", "copy")
    copy = {"configurable": {"thread_id": "copy"}}
    app.invoke({"messages": [HumanMessage("b")]}, CONFIG)
    app.invoke({"messages": [HumanMessage("c")]}, copy)
    app.invoke({"messages": [HumanMessage("d")]}, CONFIG)
    assert texts(app) == ["a", "to a", "b", "to b", "d", "to d"]
    assert texts(app, copy) == ["a", "to a", "c", "to c"]


def test_a_value_that_a_reducer_made_and_that_cannot_be_stored_is_named():
    class Odd(TypedDict):
        odd: Annotated[list[Any], lambda before, new: [*before, *(object() for _ in new)]]

    graph = StateGraph(Odd).add_node("work", lambda state: {"odd": [1]}).add_edge(START, "work")
    with pytest.raises(NotStorable, match=r"values\.odd\[0\]"):
        graph.compile(checkpointer=InMemorySaver()).invoke({"odd": []}, CONFIG)


@pytest.mark.parametrize(
    "given", [{"items": [{"id": 0}, {"id": 1, "k": object()}]}, {"items": [], "turn": {"k": object()}}]
)
def test_what_a_run_is_given_and_cannot_be_stored_is_named(given):
    app = StateGraph(Items).add_node("work", lambda state: {}).add_edge(START, "work")
    with pytest.raises(NotStorable, match=r"input\.(items\[1\]|turn)\.k"):
        app.compile(checkpointer=InMemorySaver()).invoke(given, CONFIG)


# Anything at all, against a model that copies everything


def merged(before, new):
    """A reducer that adds, replaces, puts in between and removes, by id."""
    after = list(before)
    for one in new:
        at = next((at for at, item in enumerate(after) if item["id"] == one["id"]), None)
        if at is not None:
            after[at : at + 1] = [] if "gone" in one else [one]
        elif "gone" not in one:
            after.insert(one.get("at", len(after)), one)
    return after


merged.leaves_items = True  # else whatever a node has touched would be stored, whether it said so or not


class Items(TypedDict):
    items: Annotated[list[Any], merged]
    turn: int


PLACE, VALUE = st.integers(0, 30), st.one_of(st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
ADD = st.tuples(st.just("add"), st.none(), VALUE)
INSERT = st.tuples(st.just("insert"), PLACE, VALUE)
REPLACE = st.tuples(st.just("replace"), PLACE, VALUE)
CHANGE = st.tuples(st.just("change"), PLACE, VALUE)
MEDDLE = st.tuples(st.just("meddle"), PLACE, VALUE)
REMOVE = st.tuples(st.just("remove"), PLACE, VALUE)
STRANGE = st.tuples(st.just("strange"), st.none(), VALUE)

HONEST = st.tuples(
    st.sampled_from(["sync", "async", "exit"]),
    st.lists(st.one_of(ADD, INSERT, REPLACE, CHANGE, REMOVE, STRANGE), max_size=4),
)
# Where something that was written is not in the list, a reducer has made something of it, perhaps in place. So what was
# touched in such a step is stored: what a node keeps quiet about is left out only beside writes that stand in the list.
MEDDLING = st.tuples(
    st.sampled_from(["sync", "async"]), st.lists(st.one_of(ADD, INSERT, CHANGE, MEDDLE, STRANGE), max_size=4)
)
TURN = st.tuples(st.just("turn"), st.one_of(HONEST, MEDDLING))
BACK = st.tuples(st.just("back"), PLACE)
FOLD = st.tuples(st.just("fold"), st.none())
SPOIL = st.tuples(st.just("spoil"), PLACE)


class Desk:
    """A thread, and what should be in it."""

    def __init__(self, saver, length):
        self.saver, self.orders, self.ids = saver, [], iter(range(10**9))
        graph = (
            StateGraph(Items).add_node("work", self.work).add_node("more", lambda state: {"turn": state["turn"] + 1})
        )
        self.app = graph.add_edge(START, "work").add_edge("work", "more").compile(checkpointer=saver)
        self.model: list[Any] = []
        self.config, self.seen = CONFIG, []
        self.turn(("sync", [("add", None, number) for number in range(length)]))

    def work(self, state):
        return {"items": done(state["items"], self.orders)}

    def turn(self, order):
        durability, self.orders = order[0], [(what, at, value, next(self.ids)) for what, at, value in order[1]]
        self.model = merged(self.model, deepcopy(done(deepcopy(self.model), self.orders)))
        self.out = self.app.invoke({"turn": 0, "items": []}, self.config, durability=durability)
        self.config = CONFIG
        self.check(CONFIG, self.model)
        self.seen.append((self.app.get_state(CONFIG).config, deepcopy(self.model)))

    def back(self, at):
        """Go on from a checkpoint that was there before."""
        self.config, self.model = self.seen[at % len(self.seen)]

    def fold(self, _):
        """Make the saver forget all that it does not have to know."""
        for name in ("one", "another"):
            self.app.invoke({"turn": 0, "items": []}, {"configurable": {"thread_id": name}})

    def spoil(self, at):
        """Change what the last run has returned."""
        if self.out["items"]:
            self.out["items"][at % len(self.out["items"])]["value"] = "spoiled"

    def check(self, config, model):
        assert self.app.get_state(config).values["items"] == model


def done(items, orders):
    """What a node writes that has its orders; some of them are to change something and keep quiet about it."""
    writes = []
    for what, at, value, id in orders:
        known = items[at % len(items)] if items and at is not None else None
        if what in ("add", "insert"):
            writes.append({"id": id, "value": value, **({"at": at} if what == "insert" else {})})
        elif what == "strange":
            writes.append({"id": id, "value": {1, 2}})  # there is no telling whether somebody changes a set
        elif known is not None and what == "replace":
            writes.append({"id": known["id"], "value": value})
        elif known is not None and what == "remove":
            writes.append({"id": known["id"], "gone": True})
        elif known is not None:
            known["value"] = value
            writes += [known] if what == "change" else []
    return writes


MEDDLED_AND_MOVED = [
    ("turn", ("sync", [("insert", 0, 0), ("meddle", 0, 1)])),
    ("turn", ("sync", [("change", 2, 0), ("remove", 0, 0)])),
]


@settings(max_examples=80)
@example(3, MEDDLED_AND_MOVED)
@given(st.sampled_from([0, 3, 20]), st.lists(st.one_of(TURN, TURN, TURN, BACK, FOLD, SPOIL), max_size=12))
def test_a_thread_is_what_a_model_that_copies_everything_says(length, acts):
    before = shelf.AT_HAND, shelf.AT_REST
    shelf.AT_HAND, shelf.AT_REST = 2, 0
    try:
        desk = Desk(InMemorySaver(), length)
        for act, argument in acts:
            getattr(desk, act)(argument)
        for config, model in desk.seen:
            desk.check(config, model)
    finally:
        shelf.AT_HAND, shelf.AT_REST = before


@pytest.mark.parametrize("length", [3, 100])
@pytest.mark.parametrize("again", [slice(1), slice(1, 3), slice(None)], ids=["first", "two", "all"])
def test_items_that_a_list_has_already_may_be_added_once_more(again, length):
    class Log(TypedDict):
        log: Annotated[list[Any], operator.add]

    graph = StateGraph(Log).add_node("repeat", lambda state: {"log": state["log"][again]}).add_edge(START, "repeat")
    app, given = graph.compile(checkpointer=InMemorySaver()), [{"number": number} for number in range(length)]
    app.invoke({"log": given}, CONFIG)
    first = [*given, *given[again]]
    assert app.get_state(CONFIG).values["log"] == first
    second = [*first, {"more": 1}]
    assert app.invoke({"log": [{"more": 1}]}, CONFIG)["log"] == [*second, *second[again]]
    assert app.get_state(CONFIG).values["log"] == [*second, *second[again]]


@settings(max_examples=50)
@given(st.lists(st.lists(st.one_of(st.integers(), st.text(max_size=3)), max_size=3), max_size=30))
def test_a_list_of_plain_items_is_what_was_added(turns):
    class Log(TypedDict):
        log: Annotated[list[Any], operator.add]

    graph = StateGraph(Log).add_node("work", lambda state: {}).add_edge(START, "work")
    app, log = graph.compile(checkpointer=InMemorySaver()), []
    for items in turns:
        log += items
        assert app.invoke({"log": items}, CONFIG) == {"log": log}
        assert app.get_state(CONFIG).values == {"log": log}
