"""What a coroutine function of the user's returns, handed to somebody. On its stack this is as if it were not there."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def noted(function: Callable[..., Any], note: Callable[[Any], Any]) -> Callable[..., Any]:
    """The same coroutine function, with what is made of its result."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return note(await function(*args, **kwargs))

    return call
