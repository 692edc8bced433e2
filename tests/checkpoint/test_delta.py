"""Deltas, folded: what a checkpoint changed, and what it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.checkpoint.delta import NOTHING, Delta, Shape, between, folded, packed, unpacked
from signoff.errors import Undecodable

names = st.text(st.characters(), max_size=3)
versions = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False), st.text(max_size=3))
blobs = st.tuples(st.sampled_from(["msgpack", "null", "mine"]), st.binary(max_size=4))
states = st.tuples(st.dictionaries(names, versions, max_size=4), st.dictionaries(names, blobs, max_size=4)).map(
    lambda parts: Delta(*parts)
)


@given(history=st.lists(states, min_size=1, max_size=6))
def test_a_chain_of_packed_deltas_folds_to_the_last_state(history):
    before, chain = NOTHING, []
    for state in history:
        chain.append(packed(between(before, state.shape, dict(state.values), lambda name: ("wrong", b""))))
        before = state.shape
    assert folded(map(unpacked, chain)) == history[-1]


def shape(**channels):
    return Shape({name: version for name, version in channels.items() if version}, frozenset(channels))


def test_only_what_is_new_or_was_called_changed_is_in_a_delta():
    before = shape(same=1, newer=1, gone=1, told=1)
    after = shape(same=1, newer=2, told=1, extra=1)
    delta = between(before, after, {"told": ("t", b"")}, lambda name: ("e", name.encode()))
    assert delta.versions == {"newer": 2, "extra": 1}
    assert delta.values == {"told": ("t", b""), "newer": ("e", b"newer"), "extra": ("e", b"extra")}
    assert (set(delta.unversioned), set(delta.gone)) == ({"gone"}, {"gone"})


def test_a_channel_that_loses_its_version_keeps_its_own_value():
    delta = between(shape(a=1), shape(a=None), {}, lambda name: ("e", b"new"))
    assert (delta.values, delta.unversioned, delta.gone) == ({"a": ("e", b"new")}, ("a",), ())


def test_equal_checkpoints_have_an_empty_delta():
    delta = between(shape(a=1, b=2), shape(a=1, b=2), {}, lambda name: pytest.fail("nothing is to be encoded"))
    assert delta == Delta({}, {}, (), ())


def test_a_large_delta_is_packed_like_a_small_one():
    for size in (10, 100_000, 10):
        state = Delta({"a": 1}, {"a": ("msgpack", b"x" * size)})
        assert folded([unpacked(packed(state))]) == state


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x95",
        b"\x01",
        b"\x90",
        b"\xa3abc",
        b"\x95\xc3\x80\x80\x90\x90",
        b"\x95\x00\x80\x80\x90\x90",
        b"\x94\x01\x80\x80\x90",
        b"\x95\x01\x80\x80\x90\x90\x00",
        None,
        "text",
        7,
    ],
    ids=repr,
)
def test_bytes_that_are_no_delta_are_refused(data):
    with pytest.raises(Undecodable, match="broken or were changed"):
        unpacked(data)


@pytest.mark.parametrize(
    "delta",
    [
        Delta(None, {}),
        Delta({}, 7),
        Delta({}, {}, 7),
        Delta({"a": 1}, {}, ({},)),
        Delta({"a": None}, {}),
        Delta({"a": (1,)}, {}),
        Delta({b"a": 1}, {}),
        Delta({}, {"a": b""}),
        Delta({}, {"a": ("tag", "text")}),
        Delta({}, {"a": ("tag", b"", b"")}),
        Delta({}, {b"a": ("tag", b"")}),
    ],
    ids=repr,
)
def test_what_has_the_form_of_a_delta_but_not_its_contents_is_refused(delta):
    with pytest.raises(Undecodable, match="broken or were changed"):
        folded([delta])


def test_a_later_format_is_named():
    with pytest.raises(Undecodable, match="format 2.*upgrade"):
        unpacked(b"\x91\x02")
