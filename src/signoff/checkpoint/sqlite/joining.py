"""Rows of items, put together: a list that grew item by item is read as a few long rows, not as many short ones.

Whenever a list has filled a block, the rows of the block become one, in the same transaction. What is in them stays
the same, and so does the number of each item.
"""

from collections.abc import Sequence
from itertools import chain

from signoff._sqlite.effects import Execute
from signoff.checkpoint.log.plans import Plan
from signoff.checkpoint.log.values import packed_items, unpacked_items
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["BLOCK", "Block", "full_blocks", "join"]

BLOCK = 64
"""How many items a long row has, more or less: none is ever cut."""

MOST_BYTES = 1 << 22
"""Rows that have so much in them are long as they are, and SQLite would refuse one of a gigabyte."""

Block = tuple[str, int, int]
"""A thread, a lineage, and where in it the block begins."""

_ROWS = """
    SELECT start, count, data FROM signoff_items WHERE thread_id = ? AND lineage = ? AND start >= ? ORDER BY start
"""

_REMOVE = "DELETE FROM signoff_items WHERE thread_id = ? AND lineage = ? AND start >= ?"

_INSERT = "INSERT INTO signoff_items (thread_id, lineage, start, count, data) VALUES (?, ?, ?, ?, ?)"


def full_blocks(plans: Sequence[Plan]) -> list[Block]:
    """The blocks that are full once plans are written."""
    return [
        (plan.thread_id, lineage, start - start % BLOCK)
        for plan in plans
        for lineage, start, items in plan.items
        if start and start // BLOCK < (start + len(items)) // BLOCK
    ]


def join(block: Block) -> Steps[None]:
    """Make one row of the last rows of a lineage."""
    rows = yield Execute(_ROWS, block)
    if sum(len(row[2]) for row in rows) > MOST_BYTES:
        return
    try:
        items = list(chain.from_iterable(unpacked_items([data for _, _, data in rows])))
    except Undecodable:
        return  # whoever reads them is told
    first, count = rows[0][0], sum(row[1] for row in rows)
    if len(rows) > 1 and len(items) == count == rows[-1][0] + rows[-1][1] - first:
        yield Execute(_REMOVE, (*block[:2], first))
        yield Execute(_INSERT, (*block[:2], first, count, packed_items(items)))
