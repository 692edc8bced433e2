"""The ledger of a run: what has to be stored, and when.

sync    each step is stored before the next one starts
async   each step is stored while the next one runs
exit    the last step is stored when the run ends, pauses, fails or is drained
"""

from collections.abc import Iterable, Sequence

from signoff.checkpoint.base import Commit, Filing
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_ID, CONF
from signoff.engine.effects import Save
from signoff.engine.planning.new_joins import note_of_joins
from signoff.engine.run import Run
from signoff.engine.state import Stand, State
from signoff.engine.storing import exit_durability
from signoff.engine.storing.moments import moment_of, renew_versions
from signoff.engine.storing.question_index import Index
from signoff.engine.storing.task_writes import stored_outcome
from signoff.engine.task import Outcome, Record


class Ledger:
    """Turns what happens in a run into Saves. Every method returns the effect to yield, or None."""

    __slots__ = ("_held", "_kept", "_kept_closed", "_kept_writes", "_lease", "_newest_id", "_sent", "_stored_id",
                 "_takes", "_tells_all", "came", "index", "joins_at", "run", "told_id")  # fmt: skip

    def __init__(self, run: Run, stored_id: str | None) -> None:
        self.run = run
        self.index = Index(run)
        self._lease = None if run.is_nested else run.lease
        self._takes = self._lease is not None and self._lease.epoch == 0
        """Whether the thread is still to be taken: the run waits for that, before anything of the user's runs."""
        self._stored_id = stored_id
        """The newest checkpoint that the saver has, or is about to get."""
        self._newest_id = run.newest_id or stored_id
        """The one that the next must come after, to be the head of its thread: clocks may disagree, or go back."""
        self._held: list[Commit] = []
        """Commits that go out together with the next one."""
        self._sent: Save | None = None
        """The last one that was asked for."""
        self._kept: tuple[State, Stand, str, bool] | None = None
        """With `exit`: the state to store in the end, as it stands, where that comes from, and whether questions are
        open beside it. A signal may be heard while a step is being folded into the state: then it goes back."""
        self._kept_writes: list[Record] = []
        self._kept_closed: list[str] = []
        """With `exit`: the questions that are not open any more."""
        self._tells_all = True
        """Whether nothing of the step was stored before its end."""
        self.came = _NOTHING
        """What tasks of the step under way have come to, and at which checkpoint. As soon as that is on its way to the
        saver it is nothing: a signal may be heard before."""
        self.joins_at = ""
        """The checkpoint with which it is noted which joins there are."""
        self.told_id = ""
        """The id under which a caller who answers wrote to the state, too, as long as nothing has come of that."""

    def renew(self, state: State) -> None:
        """Give the state that a step has led to the id of its checkpoint: the tasks planned from it depend on it."""
        state.parent_id = self._stored_id
        state.checkpoint_id, state.at = self.run.terms.stamp(self._newest_id)
        self._newest_id = state.checkpoint_id
        state.place = state.checkpoint_id[:24]
        if self.run.begins is not None:
            self.run.branched_off, self.run.begins = {**self.run.begins, "first": state.checkpoint_id}, None

    def is_renewed(self, state: State) -> bool:
        """Whether the step under way is part of the state by now, of which nobody was asked to store anything yet."""
        return self.came[0] != state.checkpoint_id

    def stand_beside(self, parent: RunnableConfig | None) -> None:
        """Make the next checkpoint a child of this one, and so a sibling of the newest."""
        self._stored_id = parent[CONF][CHECKPOINT_ID] if parent else None

    @property
    def has_stored(self) -> bool:
        """Whether there is a checkpoint that writes can be kept with."""
        return self._stored_id is not None

    def claim(self) -> Save | None:
        """Take the thread, if nothing that the run has stored so far did."""
        return self._release(wait=True) if self._takes else None

    def checkpoint(
        self, state: State, source: str, writes: Sequence[Record] = (), *, hold: bool = False, ends: bool = False
    ) -> Save | None:
        """The state after a step, renewed before, and the writes that led to it; with `ends`, the last of the run."""
        run, self.told_id = self.run, ""
        if run.durability == "exit":
            self._kept, self._kept_writes, self.came = (state, state.stand(), source, False), [], _NOTHING
            return None
        commit = self._commit(state, source, writes)
        if not (self._held or hold or ends or self._takes):
            self._sent, self.came = Save([commit], run.durability != "async"), _NOTHING
            return self._sent
        if not run.terms.takes_moments and hold:
            commit.freeze()
        self._held, self.came = [*self._held, commit], _NOTHING
        return None if hold else self._release(ends=ends)

    def carry(
        self, state: State, writes: Sequence[Record], carried: Sequence[Record], closed: Sequence[str]
    ) -> Save | None:
        """The state after a step in which tasks wait, and what is kept for those: both of it, or nothing."""
        run, self.told_id = self.run, ""
        if run.durability == "exit":
            kept, closed = (state, state.stand(), "loop", True), [*self._kept_closed, *closed]
            self._kept, self._kept_writes, self._kept_closed, self.came = kept, [*carried], closed, _NOTHING
            return None
        waiting = self._alone(carried, state.checkpoint_id, Filing(closed=closed))
        commit = self._commit(state, "loop", writes, is_open=True)
        if not run.terms.takes_moments:
            commit.freeze()
        self._held, self.came = [*self._held, commit, waiting], _NOTHING
        return self._release(wait=True)

    def _commit(self, state: State, source: str, writes: Sequence[Record], is_open: bool = False) -> Commit:
        run = self.run
        if state.changed:
            renew_versions(run, state)
        is_closed = self.index.asked != {} and not is_open
        filing = self.index.emptied() if is_closed else None
        place = (run.thread_id, run.ns, self._stored_id)
        moment = moment_of(run, state, source)
        is_told = self._tells_all and (not run.program.meddling or run.program.meddling.isdisjoint(state.changed))
        commit = Commit(place, writes, None, None, state.changed, True, filing, moment, is_told)
        self._stored_id, self._tells_all = state.checkpoint_id, True
        if run.called_by:
            run.turns[run.ns, run.called_by] = state.checkpoint_id, None
        if is_closed:
            self.index.asked = {}
        state.changed = {}
        return commit

    def outcomes(self, state: State, outcomes: Sequence[Outcome], *, ends: bool) -> Save | None:
        """What tasks of the step under way came to: kept with the checkpoint that they started from."""
        self.told_id = ""
        paused = [outcome for outcome in outcomes if outcome.questions is not None or outcome.beside]
        records = self.records(outcomes)
        if paused and self._kept is not None:
            # A pause is stored before anybody sees it, and with it what `exit` has kept until now.
            self._hold_kept(self._kept)
        if paused:
            records += self.joins(state)
        filing = self.index.after(outcomes, paused) if not self.run.is_nested else None
        save = self.writes(state, records, wait=bool(paused), ends=ends, filing=filing)
        for outcome in outcomes:
            outcome.is_saved = True  # not before it is: a signal may be heard in between
        return save

    def joins(self, state: State) -> list[Record]:
        """What a thread that waits has to know of the joins of its program: once for a checkpoint."""
        if not self.run.program.joins or self.joins_at == state.checkpoint_id:
            return []
        self.joins_at = state.checkpoint_id
        return [note_of_joins(self.run.program)]

    def records(self, outcomes: Sequence[Outcome]) -> list[Record]:
        """What is still to be stored of outcomes."""
        unsaved = self.run.program.unsaved
        first = outcomes[0] if len(outcomes) == 1 else None
        if first is not None and first.is_done and first.writes and not first.is_saved and not unsaved:
            # One task that has simply finished: so it is with most steps.
            return [(first.task.id, first.writes, first.task.saved_path)]
        records: list[Record] = []
        for outcome in outcomes:
            if outcome.is_saved:
                self._tells_all = False
            else:
                task, writes = outcome.task, outcome.writes
                if not writes or unsaved or not outcome.is_done:
                    writes = stored_outcome(outcome, unsaved, self.run.known)
                records.append((task.id, writes, task.saved_path))
                if outcome.asides:
                    records += outcome.asides
        return records

    def writes(
        self,
        state: State,
        writes: Sequence[Record],
        *,
        wait: bool = False,
        ends: bool = False,
        filing: Filing | None = None,
    ) -> Save | None:
        """Writes to keep with the newest checkpoint; with `wait`, the run goes on when they are stored."""
        if self._kept is not None:
            self._kept_writes += writes
            self._kept_closed += filing.closed or () if filing is not None else ()
            return None
        if self.run.kept_calls:
            writes = [*writes, *self._calls()]
        self._hold_alone(writes, state.checkpoint_id, filing)
        return self._release(wait, ends)

    def hold(self, state: State, writes: Sequence[Record], filing: Filing | None = None) -> None:
        """Writes to keep with the newest checkpoint, that go out together with it."""
        self._held.append(self._alone(writes, state.checkpoint_id, filing))

    def hold_what_came(self) -> None:
        """What tasks have come to that nobody was asked to store: it goes out with what is left of the run."""
        checkpoint_id, came = self.came
        records = self.records([outcome for outcome in came if outcome.is_done and not outcome.is_saved])
        self.came = _NOTHING
        if records and self._kept is not None:
            self._kept_writes += records
        elif records:
            self._hold_alone(records, checkpoint_id)

    def take_back(self) -> None:
        """Forget what was to be stored, and is not stored yet."""
        self._held, self._kept = [], None

    def again(self) -> Save | None:
        """What a signal, or a cancellation, has come in between of: to store a thing twice is as to store it once."""
        sent, lease = self._sent, self._lease
        if sent is not None and not sent.is_handed_over:
            self._sent = Save(sent.commits, True, sent.ends)
            return self._sent
        is_taking = lease is not None and lease.epoch == 0 and not self._takes
        return Save([], True) if is_taking else None  # the saver knows the run by its name, if the thread is its own

    @property
    def has_taken(self) -> bool:
        """Whether the run is known to have the thread: before that it has done nothing."""
        return self._lease is None or self._lease.epoch != 0

    def close(self) -> Save | None:
        """What is left to store when the run stops, and that the thread is free."""
        if self._kept is not None:
            self._hold_kept(self._kept)
        elif self.run.kept_calls and self._stored_id is not None and (calls := self._calls()):
            self._hold_alone(calls, self._stored_id)
        lease, sent = self._lease, self._sent
        is_given_back = lease is not None and lease.is_over and sent is not None and sent.is_handed_over
        is_held = lease is not None and lease.epoch != 0 and not is_given_back
        has_more = bool(self._held or self.run.kept_nested or self.run.kept_memories)
        return self._release(wait=True, ends=True) if has_more or is_held else None

    def _hold_kept(self, kept: tuple[State, Stand, str, bool]) -> None:
        """Get ready to store what `exit` has kept: it goes out with the next thing that is stored.

        All of it, or, if a signal is heard meanwhile, nothing yet.
        """
        state, stand, source, is_open = kept
        state.go_back(stand)
        exit_durability.keep_as_it_is(self.run, state)
        calls, closed = self.run.kept_calls[:], self._kept_closed
        own = {record[0]: record for record in self._kept_writes}  # once each, though a signal was heard between two
        writes = [*own.values(), *_made_at(calls, state.checkpoint_id)]
        beside = self._alone(writes, state.checkpoint_id, Filing(closed=closed) if closed else None)
        commit = self._commit(state, source, (), is_open)
        self._held += [commit, beside] if writes or closed else [commit]
        self._kept, self._kept_writes, self._kept_closed, self.run.kept_calls[: len(calls)] = None, [], [], []
        if self.run.around is not None:
            self._release()  # first: whoever remembers it may stand on it at once
            exit_durability.remember(self.run, state, commit, writes)

    def _calls(self) -> list[Record]:
        """With `exit`: what calls have come to at the newest checkpoint, and is not stored yet."""
        calls = self.run.kept_calls[:]
        self.run.kept_calls[: len(calls)] = []  # those that other threads have added since stay in it
        return _made_at(calls, self._stored_id)

    def _hold_alone(self, writes: Sequence[Record], checkpoint_id: str, filing: Filing | None = None) -> None:
        if self.run.around is not None:
            exit_durability.add(self.run, checkpoint_id, writes)
        self._held.append(self._alone(writes, checkpoint_id, filing))

    def _alone(self, writes: Sequence[Record], checkpoint_id: str, filing: Filing | None = None) -> Commit:
        place = (self.run.thread_id, self.run.ns, checkpoint_id)
        return Commit(place, writes, None, None, (), True, filing)  # by keywords it would take two thirds longer

    def _release(self, wait: bool = False, ends: bool = False) -> Save | None:
        commits = self._held
        if self.run.around is not None:
            exit_durability.leave(self.run, commits)
            return None
        if self.run.kept_nested or self.run.kept_memories:
            exit_durability.move(self.run.kept_nested, commits)
            exit_durability.move(self.run.kept_memories, commits)
            commits = exit_durability.once(commits)
        if self._lease is None:
            save = Save(commits, wait or self.run.durability != "async")
        else:
            # The last one is not handed to the background: there is nothing to do beside it.
            save = Save(commits, wait or self._takes or ends or self.run.durability != "async", ends)
            self._takes, self._lease.is_over = False, ends
        self._held, self._sent = [], save
        return save


_NOTHING: tuple[str, Iterable[Outcome]] = ("", ())


def _made_at(calls: Iterable[tuple[str, Record]], checkpoint_id: str | None) -> list[Record]:
    """Calls that belong to a checkpoint."""
    return [call for id, call in calls if id == checkpoint_id]
