"""Searching: which items a filter lets pass, which are nearest to a query, and in what order.

The order is by the rank of the namespace, then by id. The filter is the one rule in Python, so where there is
one, values are read in portions, and no further than needed.
"""

import json
from collections.abc import Sequence
from itertools import chain

from signoff._postgres.effects import Execute, Row
from signoff.steps import Steps
from signoff.store._batches import bounds
from signoff.store._filters import passes, spelt_in
from signoff.store._prepared import Found, Load, loaded
from signoff.store._vectors import ranked
from signoff.store.base import SearchItem, SearchOp
from signoff.store.postgres.rows import COLUMNS, as_found, as_text

__all__ = ["IS_SEEN", "RANK", "chosen", "page", "passing", "search", "shown", "spelt", "under"]

IS_SEEN = "(expires_at IS NULL OR expires_at > %s)"

PORTION = 500

_VALUE, RANK, _VECTORS = 3, 7, 8
"""Where they are in a row of a portion."""

Scored = tuple[Found, float | None]


def page(op: SearchOp, seen_after: float) -> Execute:
    """The query for what a search finds, if neither a filter nor a vector has a say in it."""
    where, params = under(op.namespace_prefix)
    sql = f"SELECT {COLUMNS} FROM signoff_store WHERE {where} AND {IS_SEEN} ORDER BY namespace_rank, id"
    return Execute(f"{sql} LIMIT %s OFFSET %s", (*params, seen_after, *bounds(op)))


def search(
    op: SearchOp, query: bytes | None, load: Load, seen_after: float
) -> Steps[tuple[list[SearchItem], list[Found]]]:
    """The items found, as they are shown and as they are stored."""
    if query is None and not op.filter:
        rows = yield page(op, seen_after)
        return shown([(as_found(row), None) for row in rows], load)
    return shown((yield from _chosen(op, query, load, seen_after)), load)


def shown(scored: Sequence[Scored], load: Load) -> tuple[list[SearchItem], list[Found]]:
    """Items as they are shown and as they are stored."""
    return [one.search_item(load, score) for one, score in scored], [one for one, _ in scored]


def under(prefix: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The condition for a namespace to be, or be below, the prefix; with its parameters."""
    if not prefix:
        return "TRUE", ()
    text = as_text(prefix)
    # What is below begins with "text."; "/" is the character after ".".
    return "(namespace = %s OR (namespace > %s AND namespace < %s))", (text, f"{text}.", f"{text}/")


def spelt(spellings: Sequence[Sequence[str]]) -> str:
    """The condition for a value to have one text of each list in it."""
    return "".join(f" AND ({' OR '.join(['strpos(value, %s) > 0'] * len(texts))})" for texts in spellings)


def _chosen(op: SearchOp, query: bytes | None, load: Load, seen_after: float) -> Steps[list[Scored]]:
    enough = op.offset + op.limit if query is None else None
    return chosen(op, query, (yield from _passing(op, query, load, seen_after, enough)))


def chosen(op: SearchOp, query: bytes | None, rows: Sequence[Row]) -> list[Scored]:
    """The page of a search, out of the rows of COLUMNS, rank and vectors that pass its filter."""
    found = {row[0]: as_found(row) for row in rows}
    vectors = ((row[0], bytes(vector)) for row in rows for vector in row[_VECTORS] or ())
    scored = ranked(found, vectors, query) if query else [(one, None) for one in found]
    return [(found[one], score) for one, score in scored[op.offset : op.offset + op.limit]]


def _passing(op: SearchOp, query: bytes | None, load: Load, seen_after: float, enough: int | None) -> Steps[list[Row]]:
    """Rows of COLUMNS, rank and vectors that pass the filter, in order; no more than enough."""
    found: list[Row] = []
    spellings = spelt_in(op.filter) if load is json.loads else []
    last = (-1, -1)
    while enough is None or len(found) < enough:
        rows = yield _portion(op, spellings, query is not None, seen_after, last)
        found += passing(op, load, rows)
        if len(rows) < PORTION:
            break
        last = (rows[-1][RANK], rows[-1][0])
    return found[:enough]


def passing(op: SearchOp, load: Load, rows: Sequence[Row]) -> list[Row]:
    """The rows that the filter of a search lets pass."""
    return [row for row in rows if not op.filter or passes(loaded(load, row[_VALUE]), op.filter)]


def _portion(
    op: SearchOp, spellings: Sequence[Sequence[str]], with_vectors: bool, seen_after: float, last: tuple[int, int]
) -> Execute:
    where, params = under(op.namespace_prefix)
    columns = f"{COLUMNS}, namespace_rank, {'vectors' if with_vectors else 'NULL'}"
    sql = (
        f"SELECT {columns} FROM signoff_store WHERE {where}{spelt(spellings)} AND {IS_SEEN} "
        f"AND (namespace_rank, id) > (%s, %s) ORDER BY namespace_rank, id LIMIT {PORTION}"
    )
    return Execute(sql, (*params, *chain.from_iterable(spellings), seen_after, *last))
