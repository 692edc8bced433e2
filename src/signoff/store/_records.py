"""What is kept of an item in memory, with a value of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from signoff._copies import copied
from signoff.constants import ATOMS
from signoff.store._values import too_deep
from signoff.store.base import Item, PutOp

__all__ = ["Record", "detached"]

_LONG_AGO = datetime.fromtimestamp(0, UTC)


@dataclass(slots=True)
class Record:
    """What is kept of an item. Its times and vectors are those of when it is written."""

    value: dict[str, Any]
    is_flat: bool
    """Whether nothing in the value can be changed in place."""
    ttl_minutes: float | None
    expires_at: float | None = None
    created_at: datetime = _LONG_AGO
    updated_at: datetime = _LONG_AGO
    vectors: Sequence[bytes] = ()

    def item(self, namespace: tuple[str, ...], key: str) -> Item:
        """As `get` hands it out: made field by field, since all of it is known to be good."""
        item = Item.__new__(Item)
        item.namespace, item.key, item.value = namespace, key, self.shown()
        item.created_at, item.updated_at = self.created_at, self.updated_at
        return item

    def shown(self) -> dict[str, Any]:
        """The value, with its own dicts and lists."""
        return self.value.copy() if self.is_flat else _copied(self.value)


def detached(op: PutOp) -> Record | None:
    """What is to be kept of a put, with a value of its own; None if the item is to be removed."""
    if op.value is None:
        return None
    value = op.value if type(op.value) is dict else dict(op.value)
    is_flat = ATOMS.issuperset(map(type, value.values()))
    try:
        return Record(value.copy() if is_flat else _copied(value), is_flat, op.ttl)
    except RecursionError:
        raise too_deep(op.key) from None


def _copied(value: Any) -> Any:
    """A value with its own dicts and lists, so that a change in place does not reach the store."""
    if type(value) is dict:
        return {key: inner if type(inner) in ATOMS else _copied(inner) for key, inner in value.items()}
    if type(value) is list:
        return [inner if type(inner) in ATOMS else _copied(inner) for inner in value]
    if type(value) is tuple:
        return tuple(map(_copied, value))
    return copied(value) if isinstance(value, dict | list) else value  # a defaultdict, say
