"""Between items and rows: how namespaces and keys are written down."""

from hashlib import blake2b

from signoff._postgres.effects import Row
from signoff.store._prepared import Found

__all__ = ["COLUMNS", "as_found", "as_namespace", "as_stored", "as_text", "lock_of"]

COLUMNS = "id, namespace, key, value, created_at, updated_at, ttl_minutes IS NOT NULL"

LOCKS = 256
"""Namespaces share this many locks: a batch takes few of those that the server has for everybody."""


def as_stored(text: str) -> str:
    """A text without the one character that Postgres does not take, NUL: it becomes two others."""
    return text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01") if "\x00" in text or "\x01" in text else text


def as_text(namespace: tuple[str, ...]) -> str:
    """A namespace as it is stored."""
    return as_stored(".".join(namespace))


def as_namespace(text: str) -> tuple[str, ...]:
    """A stored namespace as its labels."""
    return tuple(_as_put(text).split("."))


def as_found(row: Row) -> Found:
    """The item in a row of COLUMNS."""
    return Found(row[0], as_namespace(row[1]), _as_put(row[2]), *row[3:7])


def lock_of(namespace: str) -> int:
    """The lock that whoever writes to a stored namespace takes."""
    digest = blake2b(f"signoff_store {namespace}".encode(), digest_size=2).digest()
    first = int.from_bytes(b"signoff", "big")  # away from the locks of others
    return first + int.from_bytes(digest, "big") % LOCKS


def _as_put(text: str) -> str:
    return text.replace("\x01\x01", "\x00").replace("\x01\x02", "\x01") if "\x01" in text else text
