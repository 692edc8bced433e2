"""Sync functions of a run on an event loop: each in a thread, which nobody can call off."""

import asyncio
import contextvars
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from signoff._loops import hear
from signoff.drivers.host import Host
from signoff.drivers.workers import submit

if TYPE_CHECKING:
    from signoff.drivers.tasks.aio_tasks import AsyncScope


async def in_thread(
    func: Callable[[], Any],
    host: Host,
    scope: "AsyncScope | None" = None,
    *,
    inline: bool = False,
    concludes: bool = False,
) -> Any:
    """The result of a sync function, called in a worker thread with this context; with `scope`, it is that task."""
    if host.is_stopping and not concludes:
        raise asyncio.CancelledError  # the run is over: nothing begins any more
    if inline:
        return func()
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(func)
        except BaseException as error:
            _post(loop, future, future.set_exception, error)
        else:
            _post(loop, future, future.set_result, result)

    submit(work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if not host.is_stopping:
            host.left[future] = scope
            future.add_done_callback(hear)  # its task is over: if it fails now, nobody asks
            raise
        # A thread cannot be called off. What it comes to is not lost, though its siblings made the run stop.
        host.left[future] = None  # whoever awaits this may be let go before
        await asyncio.wait({future})
        host.left.pop(future, None)
        return future.result()


def _post(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", put: Callable[[Any], None], value: Any
) -> None:
    """Hand a result to the loop, which may have closed, or given up on it, meanwhile."""
    if isinstance(value, StopIteration):
        value = RuntimeError("a node raised StopIteration")
    try:
        loop.call_soon_threadsafe(lambda: None if future.done() else put(value))
    except RuntimeError:
        pass
