"""Transformers: what makes a projection out of the events of a run."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from signoff.errors import NeedsAsync
from signoff.stream.events import ProtocolEvent

if TYPE_CHECKING:
    from signoff.stream.router import Router

__all__ = ["Joined", "StreamTransformer", "needs_async"]

_logger = logging.getLogger(__name__)


class StreamTransformer(ABC):
    """Sees every event of a run, in the order in which they happen, and fills the projections that `init` returns.

    A class of its own is made for each run, and for each nested graph whose events are read: `scope` says which, by its
    namespace. Write `process`, or, if it has to wait for something, `aprocess`; the latter only for async runs.
    """

    requires_async: ClassVar[bool] = False
    """Set to refuse sync runs: `schedule` needs an event loop, say."""
    supports_sync: ClassVar[bool] = False
    """Set if `process` does in sync runs what `aprocess` does in async ones."""
    required_stream_modes: ClassVar[tuple[str, ...]] = ()
    """The stream modes whose events it is made of."""
    before_builtins: ClassVar[bool] = False
    """Set to see events before all others do: what it changes in them, texts it blackens say, nobody sees."""
    _native: ClassVar[bool] = False
    """Set to have the projections as attributes of the run, and not only in `extensions`."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        self.scope = scope
        self._under_way: set[asyncio.Task[Any]] = set()

    @abstractmethod
    def init(self) -> dict[str, Any]:
        """The projections by name. A StreamChannel is closed when the run is over."""

    def process(self, event: ProtocolEvent) -> bool | None:
        """Take an event. If False is returned, those who read the run itself do not get it."""
        raise NotImplementedError(f"{type(self).__name__} has neither process() nor aprocess().")

    async def aprocess(self, event: ProtocolEvent) -> bool | None:
        """The same in an async run; the run waits for it."""
        return self.process(event)

    def finalize(self) -> None:  # noqa: B027
        """The run has ended well, or with a question."""

    async def afinalize(self) -> None:
        """The same in an async run, when all that was scheduled is done."""
        self.finalize()

    def fail(self, err: BaseException) -> None:  # noqa: B027
        """The run has failed."""

    async def afail(self, err: BaseException) -> None:
        """The same in an async run, when all that was scheduled is called off."""
        self.fail(err)

    def schedule(
        self, coro: Coroutine[Any, Any, Any], *, on_error: Literal["log", "raise"] = "log"
    ) -> "asyncio.Task[Any]":
        """Do something beside the run, which ends after it. What fails is logged, or ends the run with its error."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            coro.close()
            raise NeedsAsync(
                f"{type(self).__name__}.schedule() needs an event loop: read the run with astream_events(...), and set "
                "requires_async = True on the class, so that others hear of it at once."
            ) from None
        scheduled = self.__dict__.setdefault("_under_way", set())  # __init__ may have been replaced
        task = loop.create_task(_logged(coro) if on_error == "log" else coro)
        scheduled.add(task)
        task.add_done_callback(lambda done: _forget_if_well(scheduled, done, coro))
        return task

    def scheduled(self) -> list["asyncio.Task[Any]"]:
        """What was scheduled and is not done yet, or has failed."""
        return list(self.__dict__.get("_under_way", ()))

    def joined(self, router: "Router") -> None:  # noqa: B027
        """Told what it belongs to."""


class Joined(StreamTransformer):
    """One that looks at the run that it belongs to."""

    router: "Router"
    """Known before anything happens."""

    def joined(self, router: "Router") -> None:
        self.router = router


def _forget_if_well(
    scheduled: "set[asyncio.Task[Any]]", task: "asyncio.Task[Any]", coro: Coroutine[Any, Any, Any]
) -> None:
    coro.close()  # it has not begun if the task was cancelled before that
    if task.cancelled() or task.exception() is None:
        scheduled.discard(task)


async def _logged(coro: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await coro
    except Exception:
        _logger.exception("What a StreamTransformer has scheduled failed")


def needs_async(transformer: StreamTransformer) -> bool:
    """Whether a transformer cannot follow a sync run."""
    if transformer.requires_async or transformer.supports_sync:
        return transformer.requires_async
    kind = type(transformer)
    return any(
        getattr(kind, name) is not getattr(StreamTransformer, name) for name in ("aprocess", "afinalize", "afail")
    )
