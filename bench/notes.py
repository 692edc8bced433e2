"""Notes for the page: for rows that miss a mark, what was seen, what was tried, and why it is as it is.

A note is shown only while one of its rows misses a mark. Put figures that change with every run into rows, not here.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Note(NamedTuple):
    """What there is to say about some rows."""

    rows: Sequence[str]
    evidence: str
    tried: str = ""


NOTES: Sequence[Note] = (
    Note(
        rows=("step, SQLite FULL, async", "step, SQLite FULL, async, async nodes"),
        evidence="Waiting for the disk takes CPU, too: the system's own. The row *step, SQLite FULL, async, in bare "
        "INSERTs* has LangGraph's step in INSERTs by hand; that is the most that can be gained with one commit a step. "
        "With NORMAL, where a commit does not wait, the limit is higher.",
    ),
)
