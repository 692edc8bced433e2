"""What a coroutine function of the user's returns, said to somebody. On its stack this is as if it were not there."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def noted(function: Callable[..., Any], note: Callable[[Any], None]) -> Callable[..., Any]:
    """The same coroutine function, saying what it returns."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        result = await function(*args, **kwargs)
        note(result)
        return result

    return call
