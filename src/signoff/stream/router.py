"""The router: takes each event of a run to the transformers, one after the other, and then to whoever reads the run.

What it does is written once, as steps; transformers are called where the run is: by calling, or by awaiting.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from signoff.errors import InvalidInput, NeedsAsync, StreamAborted, StreamMisused
from signoff.steps import Steps, adrive, drive
from signoff.stream.events import ProtocolEvent, made
from signoff.stream.stream_channel import StreamChannel
from signoff.stream.transformer import StreamTransformer, needs_async

if TYPE_CHECKING:
    from signoff.stream.nests import Nests

__all__ = ["FEW", "Factory", "Router", "factories_of"]

Factory = Callable[[tuple[str, ...]], StreamTransformer]
"""Makes a transformer for a run, or for a nested graph: its scope is the namespace of that."""


FEW = 100
"""How many events, or nested graphs, wait for a reader who has not begun yet: each of them may hold much."""


class Tell(NamedTuple):
    """An effect: call a method of a transformer, or in an async run the one that is awaited."""

    transformer: StreamTransformer
    method: str
    args: tuple[Any, ...] = ()


class Settle(NamedTuple):
    """An effect: wait for what a transformer has scheduled, or call it off."""

    transformer: StreamTransformer
    calls_off: bool = False


def perform(effect: Any) -> Any:
    """Do it, in a sync run."""
    return getattr(effect.transformer, effect.method)(*effect.args) if type(effect) is Tell else None


async def aperform(effect: Any) -> Any:
    """Do it, in an async run."""
    if type(effect) is Tell:
        return await getattr(effect.transformer, "a" + effect.method)(*effect.args)
    scheduled = [task for task in effect.transformer.scheduled() if task is not asyncio.current_task()]
    for task in scheduled if effect.calls_off else ():
        task.cancel()
    ended = await asyncio.gather(*scheduled, return_exceptions=True)
    errors = [one for one in ended if isinstance(one, Exception)]  # not one that somebody has cancelled
    if errors and not effect.calls_off:
        raise errors[0]
    return None


class Router:
    """The transformers of a run, or of a nested graph in it, and their projections."""

    def __init__(self, factories: Sequence[Factory], scope: tuple[str, ...], *, is_async: bool) -> None:
        self.scope = scope
        self.is_async = is_async
        self.pull: Callable[[], bool] = _nothing
        """Have the next event of the run taken in. Returns whether there was one."""
        self.apull: Callable[[], Awaitable[bool]] = _anothing
        self.projections: dict[str, Any] = {}
        self.native: set[str] = set()
        """The projections that are attributes of the run."""
        self.events: StreamChannel[ProtocolEvent] = StreamChannel(maxlen=FEW)
        self.events.join(self)
        self.above: Router | None = None
        """The router of the graph around."""
        self.nests: Nests | None = None
        """The runs of the graphs that are nested in it, if somebody shows them."""
        self.stopped: StreamAborted | None = None
        """Why there is no more to come, though the run has not ended."""
        self._factories = factories
        self._owners: dict[str, StreamTransformer] = {}
        self._methods: dict[int, str] = {}
        """What the events of named channels are called."""
        self._places = self._numbers = 0
        made_here = [factory(scope) for factory in factories]
        self.transformers = sorted(made_here, key=lambda one: not getattr(one, "before_builtins", False))
        for transformer in self.transformers:
            self._register(transformer)
            transformer.joined(self)

    @property
    def modes(self) -> list[str]:
        """The stream modes that the transformers need."""
        return list(dict.fromkeys(mode for one in self.transformers for mode in one.required_stream_modes))

    def inside(self, scope: tuple[str, ...]) -> "Router":
        """A router with the same transformers, for a nested graph. It is driven by the same run."""
        inner = Router(self._factories, scope, is_async=self.is_async)
        inner.pull, inner.apull, inner.above = self.pull, self.apull, self
        return inner

    def _register(self, transformer: StreamTransformer) -> None:
        name = type(transformer).__name__
        if not isinstance(transformer, StreamTransformer):
            raise InvalidInput(f"{transformer!r} was made for transformers=[...]. Make a StreamTransformer.")
        if needs_async(transformer) and not self.is_async:
            raise NeedsAsync(f"{name} waits for an event loop. Read the run with astream_events(...) instead.")
        projections = transformer.init()
        if not isinstance(projections, dict):
            raise InvalidInput(f"{name}.init() returned {projections!r}. Return a dict: projections by their names.")
        for key, projection in projections.items():
            if key in self.projections:
                other = type(self._owners[key]).__name__
                raise InvalidInput(f"{name} and {other} both have a projection {key!r}. Give one of them another name.")
            self.projections[key], self._owners[key] = projection, transformer
            if isinstance(projection, StreamChannel):
                projection.join(self)
                self._methods[id(projection)] = f"{'' if transformer._native else 'custom:'}{projection.name}"
        if transformer._native:
            self.native.update(projections)

    # What happens

    def push(self, event: ProtocolEvent) -> Steps[None]:
        """Take an event to all transformers, and, unless one of them keeps it back, to the readers of the run."""
        is_kept_back = False
        for transformer in self.transformers:
            if (yield Tell(transformer, "process", (event,))) is False:
                is_kept_back = True
        if not is_kept_back:
            self._show(event)

    def close(self) -> Steps[None]:
        """The run is over, or called off. What goes wrong in a transformer is raised when all have heard of it."""
        error: BaseException | None = None
        for transformer in self.transformers:
            try:
                yield Settle(transformer, calls_off=self.stopped is not None)
                yield Tell(transformer, "finalize")
            except Exception as failure:
                error = failure if error is None else error
        for channel in self._channels():
            channel.close() if error is None else channel.fail(error)
        if error is not None:
            raise error

    def fail(self, error: BaseException) -> Steps[None]:
        """The run has failed, and so has everything that was made of it."""
        for transformer in self.transformers:
            try:
                yield Settle(transformer, calls_off=True)
                yield Tell(transformer, "fail", (error,))
            except Exception as failure:
                error.add_note(f"Then {type(transformer).__name__} failed to take it: {failure!r}")
        for channel in self._channels():
            channel.fail(error)

    def forward(self, channel: StreamChannel[Any], item: Any) -> None:
        """Show what was pushed to a channel with a name. Transformers have made it, so they do not see it."""
        if not self.events.is_closed:
            self._show(made(self._methods.get(id(channel), f"custom:{channel.name}"), [], item))

    def next_place(self) -> int:
        """A number for what comes now, to tell what came first in several channels."""
        self._places += 1
        return self._places

    def _show(self, event: ProtocolEvent) -> None:
        if self.above is None:  # else it is the event of the run around, which has numbered it, or will
            self._numbers += 1
            event["seq"] = self._numbers
        self.events.push(event)

    def _channels(self) -> list[StreamChannel[Any]]:
        channels = [one for one in self.projections.values() if isinstance(one, StreamChannel) and not one.is_closed]
        return [*channels, self.events]


def run_here(steps: Steps[Any]) -> Any:
    """Do what a router has to, in a sync run."""
    return drive(steps, perform)


async def arun_here(steps: Steps[Any]) -> Any:
    """Do what a router has to, in an async run."""
    return await adrive(steps, aperform)


def factories_of(given: Sequence[Any] | None) -> list[Factory]:
    """Checks what was given as transformers."""
    for one in given or ():
        if isinstance(one, StreamTransformer) or not callable(one):
            raise StreamMisused(
                f"{one!r} was given in transformers=[...]. Give the class of a StreamTransformer, or a function that "
                "makes one: lambda scope: MyTransformer(scope, ...). Each run, and each nested graph, has its own."
            )
    return list(given or ())


def _nothing() -> bool:
    return False


async def _anothing() -> bool:
    return False
