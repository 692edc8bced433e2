"""Rows as Postgres has them, with texts and ids as they were put."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from signoff._postgres.texts import as_put, as_stored
from signoff.checkpoint.lease import Standing
from signoff.checkpoint.log.backend import Key, Raw
from signoff.checkpoint.postgres.ids import id_as_put, id_as_stored

__all__ = ["COLUMNS", "put", "put_key", "raw_of", "stored_key"]

COLUMNS = "id, signoff_parent(id, parent), depth, seal, body"


def put(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Rows, with their texts as they were put."""
    return [[as_put(part) for part in row] for row in rows]


def stored_key(key: Key) -> tuple[str, str, bytes]:
    """A key as it is stored."""
    return as_stored(key[0]), as_stored(key[1]), id_as_stored(key[2])


def put_key(thread_id: str, ns: str, id: bytes) -> Key:
    """A stored key as it was put."""
    return as_put(thread_id), as_put(ns), id_as_put(id)


def raw_of(found: Sequence[Sequence[Any]]) -> Raw:
    """What `signoff_look` has found."""
    rows, writes, carried, standing = [], [], [], None
    for kind, id, parent_id, number, more, data, text, other in found:
        match kind:
            case 1:
                rows.append([id_as_put(id), id_as_put(parent_id), number, more, data])
            case 2:
                writes.append([as_put(text), number, as_put(other), data])
            case 3:
                carried.append(data)
            case _:
                standing = Standing((number, id, text), as_put(other), other is not None and bool(more))
    rows.sort(key=itemgetter(2), reverse=True)
    return Raw(rows, writes, carried, standing) if rows else Raw((), (), (), standing)
