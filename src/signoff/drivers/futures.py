"""Futures of `@task` calls in a sync run."""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from threading import Lock
from typing import Any

from signoff.drivers.soon import start_soon


class CallFuture(Future[Any]):
    """The result of a call. Whoever waits for a call that no thread has begun with runs it on the spot."""

    def __init__(self, run: Callable[["CallFuture"], None] | None) -> None:
        super().__init__()
        self._run = run
        self._context: Context | None = None
        self._begun = Lock()
        self.has_result = False
        """Whether the call has ended well, as almost all do."""

    def set_result(self, result: Any) -> None:
        super().set_result(result)
        self.has_result = True

    @classmethod
    def of_known(cls) -> "CallFuture":
        """A future of something that is known, and about to be told."""
        future = cls(None)
        future._begun.acquire()
        return future

    def start(self, context: Context) -> None:
        """Have a worker run the call, unless somebody waits for it at once."""
        self._context = context
        start_soon(self)

    @property
    def is_begun(self) -> bool:
        """Whether some thread runs the call, or has."""
        return self._begun.locked()

    def result(self, timeout: float | None = None) -> Any:
        self.work()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.work()
        return super().exception(timeout)

    def work(self) -> None:
        """Run the call, if nobody has begun with it."""
        if self._begun.acquire(blocking=False):
            assert self._run is not None, "a future that is not done has something to run"
            assert self._context is not None, "a future is started as soon as it is made"
            self._context.run(self._run, self)
            self._context = self._run = None
