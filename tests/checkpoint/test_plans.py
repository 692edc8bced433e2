"""What a database does with a plan: it writes all of one that fits, and nothing of one that does not."""

from contextlib import suppress

import pytest

from signoff.checkpoint.base import Lease
from signoff.checkpoint.log.backend import Cleanup, Hold
from signoff.checkpoint.log.plans import NewRow, NewWrite, Plan
from signoff.checkpoint.places import Place
from signoff.errors import LeaseLost
from signoff.testing.conformance._saver_words import T, at

ITEM = ("msgpack", b"\x01")


def row(id, parent=None, parent_seal=None, *, ns="", depth=0, seal=None):
    """A checkpoint whose seal is its id, and ten more, if not said."""
    return NewRow(ns, id, parent, parent_seal, depth, None, seal or 10 + int(id), f"body {id}".encode(), None)


def written(data, *, ns="", id="2", task="task", idx=0, replaces=False):
    return NewWrite(ns, id, task, idx, "path", data, replaces)


def plan_of(**parts):
    plan = Plan(T)
    for name, part in parts.items():
        setattr(plan, name, part)
    return plan


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def saver(request, openers):
    saver = openers[request.param]()
    saver.setup()
    rows = [row("1"), row("2", "1", 11, depth=1), row("3", "2", 12, depth=2), row("1", ns="n")]
    assert apply(saver, plan_of(rows=rows, writes=[written(b"x")], items=[(1, 0, [ITEM, ITEM])]))
    return saver


def apply(saver, plan, hold=None):
    return saver._run(saver._backend.apply([plan], hold))


def hold_of(saver):
    return Hold(Lease(T, "ana", saver.look(at("no such checkpoint"))[1].seen), False)


def all_of(saver):
    """Rows, writes and items, and the epoch."""
    found = []
    saver._run(saver._backend.inner.tidy(T, lambda everything: found.append(everything) or Cleanup(T)))
    [one] = found
    items = {lineage: 0 for lineage, *_ in one.items}
    for lineage, _, count, _ in one.items:
        items[lineage] += count
    rows = {(ns, id): (parent, seal, bytes(body)) for ns, id, parent, _, seal, body, *_ in one.rows}
    return rows, sorted(tuple(write[:5]) + (bytes(write[5]),) for write in one.writes), items, one.seen[0]


UNFIT = {
    "a checkpoint is there already": plan_of(rows=[row("2", seal=99)]),
    "another one than is replaced": plan_of(rows=[row("1", seal=98), row("2", seal=99)], replaced={("", "1")}),
    "one of that name is replaced elsewhere": plan_of(rows=[row("2", seal=99)], replaced={("n", "2"), ("", "1")}),
    "the parent is another one": plan_of(rows=[row("4", "3", 99)]),
    "the parent is not there": plan_of(rows=[row("4", "7", 17)]),
    "the parent is in another namespace": plan_of(rows=[row("4", "3", 13, ns="n")]),
    "the parent is new in another namespace": plan_of(rows=[row("5", ns="n"), row("6", "5", 15)]),
    "the parent of the second is another one": plan_of(rows=[row("4", "3", 13), row("5", "2", 99)]),
    "the task has written something else": plan_of(writes=[written(b"y")]),
    "items are to follow that are there": plan_of(items=[(1, 1, [ITEM])]),
    "items are to follow that are not there": plan_of(items=[(1, 3, [ITEM])]),
    "items of a list are to follow none": plan_of(items=[(1, 2, [ITEM]), (2, 1, [ITEM])]),
}


@pytest.mark.parametrize("what", UNFIT)
def test_of_a_plan_that_does_not_fit_nothing_is_written(saver, what):
    before, hold = all_of(saver), hold_of(saver)
    assert not apply(saver, UNFIT[what])
    assert not apply(saver, UNFIT[what], hold), "another one is made: nobody else has the thread"
    assert (all_of(saver), hold.lease.epoch) == (before, 0)


def test_all_of_a_plan_that_fits_is_written(saver):
    rows, _, _, before = all_of(saver)
    new = [row("4", "3", 13), row("5", "4", 14), row("6", "4", 14), row("4", ns="n"), row("1", ns="n", seal=99)]
    items = [(1, 2, [ITEM]), (2, 0, [ITEM, ITEM]), (1, 3, [ITEM])]
    hold = hold_of(saver)
    plan = plan_of(rows=new, replaced={("n", "1")}, writes=[written(b"y", replaces=True)], items=items)
    assert apply(saver, plan, hold)
    stored = {**rows, **{(one.ns, one.id): (one.parent_id, one.seal, one.body) for one in new}}
    assert all_of(saver) == (stored, [("", "2", "task", 0, "path", b"y")], {1: 4, 2: 2}, hold.lease.epoch)
    assert hold.lease.epoch > (before or 0)


def test_writes_and_items_of_others_are_not_in_the_way(saver):
    beside = [written(b"y", ns="n"), written(b"y", id="1"), written(b"y", task="other"), written(b"y", idx=1)]
    for plan in (
        *(plan_of(writes=[one]) for one in beside),
        *(plan_of(items=[(1, start, [ITEM])]) for start in (2, 3)),
    ):
        assert apply(saver, plan)
    assert all_of(saver)[1:3] == (sorted(one[:6] for one in [written(b"x"), *beside]), {1: 4})


@pytest.mark.parametrize("saver", ["sqlite", "postgres"], indirect=True)
def test_a_step_is_written_on_what_it_stands_on_by_whoever_has_the_thread(saver):
    append, hold = saver._backend.append_row, hold_of(saver)
    assert apply(saver, Plan(T), hold)
    before = all_of(saver)
    for wrong in (row("4", "3", 99), row("4", "7", 17), row("4", "3", 13, ns="n"), row("3", "2", 12, seal=99)):
        assert not saver._run(append(T, wrong, hold.lease))
    with suppress(LeaseLost):
        assert not saver._run(append(T, row("4", "3", 13), Lease(T, "bo", None, hold.lease.epoch + 1)))
    assert all_of(saver) == before
    assert saver._run(append(T, row("4", "3", 13), hold.lease))
    assert all_of(saver)[0] == {**before[0], ("", "4"): ("3", 14, b"body 4")}


def test_what_is_known_already_is_not_read_again(saver):
    def read(seal):
        return [one[0] for one in saver._run(saver._backend.fetch(Place(T, "", None), seal)).rows]

    assert [read(seal) for seal in (None, 13, 99)] == [["3", "2", "1"], ["3"], ["3", "2", "1"]]
