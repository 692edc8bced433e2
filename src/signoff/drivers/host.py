"""The host of a run: what the run was given to work with, shared by all of its tasks."""

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from signoff._ambient import KEPT_AS, KEPT_IN
from signoff._reprs import repr_of
from signoff.checkpoint.places import place_of
from signoff.checkpoint.records import Commit, with_own
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_MAP, CHECKPOINT_NS, CONF, INTERRUPT, THREAD_ID
from signoff.drivers.sink import Sink
from signoff.engine.calls.task_calls import comes_back_as
from signoff.engine.effects import Chunk, Save
from signoff.engine.run import Run
from signoff.engine.showing.chunks import levels
from signoff.engine.task import Outcome
from signoff.errors import NotStorable, Undecodable
from signoff.steps import Steps

if TYPE_CHECKING:
    from signoff.cache.base import BaseCache
    from signoff.checkpoint.base import BaseCheckpointSaver
    from signoff.drivers.scopes.scope import Scope
    from signoff.store.base import BaseStore


def over(effect: Any) -> Any:
    """What performs the effects of a run that is over."""
    raise AssertionError(f"a run that is over asks for {effect!r}")


class Observer(Protocol):
    """Tells others what happens in a run; LangChain's callbacks, for one, have theirs in `bridge`."""

    def watched(self, steps: Steps[Outcome], scope: "Scope") -> Steps[Outcome]:
        """A task, told from its start to its end."""
        ...

    def tapped(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The chunks of the run, seen on their way."""
        ...


def _refusal(serde: Any, value: Any) -> NotStorable | None:
    try:
        serde.dumps_typed(value)
    except NotStorable as refused:
        return refused
    return None


def _unheard(scope: "Scope", beat: Callable[[], None]) -> AbstractContextManager[None]:
    """Nobody hears what a task calls."""
    return nullcontext()


_PLACE = frozenset((THREAD_ID, CHECKPOINT_NS, CHECKPOINT_ID, CHECKPOINT_MAP))


class Host:
    """What a run works with. What most runs do not need is set by whoever knows that this one does."""

    __slots__ = (
        "_own_settings", "ambient", "announces", "cache", "call_id", "called_off", "calls", "config", "context",
        "given", "hear_life", "is_beside", "is_left", "is_stopping", "left", "line", "loop", "max_concurrency",
        "observer", "parent", "perform", "run", "run_id", "runs_in_place", "saver", "saver_error_id", "sink",
        "step_timeout", "store",
    )  # fmt: skip

    context: Any
    sink: Sink | None
    """Where chunks go that arise inside of tasks; None if nobody listens."""
    parent: "Scope | None"
    """The task that this run is nested in."""
    given: RunnableConfig | None
    """What whoever calls this run says in its config, if it is nested; None if nothing."""
    call_id: str | None
    """What stands for the call of this run, if its graph is called by that task, and not the task's own."""
    line: str
    """What stands for the coroutine or the thread beside that task that has called this run."""
    is_beside: bool
    """Whether it is a coroutine or a thread beside that task that has called this run."""
    announces: Save | None
    """What is stored, for the run around a nested one, before that begins."""
    observer: Observer | None
    """Whoever wants to know what happens; None if nobody does."""
    hear_life: Callable[["Scope", Callable[[], None]], AbstractContextManager[None]]
    """Of an async run: what makes all that a task calls give signs of life for it, as long as the context lasts."""
    max_concurrency: int | None
    run_id: str | None
    loop: Any
    """The event loop, of an async run."""
    is_stopping: bool
    """Whether an async run waits only for what it cannot call off."""
    called_off: "set[Any] | None"
    """The calls that were under way when an async run came to its end, and were called off: each is so once."""
    is_left: bool
    """Whether nobody waits any more until an async run that is called off has ended."""
    saver_error_id: int
    """The id of the error that the saver has failed with: the run ends by that, whatever the user's code makes of it.

    Not the error itself, whose traceback leads here: nobody would free the two."""
    _own_settings: dict[str, Any] | None
    perform: Callable[[Any], Any]
    """What performs the effects of this run, from inside of its tasks too."""

    def __init__(self, run: Run, config: RunnableConfig, graph: Any, saver: "BaseCheckpointSaver[Any] | None") -> None:
        self.run = run
        self.config = config
        self.saver = saver
        self.store: BaseStore | None = graph.store
        self.cache: BaseCache[Any] | None = graph.cache
        self.step_timeout: float | None = graph.step_timeout
        self.runs_in_place = graph.step_timeout is None
        """Whether a lone task runs right where its driver is: nobody there waits for what happens inside of it."""
        self.ambient: Any = getattr(sys.modules.get(KEPT_IN), KEPT_AS, None)
        """The variable in which runnables find the config of the task that calls them; None if there are none, or the
        observer sees to it."""
        self.calls: set[Any] = set()
        """The calls under way, of an async run."""
        self.left: dict[Any, Any] = {}
        """What an async run that is called off waits for: nested runs that end, and functions in threads; some of
        these are the task of a scope."""
        self.context = self.sink = self.parent = self.given = self.call_id = self.announces = self.observer = None
        self.max_concurrency = self.run_id = self.loop = self.called_off = self._own_settings = None
        self.line = ""
        self.is_beside = self.is_stopping = self.is_left = False
        self.hear_life = _unheard
        self.saver_error_id = 0

    @property
    def root(self) -> "Host":
        """The host of the run that is nested in no other."""
        return self if self.parent is None else self.parent.host.root

    @property
    def the_saver(self) -> "BaseCheckpointSaver[Any]":
        """The saver, of a run that is known to have one."""
        assert self.saver is not None, "asked only of a host with a saver"
        return self.saver

    def call_off(self, making: Any, msg: Any = None) -> bool:
        """Cancel what makes a call of an async run. If the run ends, once: then what it has done is on its way."""
        if self.is_stopping:
            self.called_off = self.called_off or set()
            if making in self.called_off:
                return not making.done()
            self.called_off.add(making)
        return bool(making.cancel(msg))

    @property
    def has_reader(self) -> bool:
        """Whether somebody reads this very run, and not just one around it."""
        return self.sink is not None and (self.parent is None or self.sink is not self.parent.host.sink)

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, or one that it is nested in."""
        return self.perform is over or (self.parent is not None and self.parent.host.is_over)

    def is_read(self, mode: str) -> bool:
        """Whether somebody reads a stream, here or around."""
        return self.sink is not None and self.sink.listens_to(mode)

    @property
    def own_settings(self) -> dict[str, Any]:
        """What the caller says beside the place, for a saver of another kind: it may keep users apart by that."""
        if self._own_settings is None:
            place = {} if getattr(self.saver, "has_leases", False) else self.config.get(CONF) or {}
            own = {name: value for name, value in place.items() if name not in _PLACE and not name.startswith("__")}
            self._own_settings = own
        return self._own_settings

    def told(self, config: RunnableConfig) -> RunnableConfig:
        """A config for the saver, with the caller's own settings."""
        return with_own(config, self.own_settings) if self.own_settings else config

    def tell(self, commits: Sequence[Commit]) -> None:
        """Give commits for the saver the caller's own settings."""
        for commit in commits if self.own_settings else ():
            commit.own = self.own_settings

    def check_question(self, value: Any, node: str, key: str | None) -> None:
        """Refuse a question that the saver could not keep, with the path of what is wrong in it."""
        serde = getattr(self.saver, "serde", None)  # one of another kind may encode in a way of its own
        if serde is None or type(value) is str:
            return
        try:
            serde.dumps_typed(value)
        except NotStorable as refused:
            named = "" if key is None else f" with the key {key!r}"
            reason = _refusal(serde, {INTERRUPT: value}) or refused
            raise NotStorable(f"What node {node!r} asks{named} cannot be kept until the answer. {reason}") from refused

    def check_writes(self, writes: Sequence[tuple[str, Any]]) -> None:
        """Refuse what the saver could not keep."""
        serde = getattr(self.saver, "serde", None)
        if serde is not None:
            serde.dumps_typed(dict(writes))

    def fail(self, error: Exception) -> None:
        """Let the task around know that the run has failed."""
        if self.parent is not None and self.call_id is not None:
            self.parent.fail(self.call_id, error)
            self.parent.came_to.append((self.line, repr_of(error)))

    def come_to(self, values: Any) -> None:
        """Let the task around know what the run has come to."""
        if self.parent is not None and self.call_id is not None:
            self.parent.came_to.append((self.line, values))

    def comes_back(self, error: Exception) -> bool:
        """Whether an error can be stored so that it comes back as what it is: only then it is caught again."""
        if self.saver is None:
            return False
        try:
            serde = self.saver.serde
            return comes_back_as(error, serde.loads_typed(serde.dumps_typed(error)))
        except Exception:
            return False

    def load_failed(self, error: Exception, place: RunnableConfig) -> None:
        """Note why something cannot be loaded. A saver of another kind may not know which thread is to blame."""
        if isinstance(error, Undecodable):
            error.say_where(*place_of(place)[:2])
        self.saver_failed(error)

    def saver_failed(self, error: Exception) -> None:
        """Note why nothing can be stored or loaded just now, unless it is a value that is to blame."""
        if not isinstance(error, NotStorable):
            self.saver_error_id = id(error)

    def tell_around(self, error: Exception) -> None:
        """Tell the task that this run is nested in what the run ends by, if it is the saver that has failed."""
        if id(error) == self.saver_error_id and self.parent is not None:
            self.parent.refusal, self.parent.host.saver_error_id = error, id(error)

    def pass_on(self, chunks: Sequence[Chunk]) -> None:
        """Hand chunks to the reader of the run around this one."""
        if self.sink is not None:
            for ns, mode, payload in chunks:
                self.sink.send(ns, mode, payload)

    @property
    def depth(self) -> int:
        """How deep this run is nested itself."""
        return len(levels(self.run.ns))
