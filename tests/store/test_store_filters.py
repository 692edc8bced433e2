"""The filter rule, on plain values."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.errors import InvalidInput
from signoff.store._filters import check_filter, passes, spelt_in
from signoff.store._values import encoded

# The machine may be slow; the promise is not about time.
patient = settings(suppress_health_check=[HealthCheck.too_slow])

VALUES = {
    "text": {"a": "x"},
    "one": {"a": 1},
    "float": {"a": 2.5},
    "true": {"a": True},
    "zero": {"a": 0},
    "none": {"a": None},
    "missing": {"b": 1},
    "list": {"a": [1, 2]},
    "dict": {"a": {"b": 1, "c": "q"}},
    "deep": {"a": {"b": {"c": 5}}},
    "ten": {"a": "10"},
    "date": {"a": "2024-05-01"},
    "dotted": {"a.b": 1},
    "dicts": {"a": [{"x": 1, "y": 2}, {"x": 3}]},
}


@pytest.mark.parametrize(
    ("filter", "passing"),
    [
        ({"a": "x"}, "text"),
        ({"a": 1}, "one true"),
        ({"a": None}, "none missing dotted"),
        ({"a": [1, 2]}, "list"),
        ({"a": (1, 2)}, "list"),
        ({"a": [1]}, ""),
        ({"a": 1, "b": 1}, ""),
        ({"a": {"b": 1}}, "dict"),
        ({"a": {}}, "dict deep"),
        ({"a": {"b": {"c": {"$gt": 4}}}}, "deep"),
        ({"a": [{"x": 1}, {"x": {"$gt": 2}}]}, "dicts"),
        ({"a.b": 1}, "dict dotted"),
        ({"a.b.c": 5}, "deep"),
        ({"a": {"$eq": "x"}}, "text"),
        ({"a": {"$eq": [1, 2]}}, "list"),
        ({"a": {"$eq": {"b": 1}}}, ""),
        ({"b": {"$ne": 1}}, "text one float true zero none list dict deep ten date dotted dicts"),
        ({"a": {"$gt": 1}}, "float ten"),
        ({"a": {"$gte": 1}}, "one float true ten"),
        ({"a": {"$lt": 1}}, "zero"),
        ({"a": {"$lte": 1}}, "one true zero"),
        ({"a": {"$gt": 0, "$lt": 3}}, "one float true"),
        ({"a": {"$gt": "9"}}, "text ten"),
        ({"a": {"$gte": "2024-01-01", "$lt": "2025-01-01"}}, "date"),
        ({}, " ".join(VALUES)),
        (None, " ".join(VALUES)),
    ],
    ids=str,
)
def test_a_filter_lets_pass(filter, passing):
    check_filter(filter)
    assert [name for name, value in VALUES.items() if passes(value, filter)] == passing.split()


@pytest.mark.parametrize(
    "filter",
    [
        "a",
        [("a", 1)],
        {1: 1},
        {"": 1},
        {"$and": [{"a": 1}]},
        {"a": {"$in": [1]}},
        {"a": {"$gt": 1, "b": 1}},
        {"a": {"b": {"$regex": "x"}}},
        {"a": [{"$bogus": 1}]},
        {"a": {"$gt": None}},
        {"a": {"$lt": [1]}},
        {"a": {"b'": 1}},
        {"a') = '' OR ('1": 1},
        {'a"': 1},
        {"a[0]": 1},
    ],
    ids=str,
)
def test_a_filter_with_a_mistake_is_refused(filter):
    with pytest.raises(InvalidInput):
        check_filter(filter)


def test_the_error_names_the_operators_there_are():
    with pytest.raises(ValueError, match=r"The filter for 'a' has '\$in' .* use \$eq, \$ne, \$gt"):
        check_filter({"a": {"$in": [1]}})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@patient
@given(st.dictionaries(st.sampled_from("abc"), json_values, max_size=3))
def test_every_value_passes_itself_as_a_filter(value):
    check_filter(value)
    assert passes(value, value)


fields = st.dictionaries(st.sampled_from("abc"), json_values, max_size=3)
operators = st.dictionaries(st.sampled_from(["$eq", "$ne"]), st.text(max_size=2), min_size=1)
filters = st.dictionaries(st.sampled_from("abc"), json_values | operators, max_size=3)


@patient
@given(fields, filters | st.none())
def test_what_passes_has_in_it_what_the_filter_spells(value, filter):
    assert _has_what_is_spelt(value, value)
    if passes(value, filter):
        assert _has_what_is_spelt(value, filter)


def _has_what_is_spelt(value, filter):
    return _spells(encoded(value, "key"), filter)


def _spells(stored, filter):
    return all(any(text in stored for text in texts) for texts in spelt_in(filter))


numbers = st.integers(-(10**18), 10**18) | st.floats() | st.sampled_from([0, 1, 0.0, -0.0, 1.0, True, False, 1e15, 0.1])


@patient
@given(numbers, numbers, st.sampled_from([int, float, bool]))
def test_a_number_that_passes_is_spelt_alike(wanted, stored, kind):
    values = [stored] if math.isinf(wanted) or math.isnan(wanted) else [stored, kind(wanted), wanted]
    for value in ({"a": number} for number in values):
        if passes(value, {"a": wanted}):
            assert _has_what_is_spelt(value, {"a": wanted})


names = st.sampled_from(["a", "ä", "a.b", "ä.b", "b"])
texts = st.text(max_size=3) | st.sampled_from(["ä", "😀", "\ud83d", "\ude00", "\u2028", "\x00", '"', "\\"])
inside = st.dictionaries(
    names, texts | st.booleans() | st.dictionaries(names, texts | st.sampled_from([0, 1]), max_size=2)
)


@patient
@given(inside, names, texts | st.sampled_from([0, 1]), st.booleans())
def test_texts_that_are_not_ascii_and_paths_are_spelt_in_every_way(value, key, wanted, is_split):
    put = {**value, **(_split(key, wanted) if is_split else {key: wanted})}
    stored = encoded(put, "key")
    for filter in ({key: wanted}, {key: {"$eq": wanted}}, put):
        if passes(json.loads(stored), filter):
            assert _spells(stored, filter)
        assert all(text.encode() for texts in spelt_in(filter) for text in texts)


def _split(key, wanted):
    for name in reversed(key.split(".")):
        wanted = {name: wanted}
    return wanted


def test_a_filter_spells_its_texts_and_numbers():
    asked = {"a": "open", "b": {"c": ["d"]}, "e": {"$eq": "f"}, "g": -5, "h.i": 2.5}
    first = [['"a": "open"'], ['"d"'], ['"e": "f"'], ['"g": -5']]
    assert spelt_in(asked) == [*first, ['"h.i": 2.5', '"i": 2.5']]
    assert spelt_in({"a": 0, "b": True}) == [['"a": 0', '"a": -0', '"a": false'], ['"b": 1', '"b": true']]
    assert spelt_in({"a": "ä"}) == [['"a": "ä"', '"a": "\\u00e4"']]
    assert spelt_in({"a": {"$ne": "open"}, "b": {"$gt": "c"}, "e": None, "g": 10**20, "h": [0, 1]}) == []


@patient
@given(json_values, st.integers() | st.floats(allow_nan=False) | st.text(max_size=5))
def test_exactly_one_of_less_equal_and_more_holds_or_there_is_no_order(actual, operand):
    value = {"a": actual}
    holds = [passes(value, {"a": {name: operand}}) for name in ("$lt", "$gte", "$gt", "$lte")]
    assert holds in (
        [True, False, False, True],
        [False, True, True, False],
        [False, True, False, True],
        [False] * 4,
    )
