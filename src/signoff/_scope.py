"""The task that is running here: what interrupt(), get_config() and the others look up.

One context variable. The driver sets it around each task; contexts copied by asyncio and by worker threads
carry it along.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from signoff.errors import OutsideOfRun

T = TypeVar("T")

running: ContextVar[Any] = ContextVar("signoff_running", default=None)
"""The scope of the task that this context belongs to; None outside of any."""


def current(caller: str) -> Any:
    """The scope of the running task; an error that names the caller outside of one."""
    scope = running.get()
    if scope is None:
        raise OutsideOfRun(
            f"{caller} was called outside of a running node or task. Call it from inside one: reducers, types of "
            "states and a key_func are none. In a thread that you start yourself, run your function with "
            "contextvars.copy_context().run(...)."
        )
    return scope


def outside(function: Callable[..., T], *given: Any) -> T:
    """Call something that is part of no task, though it is called in one: it cannot ask, or call, as that.

    A reducer or the type of a state would be called again, and ask again, where no task begins again.
    """
    around = running.get()
    try:
        running.set(None)
        return function(*given)
    finally:
        running.set(around)
