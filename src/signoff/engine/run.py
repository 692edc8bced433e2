"""A run: from where a thread stands, step after step, until it ends, pauses or is stopped."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from signoff._words.choices import Durability, OnPending
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Branch, CheckpointTuple, Commit, Lease, checkpoint_config
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_MAP, CONF
from signoff.engine.answers import Answer
from signoff.engine.pending import Pending
from signoff.engine.program import Program, Write
from signoff.errors import NotStorable
from signoff.runtime import RunControl

Nodes = frozenset[str] | None
"""Some nodes, or with None all of them."""

NO_NODES: Nodes = frozenset()

MOST_STEPS = 10_007
"""How many steps a run may take if nobody says it."""

_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Terms:
    """What a call asks of its run, checked: the same for all calls that ask the same."""

    is_saved: bool = False
    durability: Durability = "async"
    on_pending: OnPending = "raise"
    """What new input means for a thread with open questions."""
    accepts_changes: bool = False
    """Whether an answer is handed over although the program asks something else by now."""
    output_keys: str | Sequence[str] = ()
    before: Nodes = NO_NODES
    after: Nodes = NO_NODES
    takes_moments: bool = False
    """Whether the saver wants to know only what a step changed."""
    next_version: Callable[[Any], Any] | None = None
    """How a saver that numbers versions in a way of its own does it; None for 1, 2, 3."""
    has_cache: bool = False
    caches: bool = False
    """Whether there is a cache, and a node that uses it."""
    stamp: Callable[[str | None], tuple[str, int]] = lambda after: ("", 0)
    """A new checkpoint id, greater than the one given, and the time in ns: the engine has no clock."""
    now: Callable[[], str] = lambda: ""
    """The time as text."""
    shown_holder: Callable[[str], str] = str
    """How an error names the run that has a thread."""


class Run:
    """One run of a program. What most runs do not need is set by whoever knows that this one does."""

    __slots__ = (
        "_about", "answers", "around", "begins", "begins_at", "beside", "branched_off", "called", "called_by",
        "called_in", "checkpoint_id", "continues", "control", "discarded", "durability", "ended_calls", "found",
        "given", "has_breakpoints", "heads", "holder", "is_nested", "is_saved", "kept_calls", "kept_memories",
        "kept_nested", "known", "lease", "left", "marks", "memories", "metadata", "modes", "newest_id", "noted",
        "ns", "on_resume", "parents", "places", "program", "recursion_limit", "remembers", "repeated", "shown_in",
        "shows_known", "since", "stands", "stop", "stopped_nested", "terms", "thread_id", "told", "turns",
        "turns_since", "unkept", "unread", "updated_at", "waiting",
    )  # fmt: skip

    holder: str
    """The name under which the run takes its thread; empty if its saver knows no leases."""
    lease: Lease | None
    """The run's hold on its thread; nested runs have their root's."""
    recursion_limit: int
    modes: frozenset[str]
    """What somebody listens to."""
    told: Mapping[str, Any]
    """What the caller's config says about the tasks of the run, where streams show them."""
    shown_in: Mapping[str, str] | None
    """For a run whose namespace names no task that streams show: the one around it that they do, by name and id."""
    control: RunControl | None
    """The handle on the run, if there is one: it was given, or a node has its runtime."""
    metadata: Mapping[str, Any]
    """What the caller's config adds to the metadata of every checkpoint."""
    parents: Mapping[str, str]
    """For a nested run: the checkpoint of each graph around it, by namespace."""
    is_nested: bool
    continues: Callable[[Any], bool] | None
    """For a nested run: whether a saved checkpoint is this run, begun earlier, so that the input is old news."""
    on_resume: Callable[[str], Any] | None
    """Whom to tell the checkpoint that the run goes on from; None if nobody listens."""
    newest_id: str | None
    """The newest checkpoint of the thread, in a run that may begin at an older one: what it makes comes after both."""
    stands: bool
    """For an update of a graph that remembers: whether a task stands at the checkpoint that the caller named, though
    the newest one is that of another."""
    begins_at: dict[str, tuple[str, str]] | None
    """The (namespace, checkpoint) where nested graphs begin that the caller named, by the ways to them."""
    begins: Branch | None
    """The branch that the run begins, until that has a checkpoint of its own."""
    branched_off: Branch | None
    """The branch of the root that the run is on, if the thread ever went back."""
    known: Pending | None
    """What tasks, and the calls inside of them, had come to at the checkpoint that the run began at, if anything."""
    noted: object
    """Stands for what is in `marks`: another one, since a task has tried again, if there may be more in it."""
    places: tuple[object, dict[str, list[Any]]] | None
    """The same calls by their places, once somebody has asked for that, and what stood for them then: tasks in other
    threads may look, or try again, at the same moment."""
    repeated: tuple[object, dict[tuple[str, str], list[Any]]] | None
    """Those of them that are the same as others before them, once somebody has asked for that."""
    around: "Run | None"
    """With `exit`: the run around a nested one, that stores what both have done."""
    called_by: str
    """For a nested run whose graph remembers: the task that calls it. Others may call it in the same step."""
    called_in: Sequence[str]
    """For a run inside of graphs that remember: the tasks that call these, whose names their namespaces do not have."""
    since: str
    """For a nested run whose task of the root is in the place of another, since a person has changed the state: where
    that one began, and so may have the turn in a graph that remembers. The beginning of a checkpoint's id."""
    waiting: frozenset[str]
    """For a nested run: the tasks that wait around it, where branches pause on their own; under the ids that they had
    before the thread went back, too."""
    remembers: bool
    """Whether the graph of a nested run goes on, each time, from where it ended before."""
    shows_known: bool
    """Whether questions that were asked before are shown: in the first step of a run they are."""
    stop: int
    """The last step that the recursion limit allows."""
    discarded: Sequence[str]
    """The questions that new input or an update has dropped, for the history."""
    left: Sequence[str]
    """What the newest checkpoint of the thread asked and nothing has come of, in a run that begins at an older one."""
    found: dict[str, Any]
    """The answers that were stored before this run, and that no code has taken yet; nested runs share their root's."""
    beside: Sequence[Interrupt[Any]]
    """What tasks ask beside one that has failed, so that the run failed."""
    _about: tuple[Mapping[str, Any], Mapping[str, str]] | None

    def __init__(
        self, program: Program, terms: Terms, thread_id: str = "", ns: str = "", checkpoint_id: str | None = None
    ) -> None:
        self.program = program
        self.terms = terms
        self.thread_id = thread_id
        self.ns = ns
        self.checkpoint_id = checkpoint_id
        """The checkpoint that the caller named; None for the newest."""
        self.is_saved = terms.is_saved
        self.durability = terms.durability
        self.has_breakpoints = terms.before != NO_NODES or terms.after != NO_NODES
        self.answers: dict[str, Answer] = {}
        """The answers given so far, by question; nested runs share their root's."""
        self.given: dict[str, Any] = {}
        """Those of them that came with this run, and that no code has taken yet."""
        self.unread: list[str] = []
        """The questions of tasks that have finished without taking their answers, for the history."""
        self.called: dict[str, list[Write]] = {}
        """What the calls of the step under way have come to."""
        self.ended_calls: set[str] = set()
        """The ids of those that are not among them: they have failed, or their results were for one task alone."""
        self.unkept: dict[str, NotStorable] = {}
        """Those whose results could not be stored, and need not be unless the task pauses that they are for."""
        self.updated_at: str | None = None
        """The checkpoint that the run goes on from, if a person has made it with an update of the state."""
        self.marks: dict[str, str] = {}
        """Where calls were made before that may be made again, by id."""
        self.kept_nested: list[Commit] = []
        """With `exit`: what graphs nested in the step under way have done, stored if the run ends here."""
        self.kept_memories: list[Commit] = []
        """With `exit`: what nested graphs that remember have done, stored when the root ends; nested runs share its."""
        self.memories: dict[str, CheckpointTuple] = {}
        """With `exit`: where these stand, by namespace; nested runs share their root's."""
        self.turns_since: dict[str, dict[str, tuple[CheckpointTuple, bool]]] = {}
        """With `exit`: where turns in these stand that may not be stored yet, by namespace and checkpoint, and whether
        they are over; nested runs share their root's."""
        self.heads: dict[str, CheckpointTuple | None] = {}
        """Where graphs that remember stood, by namespace, when one was called first; nested runs share their root's."""
        self.turns: dict[tuple[str, str], tuple[str, CheckpointTuple | None]] = {}
        """The checkpoints that tasks have got to in these, by namespace and task; nested runs share their root's. With
        `exit`, also what is there, which may not be stored yet."""
        self.stopped_nested: dict[str, CheckpointTuple] = {}
        """With `exit`: where the others stand that have failed in the step under way."""
        self.kept_calls: list[tuple[str, Any]] = []
        """With `exit`: finished calls by the checkpoint they belong to, stored if the run ends there."""
        self.holder = self.called_by = self.since = ""
        self.lease = self.control = self.continues = self.on_resume = self.newest_id = self.begins_at = None
        self.begins = self.branched_off = self.known = self.noted = self.places = self.repeated = self.around = None
        self._about = self.shown_in = None
        self.recursion_limit = MOST_STEPS
        self.modes = self.waiting = frozenset()
        self.told = self.metadata = self.parents = _NOTHING
        self.is_nested = self.stands = self.remembers = False
        self.called_in = self.discarded = self.left = self.beside = ()
        self.shows_known = True
        self.stop = 0
        self.found = {}

    def begin_anew(self) -> None:
        """Forget what was loaded: the thread is another one by now."""
        self.lease = self.begins = self.branched_off = None
        self.found = {}
        self.forget_tasks()

    def forget_tasks(self) -> None:
        """Forget what tasks had come to where the run begins, and were answered: it does not go on with them."""
        self.known = None
        self.forget_calls()
        if not self.is_nested:
            self.answers.clear()

    def note_dropped(self, over: Container[str] | None = None) -> None:
        """Note for the history what tasks that are over, or all, had asked, and nobody has answered.

        A task may finish without asking it again: its code was changed, or it need not know any more.
        """
        asked = self.known.asked if self.known is not None else {}
        mine = asked.values() if over is None else [questions for id, questions in asked.items() if id in over]
        dropped = [one.id for questions in mine for one in questions if one.id not in self.answers]
        if dropped:
            self.discarded = [*self.discarded, *dropped]

    def end_step(self) -> None:
        """Forget what belongs to the step that is over."""
        self.known = None
        if self.called or self.marks or self.ended_calls:
            self.forget_calls()
        if (self.given or self.found) and not self.is_nested:  # others beside a nested run may not have got theirs yet
            self.given.clear()
            self.found = {}
        if self.turns and not self.is_nested:
            self.turns.clear()
        if self.kept_nested or self.stopped_nested:
            self.kept_nested.clear()
            self.stopped_nested.clear()

    def forget_calls(self) -> None:
        """Forget the calls of a step."""
        self.called, self.unkept, self.marks, self.places, self.repeated = {}, {}, {}, None, None
        self.ended_calls = set()

    def forget_passed(self, passed: Iterable[str]) -> None:
        """Forget the results of calls that were for one task alone, which has finished."""
        if self.found:
            self.ended_calls.update(passed)
        for id in passed:
            self.called.pop(id, None)
            self.unkept.pop(id, None)

    def config_of(self, checkpoint_id: str) -> RunnableConfig:
        """The config that names a checkpoint of this run; of a nested one, with those around it."""
        config = checkpoint_config(self.thread_id, self.ns, checkpoint_id)
        if self.ns:
            config[CONF][CHECKPOINT_MAP] = {**self.parents, self.ns: checkpoint_id}
        return config

    def about(self) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """What the metadata of every checkpoint of this run has, what only some have to tell included."""
        is_called = self.called_by or self.called_in
        if self.discarded or self.unread or is_called or (self.branched_off is not None and not self.ns):
            return self._noted(), self.parents
        if self._about is None or self._about[1] is not self.parents or self._about[0] is not self.metadata:
            self._about = self.metadata, self.parents
        return self._about

    def _noted(self) -> Mapping[str, Any]:
        noted = {**self.metadata}
        if self.discarded:
            noted["discarded"], self.discarded = list(self.discarded), ()
        if self.unread:
            noted["unread_answers"], self.unread = self.unread, []
        if self.called_by:
            noted["called_by"] = self.called_by
        if self.called_in:
            noted["called_in"] = list(self.called_in)
        if self.branched_off is not None and not self.ns:
            noted["branched_off"] = self.branched_off
        return noted


@dataclass(slots=True)
class Finish:
    """How a run ended."""

    status: Literal["done", "pending", "interrupt_before", "interrupt_after"]
    """At the end; with questions pending; or stopped at a breakpoint."""
    values: Any
    questions: tuple[Interrupt[Any], ...] = ()
    checkpoint_id: str = ""
