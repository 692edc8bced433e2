"""Ids and paths are stored shorter than they are, and come back as they were."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.checkpoint.ids import uuid6
from signoff.checkpoint.log import shortening
from signoff.checkpoint.log.shortening import (
    id_of_bytes,
    id_to_bytes,
    long_id,
    long_path,
    long_task,
    short_id,
    short_path,
    short_task,
)
from signoff.errors import Undecodable
from signoff.testing.conformance._saver_words import at, ids, put

UUIDS = st.integers(0, 2**128 - 1).map(lambda number: str(UUID(int=number)))
TEXTS = (
    st.text(st.characters(exclude_categories=["Cs"]))
    | UUIDS.map(str.upper)
    | UUIDS.map(lambda id: f"~{id}")
    | st.text("~:0a-", max_size=40)
)
TEXTS |= UUIDS.map(lambda id: id[:8] + "~" + id[20:]) | UUIDS.map(lambda id: "Zé" + id[2:])


class Forgetful(dict):
    def __setitem__(self, short, id): ...


@pytest.fixture(autouse=True, scope="module")
def unremembered():
    """What is read is worked out, though this process has stored it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortening, "_long", Forgetful())
        yield


@given(UUIDS | TEXTS)
def test_an_id_comes_back_as_it_was(id):
    assert long_id(short_id(id)) == id
    assert id_of_bytes(id_to_bytes(short_id(id))) == short_id(id)


@given(st.text(min_size=12, max_size=12), UUIDS)
def test_the_id_of_a_task_that_begins_like_that_of_its_checkpoint_comes_back_as_it_was(end, checkpoint_id):
    task_id = checkpoint_id[:24] + end
    assert long_task(short_task(task_id, checkpoint_id), checkpoint_id) == task_id


@given(UUIDS | TEXTS, UUIDS | TEXTS)
def test_the_id_of_a_task_and_its_path_come_back_as_they_were(task_id, checkpoint_id):
    assert long_task(short_task(task_id, checkpoint_id), checkpoint_id) == task_id
    assert long_path(short_path(task_id)) == task_id


@given(st.lists(UUIDS | TEXTS, min_size=2, max_size=2, unique_by=lambda id: id[:8]) | st.lists(UUIDS, min_size=2))
def test_ids_keep_their_order(several):
    assert sorted(several, key=str.encode) == sorted(several, key=lambda id: short_id(id).encode())


def test_an_id_with_half_a_surrogate_pair_comes_back_as_it_was():
    assert id_of_bytes(id_to_bytes("\ud800")) == "\ud800"


@given(st.lists(UUIDS | TEXTS, min_size=2, max_size=2, unique_by=lambda id: id[:2]) | st.lists(UUIDS, min_size=2))
def test_ids_keep_their_order_as_bytes(several):
    assert sorted(several, key=str.encode) == sorted(several, key=lambda id: id_to_bytes(short_id(id)))


def test_what_the_engine_makes_is_short():
    checkpoint_id = uuid6()
    assert (len(short_id(checkpoint_id)), len(id_to_bytes(short_id(checkpoint_id)))) == (25, 18)
    assert short_task(checkpoint_id[:24] + "6fd22ab365c3", checkpoint_id) == "~:b9Iqs2XD"
    assert short_task(checkpoint_id[:24] + "6fd22ab365cx", checkpoint_id) == "~:6fd22ab365cx"
    assert short_path("__pregel_pull~say") == "~:say"


@pytest.mark.parametrize("broken", ["12345678~" + rest for rest in ("", "abc", "é" * 16, "!" * 16, "a" * 20)])
def test_a_broken_id_is_named(broken):
    with pytest.raises(Undecodable, match="broken"):
        long_id(broken)


@pytest.mark.parametrize("broken", [b"\xff", b"1f\xff", b"1f\xffabc" + bytes(3), b"\xff\xff\xff" + bytes(15)])
def test_broken_bytes_of_an_id_are_named(broken):
    with pytest.raises(Undecodable, match="broken"):
        long_id(id_of_bytes(broken))


def test_ids_of_both_kinds_live_in_one_thread(open_saver):
    saver, made = open_saver(), [uuid6() for _ in range(3)]
    for id in [*made, "~", "~~", "~:x", "0"]:
        put(saver, id, {"a": id})
    assert set(ids(saver.list(at()))) == {*made, "~", "~~", "~:x", "0"}
    assert [id for id in ids(saver.list(at())) if id in made] == made[::-1]
    assert all(saver.get_tuple(at(id)).checkpoint["channel_values"] == {"a": id} for id in [*made, "~", "~~", "~:x"])
