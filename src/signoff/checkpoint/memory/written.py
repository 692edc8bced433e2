"""What tasks wrote since a checkpoint, kept in order: an answer among many questions is added, and not sorted in."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any

from signoff.checkpoint.base import WRITES_IDX_MAP, PendingWrite

__all__ = ["Written"]

Entry = tuple[str, str, tuple[PendingWrite, ...], tuple[int, ...]]
"""(path, task id, its writes as (task id, channel, value), their indexes in order): so they can be sorted"""

_writes_of = itemgetter(2)


class Written:
    """The writes of tasks, in the order of their paths.

    What a task writes twice is kept once, but questions, answers and errors are replaced. To add a thing twice is as to
    add it once: a signal may be heard in between.
    """

    __slots__ = ("_by_task", "_order")

    def __init__(self, records: Iterable[Any]) -> None:
        self._by_task: dict[str, Entry] = {}
        self._merged(records)
        self._order = sorted(self._by_task.values())

    def __iter__(self) -> Iterator[PendingWrite]:
        return chain.from_iterable(map(_writes_of, self._order))

    def add(self, records: Iterable[Any]) -> None:
        """Add (task id, writes, path) each."""
        order = self._order
        for entry in self._merged(records):
            place = bisect_left(order, entry[:2])
            if place < len(order) and order[place][1] == entry[1]:
                order[place] = entry
            else:
                order.insert(place, entry)

    def copy(self) -> "Written":
        """The same, to which other things may be added."""
        other = Written(())
        other._by_task, other._order = self._by_task.copy(), self._order.copy()
        return other

    def _merged(self, records: Iterable[Any]) -> list[Entry]:
        """What the tasks of some records have written by now."""
        by_task, entries = self._by_task, []
        for task_id, writes, path in records:
            indexed = {
                WRITES_IDX_MAP.get(channel, index): (task_id, channel, value)
                for index, (channel, value) in enumerate(writes)
            }
            known = by_task.get(task_id)
            if known is not None:
                path, _, written, indexes = known
                before = dict(zip(indexes, written, strict=True))
                indexed = before | {index: one for index, one in indexed.items() if index < 0 or index not in before}
            if len(indexed) > 1:
                indexed = dict(sorted(indexed.items()))
            by_task[task_id] = entry = path, task_id, (*indexed.values(),), (*indexed,)
            entries.append(entry)
        return entries
