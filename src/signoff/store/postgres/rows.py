"""Between items and rows: how namespaces and keys are written down."""

from hashlib import blake2b

from signoff._postgres.effects import Row
from signoff._postgres.texts import as_put, as_stored
from signoff.store._prepared import Found

__all__ = ["COLUMNS", "as_found", "as_namespace", "as_text", "lock_of"]

COLUMNS = "id, namespace, key, value, created_at, updated_at, ttl_minutes IS NOT NULL"

LOCKS = 256
"""Namespaces share this many locks: a batch takes few of those that the server has for everybody."""


def as_text(namespace: tuple[str, ...]) -> str:
    """A namespace as it is stored."""
    return as_stored(".".join(namespace))


def as_namespace(text: str) -> tuple[str, ...]:
    """A stored namespace as its labels."""
    return tuple(as_put(text).split("."))


def as_found(row: Row) -> Found:
    """The item in a row of COLUMNS."""
    return Found(row[0], as_namespace(row[1]), as_put(row[2]), *row[3:7])


def lock_of(namespace: str) -> int:
    """The lock that whoever writes to a stored namespace takes."""
    digest = blake2b(f"signoff_store {namespace}".encode(), digest_size=2).digest()
    first = int.from_bytes(b"signoff", "big")  # away from the locks of others
    return first + int.from_bytes(digest, "big") % LOCKS
