"""A run that somebody follows: its projections, its events, and what it comes to.

Nothing runs by itself: whoever reads a projection, the events or the output pulls the run along.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from signoff._loops import begun
from signoff.errors import InvalidInput, StreamAborted, StreamMisused
from signoff.steps import Steps
from signoff.stream.events import ProtocolEvent, event_of
from signoff.stream.router import Router, arun_here, run_here
from signoff.stream.stream_channel import StreamChannel

if TYPE_CHECKING:
    from signoff.stream.nesting import Began, Cause, Status
    from signoff.stream.transformers import LifecyclePayload
    from signoff.types import Interrupt

__all__ = ["AsyncGraphRunStream", "AsyncSubgraphRunStream", "GraphRunStream", "SubgraphRunStream"]


class _Run:
    """What is known of a run so far."""

    values: StreamChannel[Any]
    messages: StreamChannel[Any]
    lifecycle: "StreamChannel[LifecyclePayload]"
    subgraphs: StreamChannel[Any]
    # Those below are there if their transformers are.
    updates: StreamChannel[Any]
    custom: StreamChannel[Any]
    checkpoints: StreamChannel[Any]
    tasks: StreamChannel[Any]
    debug: StreamChannel[Any]
    tool_calls: StreamChannel[Any]
    subagents: StreamChannel[Any]

    def __init__(self, router: Router) -> None:
        self._router = router
        self.extensions: Mapping[str, Any] = MappingProxyType(router.projections)
        """All projections by name, those of your own transformers included."""
        self._latest: Any = None
        self._asked: dict[str, Interrupt[Any]] = {}
        self._is_over = False
        self._stopped: StreamAborted | None = None
        """Why there is no more to come, though the run has not ended."""

    def __getattr__(self, name: str) -> Any:
        router: Router | None = self.__dict__.get("_router")
        if router is not None and name in router.native:
            return router.projections[name]
        there = sorted(router.native) if router is not None else []
        raise AttributeError(
            f"This run has no projection {name!r}. It has: {', '.join(there)}. Others come with transformers: "
            "compile(transformers=[...]), or stream_events(..., transformers=[...])."
        )

    def take(self, event: ProtocolEvent) -> Steps[None]:
        """Take an event in."""
        if event["method"] == "values" and tuple(event["params"]["namespace"]) == self._router.scope:
            self._latest = event["params"]["data"]
            self._asked.update((one.id, one) for one in event["params"].get("interrupts", ()))
        yield from self._router.push(event)

    def end(self) -> Steps[None]:
        """The run has come to its end, or to a question."""
        self._is_over = True
        yield from self._router.close()

    def fail(self, error: BaseException) -> Steps[None]:
        """The run has failed."""
        self._is_over = True
        yield from self._router.fail(error)

    def _stop(self, why: str) -> None:
        """The run is called off: its readers will see no more, and it has no output."""
        self._is_over = True
        self._stopped = StreamAborted(f"{why} What it had finished by then is stored, if it has a saver: get_state().")

    def _refuse_partial(self) -> None:
        if self._router.events.error is not None:
            raise self._router.events.error
        if self._stopped is not None:
            raise self._stopped

    def _named(self, names: tuple[str, ...]) -> dict[str, StreamChannel[Any]]:
        for name in names:
            if not isinstance(self.extensions.get(name), StreamChannel):
                raise InvalidInput(
                    f"interleave({name!r}): there is no such projection. There are: {[*self.extensions]}."
                )
        return {name: self.extensions[name] for name in names}


def _first(channels: dict[str, StreamChannel[Any]]) -> str | None:
    """The channel whose thing came first; None if nothing waits."""
    waiting = {channel.first: name for name, channel in channels.items() if channel.first is not None}
    return waiting[min(waiting)] if waiting else None


class GraphRunStream(_Run):
    """A sync run. Several threads may read it."""

    def __init__(self, router: Router, parts: Iterator[Any]) -> None:
        super().__init__(router)
        self._parts: Any = parts
        self._lock = threading.RLock()
        self._pulled = 0
        router.pull = self._pull

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    def __iter__(self) -> Iterator[ProtocolEvent]:
        """All events, of nested graphs, too; those of tasks are told in `lifecycle`."""
        return iter(self._router.events)

    def interleave(self, *names: str) -> Iterator[tuple[str, Any]]:
        """What comes in several projections, in the order in which it comes: (name, thing)."""
        channels = self._named(names)
        begun: list[StreamChannel[Any]] = []
        try:
            for channel in channels.values():
                channel.begun(is_async=False)
                begun.append(channel)
            while True:
                if (name := _first(channels)) is not None:
                    yield name, channels[name].take()
                elif all(channel.is_over for channel in channels.values()) or not self._more(channels):
                    return
        finally:
            for channel in begun:
                channel.leave()

    def _more(self, channels: dict[str, StreamChannel[Any]]) -> bool:
        return self._router.pull() or any(one.first is not None or one.is_closed for one in channels.values())

    @property
    def output(self) -> Any:
        """The state in the end. Runs whatever has not run yet."""
        self._run_to_end()
        return self._latest

    @property
    def interrupted(self) -> bool:
        """Whether the run waits for answers in the end."""
        return bool(self.interrupts)

    @property
    def interrupts(self) -> "list[Interrupt[Any]]":
        """What the run asks in the end."""
        self._run_to_end()
        return list(self._asked.values())

    def abort(self) -> None:
        """Stop here. What has finished is stored; the rest is called off."""
        with self._lock:
            if not self._is_over:
                self._stop("The run was aborted before its end.")
                try:
                    self._parts.close()
                finally:
                    run_here(self.end())

    def _run_to_end(self) -> None:
        while self._router.pull():
            pass
        self._refuse_partial()

    def _pull(self) -> bool:
        seen = self._pulled
        with self._lock:
            if self._pulled != seen:
                return True  # another thread has pulled meanwhile
            if self._is_over:
                return False
            try:
                part = next(self._parts, None)
                run_here(self.end() if part is None else self.take(event_of(part)))
            except Exception as error:
                self._parts.close()
                run_here(self.fail(error))
            except BaseException:  # Ctrl-C, or the pause of a run around this one
                self._stop("The run was broken off.")
                run_here(self.end())
                raise
            self._pulled += 1
            return not self._is_over


class AsyncGraphRunStream(_Run):
    """An async run. Several coroutines may read it."""

    def __init__(self, router: Router, parts: AsyncIterator[Any]) -> None:
        super().__init__(router)
        self._parts: Any = parts
        self._pulling: asyncio.Task[None] | None = None
        self._waiting = 0
        router.apull = self._apull

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.abort()

    def __aiter__(self) -> AsyncIterator[ProtocolEvent]:
        """All events, of nested graphs, too; those of tasks are told in `lifecycle`."""
        return aiter(self._router.events)

    async def interleave(self, *names: str) -> AsyncIterator[tuple[str, Any]]:
        """What comes in several projections, in the order in which it comes: (name, thing)."""
        channels = self._named(names)
        begun: list[StreamChannel[Any]] = []
        try:
            for channel in channels.values():
                channel.begun(is_async=True)
                begun.append(channel)
            while True:
                if (name := _first(channels)) is not None:
                    yield name, channels[name].take()
                elif all(channel.is_over for channel in channels.values()) or not await self._more(channels):
                    return
        finally:
            for channel in begun:
                channel.leave()

    async def _more(self, channels: dict[str, StreamChannel[Any]]) -> bool:
        return await self._router.apull() or any(one.first is not None or one.is_closed for one in channels.values())

    async def output(self) -> Any:
        """The state in the end. Runs whatever has not run yet."""
        await self._run_to_end()
        return self._latest

    async def interrupted(self) -> bool:
        """Whether the run waits for answers in the end."""
        return bool(await self.interrupts())

    async def interrupts(self) -> "list[Interrupt[Any]]":
        """What the run asks in the end."""
        await self._run_to_end()
        return list(self._asked.values())

    async def abort(self) -> None:
        """Stop here. What has finished is stored; the rest is called off."""
        if self._is_over:
            return
        self._stop("The run was aborted before its end.")
        if self._pulling is not None:
            self._pulling.cancel()
            await asyncio.wait({self._pulling})
        try:
            await self._parts.aclose()
        finally:
            await arun_here(self.end())

    async def _run_to_end(self) -> None:
        while await self._router.apull():
            pass
        self._refuse_partial()

    async def _apull(self) -> bool:
        """Pull the next event, or wait for whoever does. If all who wait give up, the run is called off."""
        if self._is_over:
            return False
        if self._pulling is None:
            self._pulling = begun(asyncio.get_running_loop(), self._pull_one)
        pulling = self._pulling
        self._waiting += 1
        try:
            await asyncio.wait({pulling})
        except asyncio.CancelledError:
            if self._waiting == 1 and not pulling.done():
                pulling.cancel()
                await asyncio.wait({pulling})
            raise
        finally:
            self._waiting -= 1
        if pulling.done() and not pulling.cancelled() and pulling.exception() is not None:
            pulling.result()
        return not self._is_over

    async def _pull_one(self) -> None:
        try:
            await self._take_next()
        except Exception as error:
            await self._parts.aclose()
            await arun_here(self.fail(error))
        except BaseException:  # also the pause of a run around this one
            if not self._is_over:
                self._stop("The run was called off, since whoever waited for it was.")
                await arun_here(self.end())
            raise
        finally:
            self._pulling = None

    async def _take_next(self) -> None:
        try:
            part = await anext(self._parts)
        except StopAsyncIteration:
            await arun_here(self.end())
        else:
            await arun_here(self.take(event_of(part)))


class _Nested:
    """What is known of the run of a nested graph."""

    path: tuple[str, ...]
    """Its namespace."""
    graph_name: str
    """The name of its agent, or of the node that it runs in."""
    trigger_call_id: str | None
    """The task of the graph around that it runs in."""
    cause: "Cause | None"
    """The call of a tool that it runs in, if it is an agent that a tool has called."""
    status: "Status"
    error: str | None

    @property
    def name(self) -> str:
        """The same as `graph_name`."""
        return self.graph_name

    def _describe(self, began: "Began") -> None:
        self.path, self.graph_name, self.trigger_call_id = began.namespace, began.name, began.task_id
        self.cause, self.status, self.error = began.cause, "started", None


class SubgraphRunStream(GraphRunStream, _Nested):
    """The run of a nested graph. To read it pulls the whole run along."""

    def __init__(self, router: Router, began: "Began") -> None:
        outer = router.pull
        super().__init__(router, iter(()))
        router.pull = lambda: not self._is_over and outer()
        self._describe(began)

    def __exit__(self, *_: object) -> None:
        """There is nothing to let go of: that is the run's."""

    def abort(self) -> None:
        """A nested graph does not stop alone."""
        raise _not_alone(self)


class AsyncSubgraphRunStream(AsyncGraphRunStream, _Nested):
    """The run of a nested graph. To read it pulls the whole run along."""

    def __init__(self, router: Router, began: "Began") -> None:
        outer = router.apull
        super().__init__(router, _none())
        self._describe(began)

        async def apull() -> bool:
            return not self._is_over and await outer()

        router.apull = apull

    async def __aexit__(self, *_: object) -> None:
        """There is nothing to let go of: that is the run's."""

    async def abort(self) -> None:
        """A nested graph does not stop alone."""
        raise _not_alone(self)


def _not_alone(run: _Nested) -> StreamMisused:
    return StreamMisused(f"The nested graph {run.graph_name!r} cannot be aborted alone. Abort the run that it is in.")


async def _none() -> AsyncIterator[Any]:
    return
    yield
