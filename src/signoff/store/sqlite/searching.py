"""Search: find the items below a namespace, filter them, rank them, load what is shown."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from signoff._sqlite.effects import Execute
from signoff.steps import Steps
from signoff.store._batches import bounds
from signoff.store._filters import passes, spelt_in
from signoff.store._prepared import Found, Load, loaded
from signoff.store._vectors import ranked
from signoff.store.base import SearchItem, SearchOp
from signoff.store.sqlite.rows import COLUMNS, as_found, as_text

__all__ = ["IS_SEEN", "by_chunks", "page", "search", "under"]

IS_SEEN = "(expires_at IS NULL OR expires_at > ?)"

IDS_PER_STATEMENT = 500
"""Below the number of parameters that any SQLite takes."""

NO_LIMIT = -1

Scored = tuple[int, float | None]


def search(
    op: SearchOp, query: bytes | None, load: Load, seen_after: float
) -> Steps[tuple[list[SearchItem], list[Found]]]:
    """The items found, as they are shown and as they are stored."""
    enough = op.offset + op.limit if query is None else None
    ids = yield from _matching_ids(op, load, seen_after, enough)
    scored = (yield from _ranked(ids, query)) if query else [(one, None) for one in ids]
    page = scored[op.offset : op.offset + op.limit]
    found = yield from _found([one for one, _ in page])
    items = [one.search_item(load, score) for one, (_, score) in zip(found, page, strict=True)]
    return items, found


def page(op: SearchOp, seen_after: float) -> tuple[str, Sequence[Any]]:
    """What finds the items that a search without a filter or a vector shows, with its parameters."""
    where, params = under(op.namespace_prefix)
    sql = f"""
        SELECT {COLUMNS} FROM signoff_store WHERE {where} AND {IS_SEEN} ORDER BY namespace_rank, id LIMIT ? OFFSET ?
    """
    return sql, (*params, seen_after, *bounds(op))


def under(prefix: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The condition for a namespace to be, or be below, the prefix; with its parameters."""
    if not prefix:
        return "1", ()
    text = as_text(prefix)
    # What is below begins with "text."; "/" is the character after ".".
    return "(namespace = ? OR (namespace > ? AND namespace < ?))", (text, f"{text}.", f"{text}/")


def by_chunks(ids: Sequence[int]) -> Iterator[tuple[Sequence[int], str]]:
    """The ids in portions that fit into one statement, each with its question marks."""
    for start in range(0, len(ids), IDS_PER_STATEMENT):
        chunk = ids[start : start + IDS_PER_STATEMENT]
        yield chunk, ",".join("?" * len(chunk))


def _matching_ids(op: SearchOp, load: Load, seen_after: float, enough: int | None) -> Steps[list[int]]:
    """The ids of the items that pass the filter, in order; no more than enough."""
    where, params = under(op.namespace_prefix)
    spellings = spelt_in(op.filter) if load is json.loads else []
    spelt = "".join(f" AND ({' OR '.join(['instr(value, ?)'] * len(texts))})" for texts in spellings)
    sql = f"SELECT id FROM signoff_store WHERE {where}{spelt} AND {IS_SEEN} ORDER BY namespace_rank, id LIMIT ?"
    # Without a filter every item counts, so no more are needed than are shown.
    most = NO_LIMIT if op.filter or enough is None else enough
    rows = yield Execute(sql, (*params, *chain.from_iterable(spellings), seen_after, most))
    ids = [row[0] for row in rows]
    return (yield from _passing(ids, op.filter, load, enough)) if op.filter else ids


def _passing(ids: Sequence[int], filter: dict[str, Any], load: Load, enough: int | None) -> Steps[list[int]]:
    """The ids whose values pass the filter; values are read in portions, and no further than needed."""
    passing: list[int] = []
    for chunk, marks in by_chunks(ids):
        values = dict((yield Execute(f"SELECT id, value FROM signoff_store WHERE id IN ({marks})", chunk)))
        passing += [one for one in chunk if passes(loaded(load, values[one]), filter)]
        if enough is not None and len(passing) >= enough:
            return passing[:enough]
    return passing


def _ranked(ids: Sequence[int], query: bytes) -> Steps[list[Scored]]:
    """The ids with their scores, the nearest first."""
    vectors: list[tuple[int, bytes]] = []
    for chunk, marks in by_chunks(ids):
        sql = f"SELECT item_id, embedding FROM signoff_store_vectors WHERE item_id IN ({marks})"
        vectors += yield Execute(sql, chunk)
    return ranked(ids, vectors, query)


def _found(ids: Sequence[int]) -> Steps[list[Found]]:
    """The items with these ids, in this order."""
    found: dict[int, Found] = {}
    for chunk, marks in by_chunks(ids):
        rows = yield Execute(f"SELECT {COLUMNS} FROM signoff_store WHERE id IN ({marks})", chunk)
        found.update((row[0], as_found(row)) for row in rows)
    return [found[one] for one in ids]
