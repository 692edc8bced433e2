"""Timeouts of async nodes: how long one may run, and how long it may be silent."""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from signoff._words.policies import TimeoutPolicy, as_seconds
from signoff.errors import NodeTimeoutError

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


async def awaited_in_time(scope: "Scope", policy: TimeoutPolicy, call: Callable[[], Awaitable[Any]]) -> Any:
    """The result of a call, or NodeTimeoutError when it takes too long."""
    watch = _Watch(policy)
    scope.heartbeat = watch.beat
    if policy.idle_timeout is None or policy.refresh_on != "auto":
        return await _watched(scope, watch, call)
    scope.beat = watch.beat
    with scope.host.hear_life(scope, watch.beat):
        return await _watched(scope, watch, call)


async def _watched(scope: "Scope", watch: "_Watch", call: Callable[[], Awaitable[Any]]) -> Any:
    task = asyncio.ensure_future(call())
    try:
        while not task.done():
            kind, left_s = watch.next_limit()
            if left_s <= 0:
                raise watch.error(scope.task.name, kind)
            await asyncio.wait({task}, timeout=left_s)
        return task.result()
    except asyncio.CancelledError:
        await _call_off(task)
        if task.cancelled():
            raise
        return task.result()  # a thread cannot be called off, and what it came to counts
    finally:
        scope.beat = scope.heartbeat = None
        await _call_off(task)


async def _call_off(task: "asyncio.Future[Any]") -> None:
    if not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class _Watch:
    """How long something has run, and been silent."""

    def __init__(self, policy: TimeoutPolicy) -> None:
        self.clock = asyncio.get_running_loop().time
        self.began = self.last_sign = self.clock()
        self.run_s = as_seconds(policy.run_timeout)
        self.idle_s = as_seconds(policy.idle_timeout)

    def beat(self) -> None:
        self.last_sign = self.clock()

    def next_limit(self) -> tuple[Literal["run", "idle"], float]:
        """The limit that is reached first, and the seconds until then."""
        run_left = inf if self.run_s is None else self.began + self.run_s - self.clock()
        idle_left = inf if self.idle_s is None else self.last_sign + self.idle_s - self.clock()
        return ("run", run_left) if run_left <= idle_left else ("idle", idle_left)

    def error(self, node: str, kind: Literal["run", "idle"]) -> NodeTimeoutError:
        elapsed = self.clock() - self.began
        return NodeTimeoutError(node, elapsed, kind=kind, idle_timeout=self.idle_s, run_timeout=self.run_s)
