"""What the sync and the async saver have in common: their procedures, and what they remember."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from signoff._sqlite.migrations import set_up
from signoff.checkpoint._halves import PutsByCommit
from signoff.checkpoint.base import CheckpointTuple, Commit, Lease, Standing
from signoff.checkpoint.places import place_of, selection_of
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.sqlite import appending, filing, leasing, reading, rewriting
from signoff.checkpoint.sqlite.leasing import Hold
from signoff.checkpoint.sqlite.memo import Memo
from signoff.checkpoint.sqlite.rows import Entry, Key, as_entry
from signoff.checkpoint.sqlite.schema import SCHEMA
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["LogSaver"]

T = TypeVar("T")


class LogSaver(PutsByCommit):
    """A saver that appends to a log. Each of its procedures is one transaction."""

    has_leases: ClassVar[bool] = True
    has_questions: ClassVar[bool] = True

    def __init__(self, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.is_setup = False
        self.clock: Callable[[], float] = time.time
        self._memo = Memo()

    def prepare(self, commits: Sequence[Commit]) -> list[Entry]:
        """Encode commits, at once, so that what the program changes afterwards is not stored."""
        serde = self.serde
        return [as_entry(serde, commit) for commit in commits]

    def _set_up(self) -> Steps[None]:
        yield from set_up(SCHEMA)
        self.is_setup = True

    def _ready(self, steps: Steps[T]) -> Steps[T]:
        """A procedure, and at the first use the tables before it."""
        return steps if self.is_setup else self._after_setup(steps)

    def _after_setup(self, steps: Steps[T]) -> Steps[T]:
        yield from self._set_up()
        return (yield from steps)

    def _append(self, prepared: Sequence[Entry], lease: Lease | None, ends: bool) -> Steps[None]:
        hold = Hold(lease, self._until, ends) if lease is not None else None
        return self._ready(appending.append(self.serde, self._memo, prepared, hold))

    def _renew(self, lease: Lease) -> Steps[None]:
        return self._ready(leasing.renew(lease, self._until()))

    def _until(self) -> float:
        return self.clock() + (self.lease_s if self.lease_s is not None else float("inf"))

    def _find_questions(self, wanted: Wanted) -> Steps[Sequence[Question]]:
        return self._ready(filing.find(self.serde, wanted))

    def _look(self, config: RunnableConfig) -> Steps[tuple[CheckpointTuple | None, Standing]]:
        return self._ready(reading.look(self.serde, self._memo, place_of(config), self.clock()))

    def _read(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        return self._ready(reading.read(self.serde, self._memo, place_of(config)))

    def _find(
        self,
        config: RunnableConfig | None,
        filter: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Steps[list[Key]]:
        return self._ready(reading.find(selection_of(config, before), filter, limit))

    def _load(self, keys: Sequence[Key]) -> Steps[list[CheckpointTuple]]:
        return reading.load(self.serde, keys)

    def _delete_thread(self, thread_id: str) -> Steps[None]:
        return self._removing(rewriting.delete_thread(str(thread_id)))

    def _delete_for_runs(self, run_ids: Sequence[str]) -> Steps[None]:
        return self._removing(rewriting.delete_for_runs([str(id) for id in run_ids]))

    def _copy_thread(self, source: str, target: str) -> Steps[None]:
        return self._ready(rewriting.copy_thread(str(source), str(target)))

    def _prune(self, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
        return self._removing(rewriting.prune([str(id) for id in thread_ids], strategy))

    def _removing(self, steps: Steps[None]) -> Steps[None]:
        yield from self._ready(steps)
        self._memo.forget()
