"""Between items and rows: how namespaces are written down."""

from signoff._sqlite.effects import Row
from signoff.store._prepared import Found

__all__ = ["COLUMNS", "as_found", "as_namespace", "as_text"]

COLUMNS = "id, namespace, key, value, created_at, updated_at, ttl_minutes IS NOT NULL"


def as_text(namespace: tuple[str, ...]) -> str:
    """A namespace as it is stored."""
    return ".".join(namespace)


def as_namespace(text: str) -> tuple[str, ...]:
    """A stored namespace as its labels."""
    return tuple(text.split("."))


def as_found(row: Row) -> Found:
    """The item in a row of COLUMNS."""
    return Found(row[0], tuple(row[1].split(".")), *row[2:7])
