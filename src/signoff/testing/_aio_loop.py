"""A simulated event loop: one thread, its own clock, and somebody who says whose turn it is."""

import asyncio
import contextvars
import heapq
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any
from weakref import WeakSet

from signoff.testing._process import Process, here

__all__ = ["Loop", "Turn"]


class Turn:
    """Something that is ready to run, for a process."""

    __slots__ = ("args", "callback", "context", "is_cancelled", "process", "when")

    def __init__(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Any, when: float = 0.0) -> None:
        self.callback = callback
        self.args = args
        self.context = contextvars.copy_context() if context is None else context
        self.process: Process | None = self.context.get(here)
        self.when = when
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def cancelled(self) -> bool:
        return self.is_cancelled

    def run(self) -> None:
        self.context.run(self.callback, *self.args)


Choose = Callable[[list[Turn]], Turn | None]
"""Picks one of the turns that are ready and takes it out; None if nobody can go on right now."""


def first(ready: list[Turn]) -> Turn | None:
    """First come, first served."""
    return ready.pop(0) if ready else None


_AbstractLoop: Any = asyncio.AbstractEventLoop
"""As Any: what is implemented here is only what a run of a graph asks for."""


class Loop(_AbstractLoop):  # type: ignore[misc]
    """Runs turns in the order that somebody chooses. Time passes when nothing is ready."""

    def __init__(self, pass_time: Callable[[float], None], now: Callable[[], float]) -> None:
        self.ready: list[Turn] = []
        self._later: list[tuple[float, int, Turn]] = []
        self._numbers = count()
        self._tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._pass_time = pass_time
        self._now = now

    def run(self, main: Coroutine[Any, Any, Any], choose: Choose = first) -> Any:
        """Run a coroutine to its end, and what it has started."""
        asyncio._set_running_loop(self)
        try:
            task = self.create_task(main)
            while not task.done():
                turn = choose(self.ready)
                if turn is not None:
                    if not turn.is_cancelled:
                        turn.run()
                elif not self._wait():
                    raise RuntimeError("The simulated processes wait for each other, or for something outside.")
            return task.result()
        finally:
            self._tidy_up()
            asyncio._set_running_loop(None)

    def _tidy_up(self) -> None:
        """What is left belongs to dead processes: it ends, too."""
        while self.ready or any(not task.done() for task in self._tasks):
            for task in [] if self.ready else list(self._tasks):
                task.cancel()
            while (turn := first(self.ready)) is not None:
                if not turn.is_cancelled:
                    turn.run()

    def _wait(self) -> bool:
        """Let time pass until something is ready. Returns whether there is anything."""
        if not self._later:
            return False
        self._pass_time(max(0.0, self._later[0][0] - self._now()))
        self.wake()
        return True

    def wake(self) -> None:
        """Make ready what has waited long enough."""
        while self._later and self._later[0][0] <= self._now():
            self.ready.append(heapq.heappop(self._later)[2])

    # What asyncio asks of a loop

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        turn = Turn(callback, args, context)
        self.ready.append(turn)
        return turn

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        return self.call_at(self._now() + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        turn = Turn(callback, args, context, when)
        heapq.heappush(self._later, (when, next(self._numbers), turn))
        return turn

    def time(self) -> float:
        return self._now()

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None) -> "asyncio.Task[Any]":
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.add(task)
        return task

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
        """There are no threads here: the function is a turn like any other."""
        future = self.create_future()
        self.call_soon(_settle, future, func, args)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """What dead processes leave behind is nobody's concern."""

    def get_task_factory(self) -> None:
        return None

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: Any) -> None:
        """Asked by asyncio's own handles; there are none."""


def _settle(future: "asyncio.Future[Any]", func: Callable[..., Any], args: tuple[Any, ...]) -> None:
    if future.cancelled():
        return
    try:
        result = func(*args)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
