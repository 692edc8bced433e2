"""What functions return."""

from types import CoroutineType
from typing import Any

from signoff.errors import InvalidUpdateError

__all__ = ["awaited"]


def awaited(name: str, result: Any) -> Any:
    """What a function returned. A coroutine is none of its results: nobody would ever run it."""
    if type(result) is not CoroutineType:
        return result
    result.close()
    raise InvalidUpdateError(
        f"{name!r} returned a coroutine of {result.__qualname__!r}. Write it as `async def`, and await that in it."
    )
