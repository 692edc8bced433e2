"""What a store hands out: a value with its place and its times."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

__all__ = ["Item", "SearchItem"]


class Item:
    """A stored value, where it is kept, and when it was first and last put. Times may be ISO text."""

    __slots__ = ("created_at", "key", "namespace", "updated_at", "value")

    def __init__(
        self,
        *,
        value: dict[str, Any],
        key: str,
        namespace: Sequence[str],
        created_at: datetime | str,
        updated_at: datetime | str,
    ) -> None:
        self.value = value
        self.key = key
        self.namespace = tuple(namespace)
        self.created_at = datetime.fromisoformat(created_at) if isinstance(created_at, str) else created_at
        self.updated_at = datetime.fromisoformat(updated_at) if isinstance(updated_at, str) else updated_at

    def dict(self) -> dict[str, Any]:
        """The item as plain JSON values."""
        return {
            "namespace": list(self.namespace),
            "key": self.key,
            "value": self.value,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Item):
            return False
        return self._identity() == other._identity() and self.value == other.value

    def __hash__(self) -> int:
        return hash((self.namespace, self.key))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.dict().items())
        return f"{type(self).__name__}({fields})"

    def _identity(self) -> tuple[object, ...]:
        return self.namespace, self.key, self.created_at, self.updated_at


class SearchItem(Item):
    """An item found by a search; `score` says how near it is to the query, None where it was not compared."""

    __slots__ = ("score",)

    def __init__(
        self,
        namespace: Sequence[str],
        key: str,
        value: dict[str, Any],
        created_at: datetime | str,
        updated_at: datetime | str,
        score: float | None = None,
    ) -> None:
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score

    def dict(self) -> dict[str, Any]:
        """The item as plain JSON values, with its score."""
        return {**super().dict(), "score": self.score}
