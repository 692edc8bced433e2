"""The witness of a world: sees every call and everything that a store accepts, and knows what must not happen.

- a task whose result was stored is not called again;
- a question is answered once;
- a thread is taken only as it was seen, and nobody writes to it with an epoch that is not its own any more.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from signoff import _scope
from signoff.constants import ASKS, CALLED, ERROR, ERROR_SOURCE, INTERRUPT, RESUME
from signoff.engine.ids import came_to_id

if TYPE_CHECKING:
    from signoff._snapshots import StateSnapshot
    from signoff.checkpoint.base import Commit, Lease
    from signoff.checkpoint.questions import Question
    from signoff.testing._process import Process

__all__ = ["Violation", "Witness"]

_NOT_RESULTS = {ASKS, CALLED, ERROR, ERROR_SOURCE, INTERRUPT, RESUME}


class Violation(AssertionError):
    """A promise was broken. The message says which one, and how to see it again."""


class _Thread:
    """What the witness knows of a thread."""

    def __init__(self) -> None:
        self.epoch: int | None = 0
        """That of the run that has taken it last; None for one that has died before it heard of it."""
        self.given: set[int] = set()
        """All epochs so far."""
        self.version = 0
        """Another one once anything was stored that a look would show."""
        self.seen: dict[Any, int] = {}
        """The version that each look has shown."""
        self.holder: str | None = None


class Witness:
    """Sees what the processes of a world do."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.done: Counter[str] = Counter()
        """Every side effect."""
        self.kept: Counter[str] = Counter()
        """Those of tasks whose result was stored."""
        self.calls = 0
        """How many times the function of a task was called."""
        self.accepted = 0
        """How many times a store has accepted something."""
        self.takeovers = 0
        """How many times a thread was taken from a run that had not given it back."""
        self.refused = 0
        """How many times a run was told that its thread had been taken over."""
        self.seen_dead: set[str] = set()
        """The processes that others know to be gone."""
        self._done_by: dict[tuple[str, str], list[str]] = {}
        self._at_edges: dict[str, str] = {}
        """The ids of tasks, by those under which it is stored what their functions came to, while an edge asks."""
        self._results: set[str] = set()
        self._answered: dict[str, Any] = {}
        self._threads: dict[str, _Thread] = {}
        self._prepared: dict[int, tuple[Any, Sequence[Commit]]] = {}

    # Work

    def see_call(self, process: "Process", task: Any, lease: "Lease | None") -> None:
        """A process is about to call the function of a task."""
        if task.id in self._results and self._is_current(lease):
            self._object(f"task {task.name!r} was run again by {process.name}, though its result had been stored")
        self.calls += 1
        self._done_by[process.name, task.id] = []
        self._at_edges[came_to_id(task.id)] = task.id

    def see_done(self, process: "Process", what: str) -> int:
        """A task had a side effect. Returns how many such there were."""
        self.done[what] += 1
        scope = _scope.running.get()
        if scope is not None:
            self._done_by.setdefault((process.name, scope.task.id), []).append(what)
        return self.done[what]

    def _is_current(self, lease: "Lease | None") -> bool:
        """Whether a run has its thread: one that has lost it cannot know what was stored since."""
        return lease is None or lease.epoch == self._thread(lease.thread_id).epoch

    # Questions

    def see_questions(self, state: "StateSnapshot", index: "Sequence[Question]") -> None:
        """What is open by the state of the thread, and by the index of open questions, at the same moment."""
        by_state = {question.id: question.value for question in state.interrupts}
        by_index = {question.id: question.value for question in index}
        if by_state.keys() != by_index.keys():
            self._object(f"the index of open questions has {[*by_index.values()]} and not {[*by_state.values()]}")

    # Storing

    def see_prepared(self, prepared: Any, commits: "Sequence[Commit]") -> None:
        """Remember what a saver's own form of commits stands for. Lists of it may be added up before."""
        if isinstance(prepared, list) and len(prepared) == len(commits):
            for one, commit in zip(prepared, commits, strict=True):
                self._prepared[id(one)] = one, [commit]
        else:
            self._prepared[id(prepared)] = prepared, commits

    def see_look(self, thread_id: str, seen: Any) -> None:
        """A run looks at a thread."""
        thread = self._thread(thread_id)
        thread.seen[seen] = thread.version

    def see_stored(
        self, process: "Process", prepared: Any, lease: "Lease | None", before: tuple[int, Any], ends: bool
    ) -> None:
        """A store has accepted commits, under a lease with this epoch, and this look at the thread, before."""
        parts = prepared if isinstance(prepared, list) else [prepared]
        commits = [commit for one in parts for commit in self._prepared.pop(id(one), (None, ()))[1]]
        self.accepted += 1
        if lease is not None:
            thread = self._thread(lease.thread_id)
            self._check_lease(process, thread, lease, *before)
            thread.holder = None if ends else lease.holder
        for commit in commits:
            if not commit.place[1] and (commit.writes or commit.has_checkpoint):
                self._thread(commit.place[0]).version += 1
            for task_id, writes, _ in commit.writes:
                self.see_writes(process, task_id, writes)

    def _check_lease(self, process: "Process", thread: _Thread, lease: "Lease", epoch: int, seen: Any) -> None:
        if epoch == 0:
            if thread.seen.get(seen) != thread.version:
                self._object(f"{process.name} took thread {lease.thread_id!r}, which was not any more as it was seen")
            self.takeovers += thread.holder is not None
            thread.epoch = lease.epoch or None
            thread.version += 1
            if lease.epoch in thread.given:
                self._object(f"{process.name} was given epoch {lease.epoch}, which another run had been given before")
            thread.given.update({lease.epoch} - {0})
        elif epoch != thread.epoch:
            self._object(
                f"a write of {process.name} with epoch {epoch} was accepted, though thread {lease.thread_id!r} "
                f"had epoch {thread.epoch}"
            )

    def see_writes(self, process: "Process", task_id: str, writes: Sequence[tuple[str, Any]]) -> None:
        """A store has accepted what a task wrote."""
        for channel, value in writes:
            if channel == RESUME:
                self._see_answers(process, task_id, value)
        if any(channel not in _NOT_RESULTS for channel, _ in writes) and task_id not in self._results:
            self._results.add(task_id)
            done_by = process.name, self._at_edges.get(task_id, task_id)
            self.kept.update(self._done_by.pop(done_by, ()))

    def _see_answers(self, process: "Process", task_id: str, answers: Any) -> None:
        given = {id: answer["value"] for id, answer in answers.items()}
        if not given:
            self._answered.pop(task_id, None)  # taken back: it could not be delivered
        elif self._answered.setdefault(task_id, given) != given:
            # The same one may be stored again: a task that waits while others go on takes it along, and whoever
            # changes the state has it marked.
            self._object(f"a second answer, of {process.name}, was accepted for question {next(iter(answers))!r}")

    def _thread(self, thread_id: str) -> _Thread:
        return self._threads.setdefault(thread_id, _Thread())

    def _object(self, what: str) -> None:
        # Only noted: raised here, it would pass for a failure of the user's code.
        self.violations.append(what)
