"""What tasks wrote, kept in order as it comes."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.checkpoint.memory import written
from signoff.checkpoint.memory.written import Written
from signoff.constants import INTERRUPT

channels = st.sampled_from(["x", "y", INTERRUPT])
tasks = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["", "1", "2~3"]), min_size=1)


@st.composite
def records(draw):
    """What some tasks write, each on its own path, in several goes."""
    paths = draw(tasks)
    writes = st.lists(st.tuples(channels, st.integers(0, 9)), max_size=3, unique_by=lambda write: write[0])
    goes = draw(st.lists(st.tuples(st.sampled_from(sorted(paths)), writes), max_size=8))
    return [(task, told, paths[task]) for task, told in goes]


@given(records(), st.integers(0, 8))
def test_what_comes_in_parts_is_in_the_same_order_as_what_comes_at_once(told, first):
    in_parts = Written(told[:first])
    for record in told[first:]:
        in_parts.add([record])
    paths = {task: path for task, _, path in told}
    assert list(in_parts) == list(Written(told))
    assert [(paths[task], task) for task, *_ in in_parts] == sorted((paths[task], task) for task, *_ in in_parts)


@given(records())
def test_to_add_a_thing_twice_is_as_to_add_it_once(told):
    once, twice = Written(()), Written(())
    for record in told:
        once.add([record])
        twice.add([record])
        twice.add([record])
    assert list(once) == list(twice)


@given(records(), st.integers(0, 8))
def test_what_a_signal_has_cut_off_is_whole_when_it_is_added_again(told, place):
    def cut_off(order, entry):
        raise KeyboardInterrupt

    whole, cut = Written(told), Written(told[:place])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written, "bisect_left", cut_off)
        with suppress(KeyboardInterrupt):
            cut.add(told[place:])
    cut.add(told[place:])
    assert list(cut) == list(whole)


def test_a_question_is_replaced_and_a_result_stays():
    one = Written([("a", [("x", 2)], ""), ("a", [(INTERRUPT, 1)], "")])
    one.add([("a", [(INTERRUPT, 3)], ""), ("a", [("x", 4)], "")])
    assert list(one) == [("a", INTERRUPT, 3), ("a", "x", 2)]


def test_what_is_added_to_a_copy_is_in_the_copy_alone():
    one = Written([("a", [("x", 1)], "")])
    other = one.copy()
    other.add([("b", [("x", 2)], "")])
    assert (list(one), len(list(other))) == ([("a", "x", 1)], 2)
