"""A list that collects what the tasks of a step publish."""

from collections.abc import Sequence
from typing import Any

from signoff.channels.base import BaseChannel
from signoff.constants import MISSING

__all__ = ["Topic"]


class Topic(BaseChannel):
    """Collects the values written in a step, or with `accumulate=True` in all of them."""

    __slots__ = ("accumulate", "is_fleeting")

    meddles = False

    def __init__(self, typ: Any = Any, accumulate: bool = False, key: str = "") -> None:
        super().__init__(typ, key)
        self.accumulate = accumulate
        self.is_fleeting = not accumulate  # type: ignore[misc]

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        kept = list(stored) if self.accumulate and stored is not MISSING else []
        for write in writes:
            kept.extend(write) if isinstance(write, list) else kept.append(write)
        return kept or MISSING
