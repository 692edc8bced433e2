"""Random values come back equal; random bytes are refused or harmless."""

import math
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from signoff.checkpoint.serde import register, wire
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.checkpoint.serde.levels import MAX_DEPTH
from signoff.errors import NotStorable, Undecodable

quick = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
CODES = [code for name, code in vars(wire).items() if name.isupper() and isinstance(code, int)]


@register
@dataclass
class Node:
    value: Any
    children: Any


any_text = st.text(st.characters(exclude_categories=()))
zones = st.one_of(
    st.none(), st.just(UTC), st.sampled_from([ZoneInfo("Europe/Paris"), ZoneInfo("America/New_York")]),
    st.builds(timezone, st.timedeltas(min_value=timedelta(hours=-23), max_value=timedelta(hours=23))),
)  # fmt: skip

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**200), max_value=2**200),
    st.floats(allow_nan=False),
    any_text,
    st.binary(),
    st.binary().map(bytearray),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.complex_numbers(allow_nan=False),
    st.uuids(),
    st.datetimes(timezones=zones),
    st.dates(),
    st.times(timezones=st.just(UTC) | st.none()),
    st.timedeltas(),
    st.ip_addresses(),
)
hashable = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), any_text, st.binary(), st.uuids(),
    st.tuples(st.integers(), any_text), st.frozensets(st.integers()), st.dates(),
)  # fmt: skip


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=5)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(deque),
        st.dictionaries(hashable, inner, max_size=5),
        st.dictionaries(any_text, inner, max_size=5).map(OrderedDict),
        st.sets(hashable, max_size=5),
        st.builds(Node, inner, lists),
        st.builds(HumanMessage, any_text),
        st.builds(AIMessage, any_text, additional_kwargs=st.dictionaries(any_text, inner, max_size=2)),
        st.builds(ToolMessage, any_text, tool_call_id=any_text, artifact=inner),
    )


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | any_text | st.binary(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(any_text | st.integers(), inner, max_size=6),
    max_leaves=40,
)
anything = st.recursive(leaves, containers, max_leaves=20)


def shape(value: Any) -> Any:
    """The exact types of a value and its parts, which `==` does not see."""
    if isinstance(value, dict):
        return type(value), [(shape(key), shape(item)) for key, item in value.items()]
    if isinstance(value, list | tuple | deque):
        return type(value), [shape(item) for item in value]
    if isinstance(value, float | Decimal):
        return type(value), str(value), math.copysign(1, value)
    return type(value)


@quick
@given(plain)
def test_plain_values_come_back(value):
    loaded = loads(dumps(value))
    assert loaded == value
    assert shape(loaded) == shape(value)


@quick
@given(anything)
def test_values_of_all_sorts_come_back(value):
    data = dumps(value)
    loaded = loads(data)
    assert loaded == value
    assert shape(loaded) == shape(value)
    assert dumps(loaded) == data


@quick
@given(st.lists(anything | st.binary(max_size=3).map(bytearray), max_size=6))
def test_values_that_are_stored_together_are_stored_as_each_by_itself(values):
    serde = JsonPlusSerializer()
    blobs = serde.dumps_all(values)
    assert blobs == [serde.dumps_typed(value) for value in values]
    assert shape(serde.loads_all(blobs)) == shape(values)


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1])
def test_values_that_are_stored_together_may_be_as_deep_as_each_by_itself(depth):
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    serde = JsonPlusSerializer()
    if depth <= MAX_DEPTH:
        assert serde.loads_all(serde.dumps_all([1, value])) == [1, value]
    else:
        with pytest.raises(NotStorable, match="nested more than"):
            serde.dumps_all([1, value])


def assert_harmless(data: bytes) -> None:
    try:
        loads(data)
    except Undecodable:
        pass


@settings(quick, max_examples=300)
@given(st.binary(max_size=300))
def test_random_bytes_are_harmless(data):
    assert_harmless(wire.FORMAT + data)


def as_extension(code: int, state: Any) -> Any:
    return wire.ext(code, msgpack.packb(state, unicode_errors="surrogatepass"))


words = st.sampled_from(["builtins:ValueError", f"{__name__}:Node", "content", "value", "children", "<i4", "C", "int"])
typed = st.recursive(
    st.none() | st.integers(-5, 300) | st.floats() | st.text(max_size=5) | st.binary(max_size=9) | words,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.text(max_size=3) | words, inner, max_size=4),
        st.builds(as_extension, st.sampled_from(CODES), inner),
    ),
    max_leaves=15,
)  # fmt: skip


@settings(quick, max_examples=350)
@given(st.sampled_from(CODES), typed)
def test_random_payloads_under_our_codes_are_harmless(code, state):
    assert_harmless(wire.FORMAT + msgpack.packb(as_extension(code, state)))


@settings(quick, max_examples=300)
@given(anything, st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=4), st.integers(0, 3)), max_size=4))
def test_stored_bytes_with_random_changes_are_harmless(value, changes):
    data = dumps(value)
    for place, inserted, deleted in changes:
        place %= len(data) + 1
        data = data[:place] + inserted + data[place + deleted :]
    assert_harmless(data)
    assert_harmless(wire.FORMAT + data[1:])
