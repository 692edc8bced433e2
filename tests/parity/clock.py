"""A clock for programs about timeouts: they say how long things take, and nobody waits for it."""

import asyncio
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

from signoff.drivers import workers
from signoff.drivers.tasks import aio_threads

__all__ = ["Clock", "on_its_time"]


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time stands still while anything happens, and goes on to the next thing that is due."""

    def __init__(self) -> None:
        self.now = 0.0
        self.in_threads = 0
        super().__init__(_Waiting(self))

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        self.in_threads += 1
        working = super().run_in_executor(executor, func, *args)
        working.add_done_callback(self._has_come_back)
        return working

    def submit(self, job: Callable[[], None]) -> None:
        """The same for the threads of signoff."""

        def work() -> None:
            job()
            with suppress(RuntimeError):  # with what the job came to, the loop may have come to its end
                self.call_soon_threadsafe(self._has_come_back)

        self.in_threads += 1
        workers.submit(work)

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """End the threads, for as long as it takes: any time that they are given is over at once."""
        await super().shutdown_default_executor()

    def _has_come_back(self, _: Any = None) -> None:
        self.in_threads -= 1


class _Waiting(selectors.SelectSelector):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not timeout or self._clock.in_threads:
            return super().select(0 if timeout == 0 else None)
        ready = super().select(0)
        if not ready:
            self._clock.now += timeout
        return ready


@contextmanager
def on_its_time() -> Iterator[asyncio.Runner]:
    """Run things on such a loop, with the time that the whole process asks for."""
    with asyncio.Runner(loop_factory=Clock) as runner:
        clock: Any = runner.get_loop()
        with patch.object(time, "monotonic", clock.time), patch.object(aio_threads, "submit", clock.submit):
            yield runner
