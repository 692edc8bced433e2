"""The transformers that come with every run, and those that show one more stream mode."""

from typing import Any, ClassVar, NotRequired, TypedDict

from signoff.steps import Steps
from signoff.stream.events import ProtocolEvent
from signoff.stream.messages import MessagesTransformer
from signoff.stream.nesting import Began, Cause, Ended, Nesting, Status, status_of
from signoff.stream.nests import Nests
from signoff.stream.router import FEW, Router, arun_here, run_here
from signoff.stream.stream_channel import StreamChannel
from signoff.stream.transformer import Joined, StreamTransformer

__all__ = [
    "CheckpointsTransformer",
    "CustomTransformer",
    "DebugTransformer",
    "LifecyclePayload",
    "LifecycleTransformer",
    "MessagesTransformer",
    "SubgraphStatus",
    "SubgraphTransformer",
    "TasksTransformer",
    "UpdatesTransformer",
    "ValuesTransformer",
]

SubgraphStatus = Status


class _OneMode(StreamTransformer):
    """Shows what a stream mode says of the graph itself, not of those nested in it."""

    _native = True
    mode: ClassVar[str]

    def __init_subclass__(cls, mode: str) -> None:
        cls.mode, cls.required_stream_modes = mode, (mode,)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self.channel: StreamChannel[Any] = StreamChannel()

    def init(self) -> dict[str, Any]:
        return {self.mode: self.channel}

    def process(self, event: ProtocolEvent) -> bool | None:
        if event["method"] == self.mode and tuple(event["params"]["namespace"]) == self.scope:
            self.channel.push(event["params"]["data"])
        return True


class ValuesTransformer(_OneMode, mode="values"):
    """`run.values`: the state after each step."""


class UpdatesTransformer(_OneMode, mode="updates"):
    """`run.updates`: what each node has written."""


class CustomTransformer(_OneMode, mode="custom"):
    """`run.custom`: what nodes tell with get_stream_writer()."""


class CheckpointsTransformer(_OneMode, mode="checkpoints"):
    """`run.checkpoints`: each checkpoint, as get_state() shows it."""


class TasksTransformer(_OneMode, mode="tasks"):
    """`run.tasks`: how tasks begin and end."""


class DebugTransformer(_OneMode, mode="debug"):
    """`run.debug`: checkpoints and tasks, with the number of the step."""


class LifecyclePayload(TypedDict):
    """A nested graph has begun or ended."""

    event: Status
    namespace: list[str]
    graph_name: NotRequired[str]
    trigger_call_id: NotRequired[str]
    """The task of the graph around that it runs in."""
    cause: NotRequired[Cause]
    error: NotRequired[str]


class LifecycleTransformer(Joined):
    """`run.lifecycle`: how the nested graphs of all depths begin and end."""

    _native = True
    required_stream_modes = ("tasks",)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._nesting = Nesting(scope, is_deep=True)
        self._channel: StreamChannel[LifecyclePayload] = StreamChannel("lifecycle")

    def init(self) -> dict[str, Any]:
        return {"lifecycle": self._channel}

    def process(self, event: ProtocolEvent) -> bool | None:
        self._tell(self._nesting.changes(event))
        return event["method"] != "tasks"  # which are told here, and shown to those who ask for them

    def finalize(self) -> None:
        if self.router.stopped is None:  # else nobody knows how they would have ended
            self._tell(self._nesting.rest("completed"))

    def fail(self, err: BaseException) -> None:
        self._tell(self._nesting.rest(*status_of(err)))

    def _tell(self, changes: "list[Began | Ended] | list[Ended]") -> None:
        for change in changes:
            self._channel.push(_began(change) if isinstance(change, Began) else _ended(change))


def _began(began: Began) -> LifecyclePayload:
    told: LifecyclePayload = {"event": "started", "namespace": list(began.namespace), "graph_name": began.name}
    if began.task_id is not None:
        told["trigger_call_id"] = began.task_id
    if began.cause is not None:
        told["cause"] = began.cause
    return told


def _ended(ended: Ended) -> LifecyclePayload:
    told: LifecyclePayload = {"event": ended.status, "namespace": list(ended.namespace)}
    if ended.error is not None:
        told["error"] = ended.error
    return told


class SubgraphTransformer(Joined):
    """`run.subgraphs`: for each nested graph a run of its own, with the same projections as this one."""

    _native = True
    supports_sync = True
    required_stream_modes = ("tasks",)
    key: ClassVar[str] = "subgraphs"

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._channel: StreamChannel[Any] = StreamChannel(maxlen=FEW)

    def init(self) -> dict[str, Any]:
        return {self.key: self._channel}

    def joined(self, router: Router) -> None:
        super().joined(router)
        if router.nests is None:
            router.nests = Nests(router)
        router.nests.viewers.append(self)

    def shows(self, began: Began) -> bool:
        """Whether a nested graph is one that it is about."""
        return True

    def show(self, run: Any) -> None:
        """Show the run of one."""
        self._channel.push(run)

    def process(self, event: ProtocolEvent) -> bool | None:
        return bool(run_here(self._take(event)))

    async def aprocess(self, event: ProtocolEvent) -> bool | None:
        return bool(await arun_here(self._take(event)))

    def finalize(self) -> None:
        run_here(self._end("completed", None, None))

    async def afinalize(self) -> None:
        await arun_here(self._end("completed", None, None))

    def fail(self, err: BaseException) -> None:
        run_here(self._end(*status_of(err), err))

    async def afail(self, err: BaseException) -> None:
        await arun_here(self._end(*status_of(err), err))

    def _take(self, event: ProtocolEvent) -> Steps[bool]:
        if (led := self._led()) is not None:
            yield from led.take(event)
        return event["method"] != "tasks"

    def _end(self, status: Status, text: str | None, error: BaseException | None) -> Steps[None]:
        if (led := self._led()) is not None:
            yield from led.end(status, text, error)

    def _led(self) -> Nests | None:
        """The nested graphs, if this is the one of their viewers that takes events to them."""
        nests = self.router.nests
        return nests if nests is not None and nests.viewers[0] is self else None
