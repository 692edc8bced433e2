"""Lanes: by which a database knows a write that is sent a second time."""

from forking import said_by_child
from signoff.store._lanes import LANES, Lanes


def test_a_lane_has_one_write_at_a_time_and_numbers_them():
    lanes = Lanes()
    one, other = lanes.take(), lanes.take()
    assert one.name != other.name
    lanes.give(one)
    assert lanes.take() == (one.name, one.number + 1)


def test_a_forked_child_has_lanes_of_its_own():
    LANES.give(LANES.take())
    free = {lane.name for lane in LANES._free}
    assert said_by_child(lambda: str(LANES.take().name in free)) == "False"
    assert LANES.take().name in free
