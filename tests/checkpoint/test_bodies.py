"""A body leaves out what goes without saying, and comes back whole."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.checkpoint.base import Moment
from signoff.checkpoint.encoding import packed as pack
from signoff.checkpoint.ids import as_text, is_time_in, stamp, time_in, uuid6
from signoff.checkpoint.log.body import Changes, packed, packed_step, unpacked
from signoff.checkpoint.log.heads import head_of, metadata_of, packed_head, packed_metadata, packed_moment
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.errors import Undecodable

SERDE = JsonPlusSerializer()
NAMES = st.lists(
    st.sampled_from(["a", "b", "__start__", "branch:to:a", "branch:to:b", "branch:to:__start__"]), unique=True
)
BLOB = ("msgpack", b"\xc1\x01")
SOURCES = st.sampled_from(["loop", "input", "update", "fork", "other", ""])


def moment(writers, updated, changed, gone, source="loop", after_ns=0):
    id, at = stamp()
    values = dict.fromkeys(changed, BLOB)
    told = Moment(id, at + after_ns, source, 3, values, tuple(gone), 7, tuple(updated), writers, (), ({}, {}), None)
    return told, values


@given(NAMES, NAMES, NAMES, NAMES, SOURCES, st.sampled_from([0, 10**9, -(10**9)]), st.booleans())
def test_a_step_comes_back_as_it_was(writers, updated, changed, gone, source, after_ns, is_usual):
    if is_usual:
        updated, gone = changed, [f"branch:to:{name}" for name in writers]
    told, values = moment(writers, updated, changed, gone, source, after_ns)
    body = unpacked(packed_step(told, values))
    assert metadata_of(body.metadata) == told.metadata()
    heading = told.heading()
    assert head_of(SERDE, body.head, heading.pop("id")) == heading
    changes = Changes(dict.fromkeys(values, 7), values, tuple(gone), tuple(gone))
    assert body.changes == changes
    metadata, head, _ = packed_moment(SERDE, told)
    again = packed(metadata, head, changes)
    assert (again, packed(*body)) == (packed_step(told, values),) * 2


@given(NAMES, NAMES, NAMES, NAMES, NAMES, SOURCES, st.sampled_from([3, 4, 5]), st.booleans())
def test_a_checkpoint_comes_back_as_it_was(writers, updated, changed, gone, unversioned, source, v, is_now):
    id, at = stamp()
    ts = as_text(at) if is_now else "2020-02-02T02:02:02.000000+00:00"
    rest = {"v": v, "ts": ts, "versions_seen": {}, "updated_channels": updated, "writers": writers}
    how = {"source": source, "step": 1, "parents": {}}
    changes = Changes(dict.fromkeys(changed, 1.5), dict.fromkeys(changed, BLOB), tuple(unversioned), tuple(gone))
    body = unpacked(packed(packed_metadata(how), packed_head(SERDE, {**rest, "id": id}), changes))
    assert (metadata_of(body.metadata), head_of(SERDE, body.head, id), body.changes) == (how, rest, changes)


@pytest.mark.parametrize("ts", [None, "", "yesterday", 7])
def test_a_time_that_is_none_comes_back_as_it_was(ts):
    rest = {"v": 4, "ts": ts, "versions_seen": {}, "updated_channels": [], "writers": []}
    body = unpacked(packed(1, packed_head(SERDE, {**rest, "id": uuid6()}), Changes({}, {})))
    assert head_of(SERDE, body.head, uuid6()) == rest


def test_the_body_of_a_usual_step_is_short():
    told, values = moment(["a"], ["b"], ["b"], ["branch:to:a"])
    assert len(packed_step(told, values)) <= len(pack((1, 3, "a", 7, values, True)))


@pytest.mark.parametrize("head", [7, (), (4, 5, [], []), ((7,),), (("a",), 1, 7), (({},),), {}, None])
def test_a_broken_head_is_said_to_be_broken(head):
    with pytest.raises(Undecodable, match="broken"):
        head_of(SERDE, unpacked(pack((1, 3, head, 7, {}))).head, uuid6())


def test_what_is_gone_needs_the_writers():
    with pytest.raises(Undecodable, match="broken"):
        unpacked(pack((1, 3, ("msgpack", b""), 7, {}, True)))


def test_an_id_has_its_time_in_it():
    id, at = stamp()
    assert is_time_in(id, at)
    assert not is_time_in(id, at + 2000)
    assert abs(time_in(uuid6()) / 1e6 - datetime.now(UTC).timestamp()) < 60
    assert time_in("some id") is None
    with pytest.raises(Undecodable):
        head_of(SERDE, unpacked(pack((1, 3, "a", 7, {}))).head, "some id")
