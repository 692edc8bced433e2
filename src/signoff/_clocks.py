"""Clocks: what tells stores and caches the time."""

from collections.abc import Callable

from signoff._reprs import repr_of
from signoff.errors import InvalidInput

__all__ = ["checked_clock"]


def checked_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """The clock as it is, if it can be asked."""
    if not callable(clock):
        raise InvalidInput(
            f"clock={repr_of(clock)}: give a function that returns the time in seconds, such as time.time."
        )
    return clock
