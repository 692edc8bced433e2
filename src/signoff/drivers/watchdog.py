"""Timeouts of async nodes: how long one may run, and how long it may be silent."""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from signoff.errors import NodeTimeoutError
from signoff.types import TimeoutPolicy

if TYPE_CHECKING:
    from signoff.drivers.scope import Scope


async def awaited_in_time(scope: "Scope", policy: TimeoutPolicy, called: Awaitable[Any]) -> Any:
    """The result of a call, or NodeTimeoutError when it takes too long."""
    loop = asyncio.get_running_loop()
    began = last_sign = loop.time()
    run_s, idle_s = policy.run_timeout, policy.idle_timeout

    def beat() -> None:
        nonlocal last_sign
        last_sign = loop.time()

    scope.beat = beat
    task = asyncio.ensure_future(called)
    try:
        while True:
            limits = [(began + run_s, "run")] if run_s is not None else []
            if idle_s is not None:
                limits.append((last_sign + idle_s, "idle"))
            due, kind = min(limits)
            if due <= loop.time() and not task.done():
                raise NodeTimeoutError(
                    scope.task.name, loop.time() - began, kind=kind, idle_timeout=idle_s, run_timeout=run_s
                )
            await asyncio.wait({task}, timeout=max(0.0, due - loop.time()))
            if task.done():
                return task.result()
    finally:
        scope.beat = None
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
