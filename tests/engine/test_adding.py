"""What many tasks of a step add to a list is put together at once. It is what it would be one by one."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.channels import BinaryOperatorAggregate
from signoff.errors import InvalidUpdateError
from signoff.types import Overwrite


class Backwards(list[Any]):
    """A list that is added in front."""

    def __radd__(self, before: list[Any]) -> list[Any]:
        return [*self, *before]


LISTS = st.lists(st.integers(), max_size=3)


@given(LISTS | LISTS.map(Backwards), st.lists(LISTS | LISTS.map(Backwards), max_size=30))
def test_many_writes_come_to_what_they_come_to_one_by_one(stored: Any, writes: Sequence[Any]) -> None:
    assert BinaryOperatorAggregate(list, add).fold(stored, writes) == reduce(add, writes, stored)


@pytest.mark.parametrize("size", [2, 30])
def test_what_was_stored_and_what_was_written_stay_as_they_are(size: int) -> None:
    stored, writes = [0], [[1] for _ in range(size)]
    assert BinaryOperatorAggregate(list, add).fold(stored, writes) == [0] + [1] * size
    assert (stored, writes) == ([0], [[1]] * size)


def test_an_overwrite_among_many_is_heard() -> None:
    lists: list[Any] = [[1]] * 30
    assert BinaryOperatorAggregate(list, add).fold([0], [*lists, Overwrite([7]), *lists]) == [7]
    with pytest.raises(InvalidUpdateError, match="one Overwrite"):
        BinaryOperatorAggregate(list, add).fold([0], [*lists, Overwrite([7]), Overwrite([8])])


def test_what_cannot_be_added_is_refused_among_many() -> None:
    with pytest.raises(TypeError, match="tuple"):
        BinaryOperatorAggregate(list, add).fold([0], [*[[1]] * 30, (2,)])
