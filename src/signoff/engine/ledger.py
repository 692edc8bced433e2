"""The ledger of a run: what has to be stored, and when.

sync    each step is stored before the next one starts
async   each step is stored while the next one runs
exit    the last step is stored when the run ends, pauses, fails or is drained
"""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.checkpoint.base import Commit
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_ID, CONF, ERROR, ERROR_SOURCE, INTERRUPT, NO_WRITES
from signoff.engine.effects import Save
from signoff.engine.program import Write
from signoff.engine.run import Run
from signoff.engine.state import State, checkpoint_of, without_unsaved
from signoff.engine.task import Outcome

Record = tuple[str, Sequence[Write], str]
"""(task id, writes, path): what is stored of a task."""


class Ledger:
    """Turns what happens in a run into Saves. Every method returns the effect to yield, or None."""

    __slots__ = ("_held", "_kept", "_kept_writes", "_stored_id", "run")

    def __init__(self, run: Run, stored_id: str | None) -> None:
        self.run = run
        self._stored_id = stored_id
        """The newest checkpoint that the saver has, or is about to get."""
        self._held: list[Commit] = []
        """Commits that go out together with the next one."""
        self._kept: tuple[State, str] | None = None
        """With `exit`: the state to store in the end, and where it comes from."""
        self._kept_writes: list[Record] = []

    def renew(self, state: State) -> None:
        """Give the state that a step has led to the id of its checkpoint: the tasks planned from it depend on it."""
        state.parent_id = self._stored_id
        state.checkpoint_id, state.ts = self.run.stamp(state.checkpoint_id or None)

    def stand_beside(self, parent: RunnableConfig | None) -> None:
        """Make the next checkpoint a child of this one, and so a sibling of the newest."""
        self._stored_id = parent[CONF][CHECKPOINT_ID] if parent else None

    def checkpoint(
        self, state: State, source: str, writes: Sequence[Record] = (), *, hold: bool = False
    ) -> Save | None:
        """The state after a step, renewed before, and the writes that led to it."""
        if self.run.durability == "exit":
            self._kept, self._kept_writes = (state, source), []
            return None
        commit = self._commit(state, source, writes)
        if not self._held and not hold:
            return Save([commit], self.run.durability != "async")
        self._held.append(commit)
        return None if hold else self._release()

    def _commit(self, state: State, source: str, writes: Sequence[Record]) -> Commit:
        run = self.run
        if state.changed:
            _renew_versions(run, state)
        commit = Commit(
            (run.thread_id, run.ns, self._stored_id),
            writes,
            checkpoint_of(run.program, state),
            run.metadata_for(source, state.step),
            state.changed,
        )
        self._stored_id = state.checkpoint_id
        state.changed = set()
        return commit

    def outcomes(self, state: State, outcomes: Sequence[Outcome]) -> Save | None:
        """What tasks of the step under way came to: kept with the checkpoint that they started from."""
        records, has_pause = self.records(outcomes), any(outcome.is_paused for outcome in outcomes)
        if has_pause and self._kept is not None:
            # A pause is stored before anybody sees it, and with it what `exit` has kept until now.
            self._kept_writes += records
            return self.close()
        return self.writes(state, records, wait=has_pause)

    def records(self, outcomes: Iterable[Outcome]) -> list[Record]:
        """What is still to be stored of outcomes."""
        unsaved = self.run.program.unsaved
        records = []
        for outcome in outcomes:
            if not outcome.is_saved:
                outcome.is_saved = True
                is_plain = outcome.is_done and outcome.writes and not unsaved
                writes = outcome.writes if is_plain else _saved(outcome, unsaved)
                records.append((outcome.task.id, writes, outcome.task.saved_path))
        return records

    def writes(self, state: State, writes: Sequence[Record], *, wait: bool = False) -> Save | None:
        """Writes to keep with the newest checkpoint; with `wait`, the run goes on when they are stored."""
        if self._kept is not None:
            self._kept_writes += writes
            return None
        self._held.append(self._alone(writes, state.checkpoint_id))
        return self._release(wait)

    def close(self) -> Save | None:
        """What is left to store when the run stops."""
        if self._kept is not None:
            (state, source), self._kept = self._kept, None
            calls = [call for checkpoint_id, call in self.run.kept_calls if checkpoint_id == state.checkpoint_id]
            self._held.append(self._commit(state, source, ()))
            if self._kept_writes or calls:
                self._held.append(self._alone([*self._kept_writes, *calls], state.checkpoint_id))
            self._held += self.run.kept_nested
        return self._release(wait=True) if self._held else None

    def _alone(self, writes: Sequence[Record], checkpoint_id: str) -> Commit:
        return Commit((self.run.thread_id, self.run.ns, checkpoint_id), writes)

    def _release(self, wait: bool = False) -> Save:
        commits, self._held = self._held, []
        return Save(commits, wait or self.run.durability != "async")


def _renew_versions(run: Run, state: State) -> None:
    """Give the changed channels a new version; those without a value have none."""
    newest: Any = state.newest
    state.newest = version = (newest or 0) + 1 if run.next_version is None else run.next_version(newest)
    versions, values = state.versions, state.values
    for name in state.changed:
        if name in values:
            versions[name] = version
        else:
            versions.pop(name, None)


def _saved(outcome: Outcome, unsaved: frozenset[str]) -> Sequence[Write]:
    if outcome.error is not None:
        error: list[Write] = [(ERROR, repr(outcome.error))]
        # A handler runs on the exception itself, perhaps after a crash, so it has to survive the trip.
        return [*error, (ERROR_SOURCE, outcome.error)] if outcome.task.node.handler else error
    if outcome.questions is not None:
        return [(INTERRUPT, outcome.questions)]
    writes = outcome.writes
    if unsaved:
        writes = [(name, without_unsaved(value, unsaved)) for name, value in writes if name not in unsaved]
    return writes or [(NO_WRITES, None)]
