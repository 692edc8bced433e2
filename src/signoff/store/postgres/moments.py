"""Reads of one moment: all reads of a batch, in one statement.

Beside puts, each statement sees what others have committed until then. So what is read there is read by one of them:
a row for each item that an operation may answer with, behind the number of the operation.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain

from signoff._postgres.effects import Execute, Row
from signoff._postgres.texts import as_stored
from signoff.store._batches import bounds
from signoff.store._filters import spelt_in
from signoff.store._prepared import Load, Prepared, literal_prefix
from signoff.store.base import GetOp, ListNamespacesOp, Op, SearchOp
from signoff.store.postgres.rows import COLUMNS, as_text
from signoff.store.postgres.searching import IS_SEEN, RANK, spelt, under

__all__ = ["all_reads", "rows_of"]

_NO_VECTORS = "NULL::bytea[]"

# In one part, since there may be thousands.
_GETS = f"""
    SELECT wanted.number, {COLUMNS}, namespace_rank, {_NO_VECTORS}
    FROM unnest(%s::int[], %s::text[], %s::text[]) AS wanted (number, its_namespace, its_key)
    JOIN signoff_store ON namespace = its_namespace AND key = its_key WHERE {IS_SEEN}
"""


def all_reads(prepared: Prepared, load: Load, seen_after: float) -> Execute:
    """The statement that reads what the operations of a batch ask for; there is one that does."""
    parts = list(_parts(prepared, load, seen_after))
    sql = " UNION ALL ".join(f"({part.sql})" for part in parts)
    return Execute(sql, tuple(chain.from_iterable(part.params for part in parts)))


def rows_of(ops: Sequence[Op], rows: Sequence[Row]) -> list[list[Row]]:
    """The rows that were read for each operation, in order."""
    own: list[list[Row]] = [[] for _ in ops]
    for row in rows:
        own[row[0]].append(row[2:3] if isinstance(ops[row[0]], ListNamespacesOp) else row[1:])
    return [each if len(each) < 2 or len(each[0]) == 1 else sorted(each, key=_order) for each in own]


def _order(row: Row) -> tuple[int, int]:
    return row[RANK], row[0]


def _parts(prepared: Prepared, load: Load, seen_after: float) -> Iterator[Execute]:
    gets = [(number, op) for number, op in enumerate(prepared.ops) if isinstance(op, GetOp)]
    if gets:
        places = [(number, as_text(op.namespace), as_stored(op.key)) for number, op in gets]
        yield Execute(_GETS, (*map(list, zip(*places, strict=True)), seen_after))
    for number, op in enumerate(prepared.ops):
        if isinstance(op, SearchOp):
            yield _found(number, op, prepared.query_of(op) is not None, load, seen_after)
        elif isinstance(op, ListNamespacesOp):
            yield _listed(number, op, seen_after)


def _found(number: int, op: SearchOp, with_vectors: bool, load: Load, seen_after: float) -> Execute:
    where, params = under(op.namespace_prefix)
    spellings = spelt_in(op.filter) if load is json.loads else []
    columns = f"{number}, {COLUMNS}, namespace_rank, {'vectors' if with_vectors else _NO_VECTORS}"
    sql = f"SELECT {columns} FROM signoff_store WHERE {where}{spelt(spellings)} AND {IS_SEEN}"
    given = (*params, *chain.from_iterable(spellings), seen_after)
    if op.filter or with_vectors:
        return Execute(sql, given)
    return Execute(f"{sql} ORDER BY namespace_rank, id LIMIT %s OFFSET %s", (*given, *bounds(op)))


def _listed(number: int, op: ListNamespacesOp, seen_after: float) -> Execute:
    where, params = under(literal_prefix(op))
    columns = (
        f"{number}, NULL::bigint, namespace, NULL::text, NULL::text, NULL::float8, NULL::float8, NULL::boolean, "
        f"NULL::bigint, {_NO_VECTORS}"
    )
    return Execute(f"SELECT DISTINCT {columns} FROM signoff_store WHERE {where} AND {IS_SEEN}", (*params, seen_after))
