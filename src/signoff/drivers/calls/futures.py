"""Futures of `@task` calls in a sync run."""

from collections.abc import Callable, Generator
from concurrent.futures import Future
from concurrent.futures._base import FINISHED, PENDING
from contextvars import Context
from threading import Condition
from typing import Any

from signoff._locks import Lock
from signoff.drivers.calls.soon import start_soon
from signoff.drivers.telling import TellingFuture


class CallFuture(TellingFuture):
    """The result of a call. Whoever waits for a call that no thread has begun with runs it on the spot.

    Most calls are waited for right where they were made, and nobody else ever looks. So what other threads would wait
    with, the condition of the base class, is made when somebody asks for it: it costs more than a short call.
    """

    def __init__(self, run: Callable[["CallFuture"], None] | None = None, context: Context | None = None) -> None:
        self._state, self._result, self._exception = PENDING, None, None
        self._waiters, self._done_callbacks = [], []  # type: ignore[var-annotated]
        self._made_condition: Condition | None = None
        self._changing = Lock()
        self._run = run
        """What to run, until somebody has begun with it; None for something that is known, and about to be told."""
        self._context = context
        """What to run it in, until it is over."""
        self._making = Lock()
        """Locked by whoever runs the call, and by whoever waits for that, a moment: no signal leaves it locked."""
        self.has_result = False
        """Whether the call has ended well, as almost all do."""

    @property
    def _condition(self) -> Condition:  # type: ignore[override]
        with self._changing:
            if self._made_condition is None:
                self._made_condition = Condition()
            return self._made_condition

    def set_result(self, result: Any) -> None:
        with self._changing:
            is_alone = self._made_condition is None
            if is_alone:
                self._result, self._state = result, FINISHED
        if not is_alone:
            super().set_result(result)
        self.has_result = True

    def start(self) -> None:
        """Have a worker run the call, unless somebody waits for it at once."""
        start_soon(self)

    def result(self, timeout: float | None = None) -> Any:
        if timeout is None or self.is_open:
            self.work()
        return self._result if self.has_result else super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        if timeout is None or self.is_open:
            self.work()
        return super().exception(timeout)

    def __await__(self) -> Generator[Any, None, Any]:
        """A node may have an event loop of its own."""
        import asyncio  # most sync programs do without it

        return asyncio.wrap_future(self).__await__()

    def cancel(self) -> bool:
        """Call off a call that nobody has begun with; any other goes on."""
        if self.is_open:
            with self._making:
                self._run = None
                if self._state is PENDING:
                    super().cancel()
        return self.cancelled()

    @property
    def is_open(self) -> bool:
        """Whether the call is to be made, and nobody is at it."""
        return self._state is PENDING and self._context is not None and not self._making.locked()

    def work(self) -> None:
        """Run the call, if nobody has begun with it; else wait until it is over."""
        if self._state is not PENDING:
            return  # and perhaps it is one of its callbacks that asks
        with self._making:
            run, self._run = self._run, None
            if run is not None:
                assert self._context is not None, "what is run has a context"
                self._context.run(run, self)
                self._context = None
            elif self._context is not None and self._state is PENDING:
                super().cancel()  # a signal was heard when somebody was about to run it


class CallInTurn(CallFuture):
    """A call of which only so many may run at a time, in the order in which they were made.

    Nobody runs it on the spot: who would, may wait there for one that was made before it, and that for room.
    """

    def result(self, timeout: float | None = None) -> Any:
        return self._result if self.has_result else TellingFuture.result(self, timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        return Future.exception(self, timeout)
