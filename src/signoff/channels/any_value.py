"""A value that several tasks may write alike."""

from collections.abc import Sequence
from typing import Any

from signoff.channels.base import BaseChannel

__all__ = ["AnyValue"]


class AnyValue(BaseChannel):
    """Takes any number of writes a step, assumes that they agree, and lives until the next step."""

    __slots__ = ()

    is_fleeting = True
    meddles = False

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        return writes[-1]
