"""A value that lives for one step."""

from collections.abc import Sequence
from typing import Any

from signoff.channels.base import BaseChannel
from signoff.errors import InvalidUpdateError

__all__ = ["EphemeralValue"]


class EphemeralValue(BaseChannel):
    """Kept for the step after the one that wrote it, then forgotten."""

    __slots__ = ("guard",)

    is_fleeting = True
    meddles = False

    def __init__(self, typ: Any = Any, guard: bool = True, key: str = "") -> None:
        super().__init__(typ, key)
        self.guard = guard

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        if self.guard and len(writes) != 1:
            raise InvalidUpdateError(
                f"Key {self.key!r} can take one value per step and got {len(writes)}. "
                "Write it from one node only, or make it EphemeralValue(type, guard=False) to keep the last."
            )
        return writes[-1]
