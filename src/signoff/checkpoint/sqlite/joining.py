"""Rows of items, put together: a list that grew item by item is read as a few long rows, not as many short ones.

Whenever a list has filled a block, the rows of the block become one, in the same transaction; and once more, when there
are as many of those as make a longer one. What is in them stays the same, and so does the number of each item.
"""

from collections.abc import Sequence
from itertools import chain

from signoff._sqlite.effects import Execute, Row
from signoff.checkpoint.log.plans import Plan
from signoff.checkpoint.log.values import is_usual_row, packed_items, unpacked_items
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["BLOCKS", "Block", "full_blocks", "join"]

BLOCKS = (256, 64)
"""How many items a long row has, more or less: none is ever cut. The longest first."""

MOST_BYTES = 1 << 22
"""Rows that have so much in them are long as they are, and SQLite would refuse one of a gigabyte."""

Block = tuple[str, int, Sequence[int]]
"""A thread, a lineage, and where in it the blocks begin that are full, the longest first."""

# Those that would be too long as one are not even read.
_ROWS = """
    SELECT start, count, data FROM signoff_items WHERE thread_id = ?1 AND lineage = ?2 AND start >= ?3 AND ?4 >= (
        SELECT SUM(LENGTH(data)) FROM signoff_items WHERE thread_id = ?1 AND lineage = ?2 AND start >= ?3
    ) ORDER BY start
"""

_REMOVE = "DELETE FROM signoff_items WHERE thread_id = ? AND lineage = ? AND start >= ?"

_INSERT = "INSERT INTO signoff_items (thread_id, lineage, start, count, data) VALUES (?, ?, ?, ?, ?)"


def full_blocks(plans: Sequence[Plan]) -> list[Block]:
    """The blocks that are full once plans are written."""
    full: list[Block] = []
    for plan in plans:
        for lineage, start, items in plan.items:
            if start and (begins := _begins(start, start + len(items))):
                full.append((plan.thread_id, lineage, begins))
    return full


def _begins(start: int, end: int) -> list[int]:
    """Where the blocks begin that items, from one up to another, have filled."""
    return [start - start % size for size in BLOCKS if start // size < end // size]


def join(block: Block) -> Steps[None]:
    """Make one row of the last rows of a lineage: of as many as can be."""
    thread_id, lineage, begins = block
    for begin in begins:
        rows = yield Execute(_ROWS, (thread_id, lineage, begin, MOST_BYTES))
        if rows:
            return (yield from _join(thread_id, lineage, rows))


def _join(thread_id: str, lineage: int, rows: Sequence[Row]) -> Steps[None]:
    try:
        items = list(chain.from_iterable(unpacked_items([data for _, _, data in rows])))
    except Undecodable:
        return  # whoever reads them is told
    is_usual = all(is_usual_row(data) for _, _, data in rows)
    first, count = rows[0][0], sum(row[1] for row in rows)
    if len(rows) > 1 and len(items) == count == rows[-1][0] + rows[-1][1] - first:
        yield Execute(_REMOVE, (thread_id, lineage, first))
        yield Execute(_INSERT, (thread_id, lineage, first, count, packed_items(items, is_usual=is_usual)))
