"""What is to be written, worked out before anything is: a database has only to see that it still fits.

A plan is for one thread. It fits if every checkpoint that others are to stand on is there with the seal that it is
thought to have, if no checkpoint or write is in the way of a new one, and if lineages end where items are to be
appended. If it does not fit, nothing is written; then somebody looks at what there is, and makes another plan.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from signoff._tuples import made
from signoff.checkpoint.encoding import Blob
from signoff.checkpoint.log.filing import Filed
from signoff.checkpoint.log.writes import packed_writes

__all__ = ["MAX_DEPTH", "NewRow", "NewWrite", "Place2", "Plan", "rows_of"]

MAX_DEPTH = 31
"""How far a checkpoint may be from its snapshot: a cold read walks at most one row more."""

Place2 = tuple[str, str]
"""A namespace and a checkpoint in it."""


class NewRow(NamedTuple):
    """A checkpoint's row. Its ids are short, as they are stored."""

    ns: str
    id: str
    parent_id: str | None
    parent_seal: int | None
    """The seal that the parent has, if the row stands on it."""
    depth: int
    run_id: str | None
    seal: int
    body: bytes
    writes: bytes | None
    """What tasks wrote that led to it, if it carries that."""


class NewWrite(NamedTuple):
    """A row of writes: one with an index below 0, or all others that a task made at once."""

    ns: str
    checkpoint_id: str
    task_id: str
    idx: int
    path: str
    data: bytes
    replaces: bool
    """Whether it may take the place of another one."""


class Plan:
    """What is to be written to one thread."""

    __slots__ = ("blobs", "filing", "is_usual", "items", "replaced", "rewritten", "rows", "thread_id", "writes")

    def __init__(self, thread_id: str, *, is_usual: bool = False) -> None:
        self.thread_id = thread_id
        self.is_usual = is_usual
        """Whether its values are encoded in the usual way, by JsonPlusSerializer."""
        self.filing: list[Filed] = []
        self.writes: list[NewWrite] = []
        self.rewritten: list[tuple[str, str, str | None, bytes]] = []
        """(namespace, id, parent, body) of checkpoints that become snapshots."""
        self.replaced: set[Place2] = set()
        """Those of the rows that take the place of others."""
        self.rows: list[NewRow] = []
        self.items: list[tuple[int, int, list[Blob]]] = []
        """(lineage, start, items)"""
        self.blobs: dict[bytes, bytes] = {}
        """Large values by digest; one that is there already is left."""

    def net_filing(self) -> tuple[bool, list[str], list[tuple[Any, ...]]]:
        """All filings as one: whether all questions are closed, else which; then, which are asked."""
        closes_all, closed = False, dict[str, None]()
        asked: dict[str, tuple[Any, ...]] = {}
        for one in self.filing:
            if one.closed is None:
                closes_all, asked = True, {}
            for id in one.closed or ():
                closed[id] = asked.pop(id, None)  # type: ignore[assignment]
            for question in one.asked:
                asked.setdefault(question[0], question)
        return closes_all, list(closed), list(asked.values())


def rows_of(ns: str, id: str, task_id: str, path: str, writes: Iterable[tuple[int, str, Any]]) -> list[NewWrite]:
    """What a task wrote, as rows that are kept with a checkpoint."""
    rows, usual = [], []
    for write in writes:
        if write[0] < 0:
            rows.append(made(NewWrite, (ns, id, task_id, write[0], path, packed_writes([write]), True)))
        else:
            usual.append(write)
    if usual:
        rows.append(made(NewWrite, (ns, id, task_id, 0, path, packed_writes(usual), False)))
    return rows
