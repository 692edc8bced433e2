"""The join: opens when every named task has arrived."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.channels.base import BaseChannel
from signoff.constants import MISSING
from signoff.errors import InvalidUpdateError

__all__ = ["NamedBarrierValue", "NamedBarrierValueAfterFinish"]


class NamedBarrierValue(BaseChannel):
    """Collects names, and shows a value once all of them have been written."""

    __slots__ = ("names",)

    is_plain = False
    meddles = False

    def __init__(self, typ: Any, names: Iterable[Any], key: str = "") -> None:
        super().__init__(typ, key)
        self.names = frozenset(names)

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        for name in writes:
            if name not in self.names:
                raise InvalidUpdateError(f"The join {self.key!r} waits for {sorted(self.names)}, not for {name!r}.")
        return seen(stored).union(writes)

    def get(self, stored: Any) -> Any:
        return None if self._is_complete(stored) else MISSING

    def consume(self, stored: Any) -> Any:
        return MISSING if self._is_complete(stored) else stored

    def _is_complete(self, stored: Any) -> bool:
        return self.names == seen(stored)


class NamedBarrierValueAfterFinish(NamedBarrierValue):
    """A join that opens only when nothing else is due: the trigger of a deferred node."""

    __slots__ = ()

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        return [super().fold(stored, writes), False]

    def get(self, stored: Any) -> Any:
        return None if _is_over(stored) else MISSING

    def consume(self, stored: Any) -> Any:
        return MISSING if _is_over(stored) else stored

    def finish(self, stored: Any) -> Any:
        waits = _is_over(stored) or not self._is_complete(stored)
        return stored if waits else [seen(stored), True]


def seen(stored: Any) -> set[Any]:
    """Who has come, whether the node was deferred or not when that was stored."""
    if stored is MISSING:
        return set()
    seen: set[Any] = stored[0] if type(stored) is list else stored
    return seen


def _is_over(stored: Any) -> bool:
    return type(stored) is list and bool(stored[1])
