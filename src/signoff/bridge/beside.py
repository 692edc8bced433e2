"""Functions that run beside each other for one task. Here the stack of such a function ends."""

from collections.abc import Awaitable, Callable
from typing import Any


def beside(call: Callable[[], Any]) -> Any:
    """Call a function beside the task that it runs for."""
    return call()


async def abeside(call: Callable[[], Awaitable[Any]]) -> Any:
    """Await one."""
    return await call()
