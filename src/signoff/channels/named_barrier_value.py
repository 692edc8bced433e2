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
        seen: set[Any] = set() if stored is MISSING else stored
        return seen.union(writes)

    def get(self, stored: Any) -> Any:
        return None if self._is_complete(stored) else MISSING

    def consume(self, stored: Any) -> Any:
        return MISSING if self._is_complete(stored) else stored

    def _is_complete(self, stored: Any) -> bool:
        return stored is not MISSING and self.names == stored


class NamedBarrierValueAfterFinish(NamedBarrierValue):
    """A join that opens only when nothing else is due: the trigger of a deferred node."""

    __slots__ = ()

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        seen = MISSING if stored is MISSING else stored[0]
        return [super().fold(seen, writes), False]

    def get(self, stored: Any) -> Any:
        return None if stored is not MISSING and stored[1] else MISSING

    def consume(self, stored: Any) -> Any:
        return MISSING if stored is not MISSING and stored[1] else stored

    def finish(self, stored: Any) -> Any:
        waits = stored is MISSING or stored[1] or not self._is_complete(stored[0])
        return stored if waits else [stored[0], True]
