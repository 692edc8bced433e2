"""What is stored of a list that a program changes again and again is what the program wrote."""

from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from signoff.checkpoint.log.growth import Tracked, Written, whole, written_in
from signoff.checkpoint.log.values import laid_out
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, MessagesState, StateGraph
from signoff.testing.conformance._saver_words import put, values_of

CONFIG = {"configurable": {"thread_id": "thread"}}
quick = settings(max_examples=80)


def encode(values):
    return [("msgpack", dumps(value)) for value in values]


class Stored:
    """A list as a database has it: the items of lineages, and slices of them."""

    def __init__(self, value, *, is_read=False):
        self.lineages, self.spans, self._number = {}, (), count().__next__
        blobs = encode(value)
        self.store(whole(value, blobs))
        self.tracked = Tracked(value, stored=lambda: blobs) if is_read else Tracked(value, blobs)

    def store(self, edit):
        spans, news = laid_out(self.spans, edit.parts, self._number)
        if any(start != len(self.lineages.get(lineage, ())) for lineage, start, _ in news):
            spans, news = laid_out(self.spans, edit.parts, self._number, may_append=False)
        for lineage, _, items in news:
            self.lineages.setdefault(lineage, []).extend(items)
        self.spans = spans

    def edit(self, value, written=()):
        writes = [("task", [("list", written)], "")]
        self.store(self.tracked.edited(value, written_in("list", writes), encode))

    @property
    def items(self):
        blobs = [blob for lineage, first, end in self.spans for blob in self.lineages[lineage][first:end]]
        return [loads(data) for _, data in blobs]


def message(number):
    return (AIMessage if number % 2 else HumanMessage)(f"text {number}", id=str(number))


kinds = st.sampled_from(["append", "replace", "copy", "change", "remove", "move", "cut", "keep", "plain"])


@quick
@given(st.integers(0, 5), st.booleans(), st.lists(st.tuples(kinds, st.integers(0, 9), st.integers(1, 3)), max_size=25))
@example(0, False, [("copy", 0, 1), ("change", 0, 1)])
def test_what_a_program_wrote_is_stored(size, is_read, steps):
    numbers = count()
    value = [message(next(numbers)) for _ in range(size + 1)]
    stored, is_changed = Stored(value, is_read=is_read), False
    for kind, at, many in steps:
        at, value, written = at % len(value), value[:], []
        if kind == "append":
            written = [message(next(numbers)) for _ in range(many)]
            value += written
        elif kind == "plain":
            written = [{"a": next(numbers)}, next(numbers)]
            value += written
        elif kind == "replace":
            written = value[at : at + 1] = [message(next(numbers))]
        elif kind == "copy" and isinstance(value[at], AIMessage | HumanMessage):
            written = value[at : at + 1] = [value[at].model_copy(update={"additional_kwargs": {"a": bool(many % 2)}})]
        elif kind == "change" and isinstance(value[at], AIMessage | HumanMessage):
            is_changed = True
            value[at].additional_kwargs = {"a": many}
            written = [value[at]]
        elif kind == "remove" and len(value) > 1:
            del value[at]
        elif kind == "move":
            value.append(value.pop(at))
        elif kind == "cut":
            value = value[at:]
        stored.edit(value, written)
        assert list(map(dumps, stored.items)) == list(map(dumps, value))
        # Where one was changed in place, others may have been, too: nobody gets these objects again.
        assert stored.tracked.is_untouched or is_changed


def test_a_message_that_equals_the_one_it_replaces_is_stored_if_it_was_written():
    first, second = AIMessage("a", id="1", additional_kwargs={"n": 1}), AIMessage("b", id="2")
    stored = Stored([first, second])
    copy = first.model_copy(update={"additional_kwargs": {"n": True}})
    assert copy == first
    stored.edit([copy, second], [copy])
    assert stored.items[0].additional_kwargs["n"] is True
    stored.edit([copy, second, AIMessage("c", id="3")])
    assert stored.items == [copy, second, AIMessage("c", id="3")]
    assert stored.tracked.elements[0] is copy


def test_a_message_that_nobody_wrote_may_be_another_one_that_equals_it():
    first, second = AIMessage("a", id="1"), AIMessage("b", id="2")
    stored = Stored([first])
    stored.edit([first.model_copy(), second], [second])
    assert stored.spans == ((0, 0, 2),)
    assert stored.tracked.elements[0] is first


def test_numbers_that_equal_others_are_stored():
    stored = Stored([1, 0, 2.0])
    stored.edit([True, False, 2])
    assert list(map(type, stored.items)) == [bool, bool, int]


class Odd:
    def __eq__(self, other):
        raise ValueError("it cannot be compared")


def test_messages_that_cannot_be_compared_are_encoded():
    first = AIMessage("a", id="1", additional_kwargs={"n": 1})
    stored = Stored([first])
    other = first.model_copy(update={"additional_kwargs": {"n": 2}})
    first.additional_kwargs["n"] = Odd()
    stored.edit([other, AIMessage("b", id="2")])
    assert stored.items == [other, AIMessage("b", id="2")]


@pytest.fixture
def saver(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as saver:
        yield saver


def grown(saver, node):
    """An app with a conversation of 40 messages."""
    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    app = builder.compile(checkpointer=saver)
    app.update_state(CONFIG, {"messages": [HumanMessage(str(number), id=str(number)) for number in range(40)]})
    return app


def swap(state):
    state["messages"][3] = HumanMessage("other", id="3")
    return {"messages": []}


def rename(state):
    state["messages"][3].id = "renamed"
    return {"messages": [AIMessage("done")]}


def give_back(state):
    message = state["messages"][3]
    message.additional_kwargs["n"] = True
    return {"messages": [message]}


def give_back_a_copy(state):
    return {"messages": [state["messages"][3].model_copy(update={"content": "3", "additional_kwargs": {"n": True}})]}


def meddle_below(state):
    state["messages"][3].additional_kwargs["n"] = 1
    state["messages"][3].response_metadata = {"a": [1]}
    state["messages"].append(HumanMessage("lost"))
    del state["messages"][0]
    return {"messages": [AIMessage("done")]}


@pytest.mark.parametrize("node", [swap, rename, give_back, give_back_a_copy, meddle_below])
def test_warm_equals_cold_whatever_a_node_does_to_the_messages(saver, node):
    app = grown(saver, node)
    for _ in range(3):
        result = app.invoke({"messages": [HumanMessage("go")]}, CONFIG)
        result["messages"][5].content = "changed by the caller"
        result["messages"].pop()
        warm = saver.look(CONFIG)[0].checkpoint["channel_values"]["messages"]
        saver._memory.forget()
        cold = saver.look(CONFIG)[0].checkpoint["channel_values"]["messages"]
        assert list(map(dumps, warm)) == list(map(dumps, cold))
        assert list(map(dumps, app.get_state(CONFIG).values["messages"])) == list(map(dumps, cold))
        assert "changed by the caller" not in [message.content for message in cold]


def test_nothing_that_was_written_is_no_change():
    stored = Stored([AIMessage("a")])
    edit = stored.tracked.edited(stored.tracked.elements[:], Written(), encode)
    assert edit.parts == [(0, 1)]


def test_something_that_cannot_be_compared_is_something_else():
    first = AIMessage("a", id="1", additional_kwargs={"n": 1})
    tracked = Tracked([first], encode([first]))
    first.additional_kwargs["n"] = Odd()
    assert not tracked.is_untouched


def test_a_list_that_stands_on_one_that_somebody_has_put_anew_is_stored_as_it_is(tmp_path):
    path, one = str(tmp_path / "saver.db"), [f"text {number}" for number in range(40)]
    with SqliteSaver.from_conn_string(path) as saver, SqliteSaver.from_conn_string(path) as other:
        put(saver, "1", {"list": one})
        put(other, "1", {"list": ["another"] * 30})
        put(saver, "2", {"list": [*one, "new"]}, parent="1", versions={"list": 2})
        put(saver, "3", {"list": [*one, "new", "newer"]}, parent="2", versions={"list": 3})
        lists = [values_of(other, id)["list"] for id in "123"]
    assert lists == [["another"] * 30, [*one, "new"], [*one, "new", "newer"]]
