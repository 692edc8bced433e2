"""Tasks: one execution of one node in one step, and how it came out."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from signoff._words.policies import TimeoutPolicy
from signoff._words.questions import Interrupt
from signoff.constants import PULL, PUSH
from signoff.engine import ids
from signoff.engine.program import Node, Values, Write
from signoff.errors import NodeError

if TYPE_CHECKING:
    from signoff.engine.state import State


Record = tuple[str, Sequence[Write], str]
"""(id, writes, path): what is stored of a task, or beside it."""


class Task:
    """A node that is due, with its input. Its id is worked out when somebody asks, unless its checkpoint is stored."""

    __slots__ = (
        "_id", "began_at", "cache_key", "caller", "checkpoint_id", "error", "input", "is_saved", "made_as", "mark",
        "node", "ns", "path", "step", "timeout", "triggers", "values",
    )  # fmt: skip

    cache_key: tuple[tuple[str, ...], str]
    """What its result is cached under, if it is. It is found out before the task may change its input in place."""
    mark: str
    """Where the call was made, for the call of a @task function."""
    made_as: tuple[str, ...]
    """What its id is made of, beside that of its caller."""

    def __init__(
        self,
        node: Node,
        input: Any,
        path: tuple[Any, ...],
        triggers: tuple[str, ...],
        state: "State",
        timeout: TimeoutPolicy | None = None,
        digest: str = "",
    ) -> None:
        self.node = node
        self.input = input
        self.path = path
        self.triggers = triggers
        self.step = state.step + 1
        self.checkpoint_id = self.began_at = state.checkpoint_id
        self.is_saved = state.is_saved
        # The digest is that of a Send's place, where there is one.
        self._id: str | None = state.place + (digest or node.digest) if state.place else None
        self.ns = state.ns
        self.values: Values = state.values
        self.timeout = timeout or node.timeout
        self.caller: Task | None = None
        """The task that made this call, for the call of a @task function."""
        self.error: NodeError | None = None
        """What went wrong, for the task of an error handler."""

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def id(self) -> str:
        """Comes out the same whenever the task is planned again from the same checkpoint."""
        if self._id is None:
            way = "\0".join(map(str, self.path if self.path[0] == PUSH else self.triggers))
            place = f"{self.checkpoint_id}\0{self.ns}\0{self.step}\0{self.node.name}"
            self._id = ids.as_uuid(f"{place}\0{way}")
        return self._id

    @id.setter
    def id(self, id: str) -> None:
        self._id = id

    @property
    def is_sent(self) -> bool:
        """Whether a Send has brought it, with an input of its own."""
        return bool(self.path[0] == PUSH)

    @property
    def reads_state(self) -> bool:
        """Whether it depends on the state. One that was sent has an input of its own, but its edges may read."""
        return not self.is_sent or bool(self.node.branches)

    def retargeted(self, node: Node, path: tuple[Any, ...]) -> "Task":
        """A task for another node on the same input, in the same step."""
        other = Task.__new__(Task)
        other.node, other.path, other.timeout, other._id = node, path, node.timeout, None
        other.input, other.triggers, other.error, other.caller = self.input, self.triggers, self.error, self.caller
        other.checkpoint_id, other.began_at, other.step = self.checkpoint_id, self.began_at, self.step
        other.is_saved, other.ns, other.values = self.is_saved, self.ns, self.values
        return other

    @property
    def of_step(self) -> "Task":
        """The task of the step that a call is made in; the task itself, if it is no call."""
        return self if self.caller is None else self.caller.of_step

    @property
    def way_in(self) -> Iterator["Task"]:
        """The task, and those that call it, up to the task of the step."""
        task: Task | None = self
        while task is not None:
            yield task
            task = task.caller

    @property
    def visible(self) -> "Task":
        """The task that people know: of a call that streams leave out, the one that made it."""
        return self if self.caller is None or not self.node.is_hidden else self.caller.visible

    @property
    def shown_triggers(self) -> tuple[str, ...]:
        """What can make the task's node due, as streams and traces show it."""
        if self.path[0] == PULL:
            return self.node.triggers
        return (PUSH,) if self.is_call else self.triggers

    @property
    def shown_path(self) -> tuple[Any, ...]:
        """Where the task stands in its step, as streams and traces show it."""
        if self.caller is None or not self.is_call:
            return self.path
        return PUSH, self.caller.shown_path, self.path[-1], True

    @property
    def is_call(self) -> bool:
        """Whether the task is the call of a @task function, and not a node."""
        return self.caller is not None and type(self.path[-1]) is int

    @property
    def ns_inside(self) -> str:
        """The namespace of what runs inside this task."""
        return ids.child_ns(self.ns, self.node.name, self.id)

    @property
    def shown_ns(self) -> str:
        """The same, as configs, streams and traces show it: that of a call begins with the task that makes it."""
        if self.caller is None or not self.is_call:
            return self.ns_inside
        return ids.child_ns(self.caller.shown_ns, self.node.name, self.id)

    @property
    def keeps_graph(self) -> bool:
        """Whether the task runs a graph whose state is stored."""
        graph = self.node.graph
        return graph is not None and graph.checkpointer is not False

    @property
    def ns_of_graph(self) -> str:
        """The namespace of the graph that the task runs: its own, or for a stateful one that of its node."""
        return ids.stateful_ns(self.ns_inside) if self.node.graph.checkpointer is True else self.ns_inside

    @property
    def saved_path(self) -> str:
        """The path in a form that sorts as tasks do: those reached by edges by name, then Sends in order."""
        path, caller = self.path, self.caller
        if path[0] == PULL:
            return self.node.saved_path
        if caller is not None and type(path[-1]) is int:  # it is a call
            return f"{path[0]}~{caller.saved_path}~{str(path[-1]).zfill(10)}"
        return _sortable(path)


@lru_cache(maxsize=10_000)
def _sortable(path: tuple[Any, ...]) -> str:
    return "~".join([str(int(part)).zfill(10) if isinstance(part, int) else str(part) for part in path])


Row = Sequence["Task | Outcome"]
"""What is due in a step, in folding order: tasks that have to run, and the outcomes of those that need not."""


class Outcome:
    """How a task came out: its writes, or why it has none."""

    __slots__ = (
        "asides", "beside", "came_to", "error", "is_cached", "is_done", "is_known", "is_saved", "questions", "signal",
        "task", "untold", "writes",
    )  # fmt: skip

    came_to: Sequence[Write]
    """What the function of a task with conditional edges came to; its writes have beside that where it leads."""

    def __init__(
        self,
        task: Task,
        writes: Sequence[Write] = (),
        error: Exception | None = None,
        questions: tuple[Interrupt[Any], ...] | None = None,
        beside: tuple[Interrupt[Any], ...] = (),
        asides: Sequence[Record] = (),
        signal: BaseException | None = None,
        is_cached: bool = False,
        is_known: bool = False,
    ) -> None:
        self.task = task
        self.writes = writes
        self.asides = asides
        """What is stored with the questions: what the task told the state as it asked, and which calls wait."""
        self.error = error
        self.questions = questions
        """What the task waits for, if it paused; nothing in it means a breakpoint in a nested graph."""
        self.beside = beside
        """What calls inside of it ask, if it failed or cannot go on."""
        self.signal = signal
        """What has to leave the run: a Command for the parent graph, once the step is over, or a drain from below."""
        self.untold: Exception | None = None
        """What somebody has failed with who was told of it. What the task came to counts; the run ends by this."""
        self.is_done = error is None and questions is None and signal is None
        self.is_cached = is_cached
        self.is_known = is_known
        """Whether it comes from an earlier run, so that the task did not run in this one."""
        self.is_saved = is_known
        """Whether the checkpoint has it already."""

    @property
    def is_paused(self) -> bool:
        return self.questions is not None

    @property
    def cause(self) -> BaseException | None:
        """What the task has ended with that is no result. An exception may be false, as one that holds no items is."""
        if self.untold is not None:
            return self.untold
        return self.signal if self.error is None else self.error


def names_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """The nodes whose tasks came out, each once."""
    return tuple({outcome.task.node.name: None for outcome in outcomes})
