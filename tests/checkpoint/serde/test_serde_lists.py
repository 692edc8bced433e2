"""Encoded lists: put together, taken apart and loaded, they have the items that went into them."""

from datetime import UTC, datetime
from itertools import islice, permutations

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.blocks import is_block
from signoff.checkpoint.serde.codec import Codec, default_codec, dumps, loads
from signoff.checkpoint.serde.lists import MANY, joined, split
from signoff.errors import NotStorable, Undecodable

CODEC = default_codec()
quick = settings(max_examples=60)

texts = st.text(st.characters(exclude_categories=()), max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3) | st.tuples(inner),
    max_leaves=5,
)
named = st.dictionaries(texts, plain, max_size=2)


def as_call(args):
    return {"name": "t", "args": args, "id": "1"}


messages = st.one_of(
    st.builds(HumanMessage, texts, id=st.none() | texts),
    st.builds(HumanMessage, texts, odd=plain),
    st.builds(AIMessage, texts, additional_kwargs=named, name=texts),
    st.builds(AIMessage, texts, tool_calls=st.lists(st.builds(as_call, named))),
    st.builds(ToolMessage, texts, tool_call_id=texts, artifact=plain),
    st.builds(SystemMessage, st.lists(st.builds(lambda text: {"type": "text", "text": text}, texts), max_size=2)),
    st.builds(lambda id: RemoveMessage(id=id), texts),
)


def assert_same(found, expected):
    """Equal, and just as it was: a dict or a set of its own, fields in their order."""
    assert found == expected
    assert [type(one) for one in found] == [type(one) for one in expected]
    assert list(map(dumps, found)) == list(map(dumps, expected))
    for one, other in zip(found, expected, strict=True):
        if hasattr(other, "model_fields_set"):
            assert list(one.__dict__) == list(other.__dict__)
            assert one.model_fields_set == other.model_fields_set
            assert one.__pydantic_extra__ == other.__pydantic_extra__
            assert one.__pydantic_private__ == other.__pydantic_private__


@quick
@given(st.lists(messages, max_size=3 * MANY) | st.lists(messages | plain, max_size=3 * MANY))
def test_a_list_comes_back_as_it_went_in(items):
    encoded = list(map(dumps, items))
    data = joined(encoded)
    assert split(data) == encoded
    assert_same(loads(data), items)
    assert_same(CODEC.loads_lists([data])[0], items)


@settings(max_examples=20)  # each of them is large
@given(st.lists(st.lists(messages | plain, max_size=4) | st.lists(messages, min_size=MANY, max_size=20), max_size=6))
def test_lists_that_are_loaded_together_stay_apart(many):
    found = CODEC.loads_lists([joined(list(map(dumps, items))) for items in many])
    assert len(found) == len(many)
    for one, items in zip(found, many, strict=True):
        assert_same(one, items)


def test_many_messages_are_kept_as_a_block_which_takes_less():
    encoded = [dumps(AIMessage("text", id=str(number))) for number in range(64)]
    assert is_block(joined(encoded))
    assert len(joined(encoded)) < sum(map(len, encoded)) * 0.7
    assert not is_block(joined(encoded[: MANY - 1]))
    assert not is_block(joined([*encoded, dumps("text")]))


def test_messages_of_too_many_kinds_are_no_block():
    fields = {"content": "a", "id": "1", "name": "b", "type": "human", "additional_kwargs": {}, "response_metadata": {}}
    orders = [msgpack.packb(dict(order)) for order in islice(permutations(fields.items()), 300)]
    encoded = [wire.FORMAT + msgpack.packb(wire.ext(wire.MESSAGE, b"\x92\x01" + order)) for order in orders]
    assert not is_block(joined(encoded))
    assert is_block(joined(encoded[:200]))
    assert split(joined(encoded)) == encoded
    assert loads(joined(encoded)) == loads(joined(encoded[:200])) + loads(joined(encoded[200:]))
    assert loads(joined(encoded)) == [HumanMessage(**fields)] * 300


def test_what_messages_have_of_their_own_is_not_shared():
    data = joined([dumps(AIMessage("text")) for _ in range(2 * MANY)])
    first, second, *_ = loads(data)
    first.additional_kwargs["a"] = 1
    first.tool_calls.append(2)
    first.name = "b"
    first.more = "c"
    assert second == AIMessage("text")
    assert second.model_fields_set == AIMessage("text").model_fields_set
    assert loads(data)[0] == AIMessage("text")


def test_a_list_keeps_values_of_other_types_as_they_were():
    items = [AIMessage("a", additional_kwargs={"at": datetime(2024, 1, 1, tzinfo=UTC), "b": (1, 2)})] * MANY
    assert is_block(joined(list(map(dumps, items))))
    assert loads(joined(list(map(dumps, items)))) == items


def test_long_lists_are_loaded_one_by_one_within_the_limit():
    small = Codec(max_bytes=200)
    data = joined([dumps("a" * 50)] * 3)
    assert small.loads_lists([data, data]) == [["a" * 50] * 3] * 2


def block(*parts):
    return wire.FORMAT + msgpack.packb(wire.ext(wire.MESSAGES, msgpack.packb(list(parts))))


HUMAN = [1, ["content"], ["a", "b"]]
BROKEN = {
    "nothing": block(),
    "no order": block(None, HUMAN),
    "an order that is a text": block("\0\0", HUMAN),
    "an order that is a list": block([0, 0], HUMAN),
    "too few in the order": block(b"\0", HUMAN),
    "too many in the order": block(b"\0\0\0", HUMAN),
    "a group that is not there": block(b"\0\0\1", HUMAN),
    "a group without values": block(b"", [1, ["content"]]),
    "columns of different lengths": block(b"\0\0", [1, ["content", "id"], ["a", "b"], ["a"]]),
    "a column too few": block(b"\0\0", [1, ["content", "id"], ["a", "b"]]),
    "a column too many": block(b"\0\0", [1, ["content"], ["a", "b"], ["a", "b"]]),
    "a column that is a text": block(b"\0\0", [1, ["content"], "ab"]),
    "a column that is a dict": block(b"\0\0", [1, ["content"], {"a": 1, "b": 2}]),
    "a class that is not there": block(b"\0\0", [99, ["content"], ["a", "b"]]),
    "a class that is a text": block(b"\0\0", ["1", ["content"], ["a", "b"]]),
    "a class that is true": block(b"\0\0", [True, ["content"], ["a", "b"]]),
    "a field that is not there": block(b"\0\0", [1, ["content", "x"], ["a", "b"], ["a", "b"]]),
    "a field twice": block(b"\0\0", [1, ["content", "content"], ["a", "b"], ["a", "b"]]),
    "a field that is a number": block(b"\0\0", [1, ["content", 7], ["a", "b"], ["a", "b"]]),
    "a field that is a list": block(b"\0\0", [1, ["content", []], ["a", "b"], ["a", "b"]]),
    "no content": block(b"\0\0", [1, ["id"], ["a", "b"]]),
    "no fields": block(b"\0\0", [1, [], ["a", "b"]]),
    "names that are a text": block(b"\0", [1, "content", ["a"]]),
    "whole messages that are none": block(b"\0", [1, None, ["a"]]),
    "whole messages with too little": block(b"\0", [1, None, [[{"content": "a"}, []]]]),
    "whole messages with odd names": block(b"\0", [1, None, [[{"content": "a"}, [1], None, None]]]),
    "whole messages in two columns": block(b"\0", [1, None, [[]], [[]]]),
    "something behind it": block(b"\0\0", HUMAN) + b"\0",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_block_that_is_broken_is_refused(data):
    with pytest.raises(Undecodable):
        loads(data)
    with pytest.raises(Exception):  # noqa: B017 - whoever calls it asks again, one by one
        CODEC.loads_lists([data])


def test_a_block_cut_off_anywhere_or_with_any_byte_changed_is_refused_or_harmless():
    items = [AIMessage("a", id=str(number)) if number % 3 else HumanMessage("b", odd=1) for number in range(MANY)]
    data = joined(list(map(dumps, items)))
    assert is_block(data)
    for place in range(1, len(data)):
        with pytest.raises(Undecodable):
            loads(data[:place])
        for byte in (0x00, 0x7F, 0x81, 0x91, 0xC0, 0xC7, 0xDD, 0xFF, data[place] ^ 1):
            try:
                value = loads(data[:place] + bytes([byte]) + data[place + 1 :])
            except Undecodable:
                continue
            dumps(value)


NO_LISTS = [b"", b"\xc1", b"\x91\x01", b"\xc1\x01", b"\xc1\x91", b"\xc1\xdc\x00", b"\xc1\x91\x01\x01"]
NO_LISTS += [b"\xc1\xdd\xff\xff\xff\xff", b"\xc1\xc7", b"\xc1\xc7\x00\xd5"]


@pytest.mark.parametrize("data", NO_LISTS)
def test_what_is_no_list_is_not_taken_apart(data):
    with pytest.raises(Exception):  # noqa: B017 - whoever calls it says what is broken
        split(data)


@pytest.mark.parametrize("size", [1, 300, 70_000])
@pytest.mark.parametrize("wrap", [lambda item: item, lambda item: {"in": [item]}], ids=["alone", "inside"])
def test_what_a_quick_way_would_flatten_comes_back_as_it_was_among_many(size, wrap):
    items = [wrap(bytearray(size)), wrap(bytes(size)), "text"]
    assert repr([CODEC.loads(data) for data in CODEC.dumps_all(items)]) == repr(items)


def test_an_item_that_is_nested_too_deep_is_refused_among_many():
    deep = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(NotStorable, match="deep"):
        CODEC.dumps_all(["text", deep])
