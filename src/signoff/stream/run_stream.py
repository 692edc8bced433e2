"""A run that somebody follows: its projections, its events, and what it comes to.

Nothing runs by itself: whoever reads a projection, the events or the output pulls the run along.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from signoff.errors import InvalidInput, StreamMisused
from signoff.steps import Steps, arelay, relay
from signoff.stream.course import Course
from signoff.stream.events import ProtocolEvent
from signoff.stream.pulling import AsyncPuller, Puller
from signoff.stream.stream_channel import StreamChannel

if TYPE_CHECKING:
    from langchain_core.language_models.chat_model_stream import AsyncChatModelStream, ChatModelStream

    from signoff._words.questions import Interrupt
    from signoff.stream.nesting import Began, Cause, Status
    from signoff.stream.tool_calls import ToolCallStream
    from signoff.stream.transformers import LifecyclePayload

__all__ = ["AsyncGraphRunStream", "AsyncSubgraphRunStream", "GraphRunStream", "SubgraphRunStream"]


class _Run:
    """What is known of a run so far."""

    values: StreamChannel[Any]
    lifecycle: "StreamChannel[LifecyclePayload]"
    # Those below are there if their transformers are.
    updates: StreamChannel[Any]
    custom: StreamChannel[Any]
    checkpoints: StreamChannel[Any]
    tasks: StreamChannel[Any]
    debug: StreamChannel[Any]
    tool_calls: "StreamChannel[ToolCallStream]"

    def __init__(self, course: Course) -> None:
        self._course, self._router = course, course.router
        self.extensions: Mapping[str, Any] = MappingProxyType(self._router.projections)
        """All projections by name, those of your own transformers included."""
        self._refuse_hidden()

    def __getattr__(self, name: str) -> Any:
        router = self.__dict__.get("_router")
        if router is not None and name in router.native:
            return router.projections[name]
        there = sorted(router.native) if router is not None else []
        raise AttributeError(
            f"This run has no projection {name!r}. It has: {', '.join(there)}. Others come with transformers: "
            "compile(transformers=[...]), or stream_events(..., transformers=[...])."
        )

    def _refuse_hidden(self) -> None:
        """Refuse projections that nobody could reach, since the run has something else of that name."""
        for name in sorted(self._router.native):
            if hasattr(type(self), name) or name in vars(self) or name in _Nested.__annotations__:
                raise InvalidInput(
                    f"A transformer has a projection {name!r}, and `_native = True`; but a run has something else that "
                    "is called so. Give the projection another name, or read it in run.extensions without `_native`."
                )

    def _named(self, names: tuple[str, ...]) -> dict[str, StreamChannel[Any]]:
        for name in names:
            if not isinstance(self.extensions.get(name), StreamChannel):
                raise InvalidInput(
                    f"interleave({name!r}): there is no such projection. There are: {[*self.extensions]}."
                )
        return {name: self.extensions[name] for name in names}


_PULL = object()
"""An effect: have the next event of the run taken in."""


def _in_order(channels: dict[str, StreamChannel[Any]], *, is_async: bool) -> Steps[None]:
    """Yields what comes in several channels, (name, thing), in its order; where nothing waits, it asks for more."""
    begun: list[StreamChannel[Any]] = []
    try:
        for channel in channels.values():
            channel.begun(is_async=is_async)
            begun.append(channel)
        while (name := _first(channels)) is not None or not all(one.is_over for one in begun):
            if name is not None:
                yield name, channels[name].take()
            elif not (yield _PULL) and all(one.first is None and not one.is_closed for one in begun):
                return
    finally:
        for channel in begun:
            channel.leave()


def _first(channels: dict[str, StreamChannel[Any]]) -> str | None:
    """The channel whose thing came first; None if nothing waits."""
    waiting = {channel.first: name for name, channel in channels.items() if channel.first is not None}
    return waiting[min(waiting)] if waiting else None


class GraphRunStream(_Run):
    """A sync run. Several threads may read it."""

    messages: "StreamChannel[ChatModelStream]"
    subgraphs: "StreamChannel[SubgraphRunStream]"
    subagents: "StreamChannel[SubgraphRunStream]"

    def __init__(self, course: Course, parts: Iterator[Any]) -> None:
        super().__init__(course)
        self._puller = Puller(course, parts)
        self._router.pull = self._puller.pull

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    def __iter__(self) -> Iterator[ProtocolEvent]:
        """All events, of nested graphs, too; those of tasks are told in `lifecycle`."""
        return iter(self._router.events)

    def interleave(self, *names: str) -> Iterator[tuple[str, Any]]:
        """What comes in several projections, in the order in which it comes: (name, thing)."""
        return relay(_in_order(self._named(names), is_async=False), lambda _: self._router.pull(), tuple)

    @property
    def output(self) -> Any:
        """The state in the end. Runs whatever has not run yet."""
        self._run_to_end()
        return self._course.output()

    @property
    def interrupted(self) -> bool:
        """Whether the run waits for answers in the end."""
        return bool(self.interrupts)

    @property
    def interrupts(self) -> "list[Interrupt[Any]]":
        """What the run asks in the end."""
        self._run_to_end()
        return self._course.interrupts()

    def abort(self) -> None:
        """Stop here. What has finished is stored; the rest is called off."""
        self._puller.abort()

    def _run_to_end(self) -> None:
        while self._router.pull():
            pass


class AsyncGraphRunStream(_Run):
    """An async run. Several coroutines may read it."""

    messages: "StreamChannel[AsyncChatModelStream]"
    subgraphs: "StreamChannel[AsyncSubgraphRunStream]"
    subagents: "StreamChannel[AsyncSubgraphRunStream]"

    def __init__(self, course: Course, parts: AsyncIterator[Any]) -> None:
        super().__init__(course)
        self._puller = AsyncPuller(course, parts)
        self._router.apull = self._puller.pull

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.abort()

    def __aiter__(self) -> AsyncIterator[ProtocolEvent]:
        """All events, of nested graphs, too; those of tasks are told in `lifecycle`."""
        return aiter(self._router.events)

    def interleave(self, *names: str) -> AsyncIterator[tuple[str, Any]]:
        """What comes in several projections, in the order in which it comes: (name, thing)."""
        return arelay(_in_order(self._named(names), is_async=True), lambda _: self._router.apull(), tuple)

    async def output(self) -> Any:
        """The state in the end. Runs whatever has not run yet."""
        await self._run_to_end()
        return self._course.output()

    async def interrupted(self) -> bool:
        """Whether the run waits for answers in the end."""
        return bool(await self.interrupts())

    async def interrupts(self) -> "list[Interrupt[Any]]":
        """What the run asks in the end."""
        await self._run_to_end()
        return self._course.interrupts()

    async def abort(self) -> None:
        """Stop here. What has finished is stored; the rest is called off."""
        await self._puller.abort()

    async def _run_to_end(self) -> None:
        while await self._router.apull():
            pass


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

    def __init__(self, course: Course, began: "Began") -> None:
        _Run.__init__(self, course)
        self._describe(began)
        self._outer, self._router.pull = self._router.pull, self._pull_outer

    def _pull_outer(self) -> bool:
        return not self._course.is_over and self._outer()

    def __exit__(self, *_: object) -> None:
        """There is nothing to let go of: that is the run's."""

    def abort(self) -> None:
        """A nested graph does not stop alone."""
        raise _not_alone(self)


class AsyncSubgraphRunStream(AsyncGraphRunStream, _Nested):
    """The run of a nested graph. To read it pulls the whole run along."""

    def __init__(self, course: Course, began: "Began") -> None:
        _Run.__init__(self, course)
        self._describe(began)
        self._outer, self._router.apull = self._router.apull, self._pull_outer

    async def _pull_outer(self) -> bool:
        return not self._course.is_over and await self._outer()

    async def __aexit__(self, *_: object) -> None:
        """There is nothing to let go of: that is the run's."""

    async def abort(self) -> None:
        """A nested graph does not stop alone."""
        raise _not_alone(self)


def _not_alone(run: _Nested) -> StreamMisused:
    return StreamMisused(f"The nested graph {run.graph_name!r} cannot be aborted alone. Abort the run that it is in.")
