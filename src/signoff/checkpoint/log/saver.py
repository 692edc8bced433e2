"""What all savers with a log have in common: their procedures, and what they remember."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, TypeVar

from signoff._tuples import made
from signoff.checkpoint._puts import PutsByCommit
from signoff.checkpoint.base import CheckpointTuple, Commit, Lease, Standing
from signoff.checkpoint.encoding import Blob, Encoded
from signoff.checkpoint.log import appending, keeping, reading, retention
from signoff.checkpoint.log.backend import Backend, Hold, Key
from signoff.checkpoint.log.entries import Entry, as_entries
from signoff.checkpoint.log.memory import Memory
from signoff.checkpoint.log.ready import Ready, made_ready
from signoff.checkpoint.log.retention import Freed, checked_count, checked_cutoff
from signoff.checkpoint.log.shortened import Shortened
from signoff.checkpoint.places import checked_runs, checked_thread, checked_threads, place_of, selection_of
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.records import check_each_once
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["LogSaver"]

T = TypeVar("T")


class LogSaver(PutsByCommit):
    """A saver that appends to a log. A subclass says how procedures are performed."""

    has_leases: ClassVar[bool] = True
    has_questions: ClassVar[bool] = True
    stores_together: ClassVar[bool] = True
    takes_moments: ClassVar[bool] = True

    def __init__(self, backend: Backend, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.is_setup = False
        self._backend = Shortened(backend)  # type: ignore[abstract]  # the rest is the backend's
        self._memory = Memory()

    def prepare(self, commits: Sequence[Commit]) -> list[Entry | Ready]:
        """Encode commits, at once, so that what the program changes afterwards is not stored."""
        if len(commits) > 1:
            check_each_once(commits)
        so_far: dict[int, Blob] = {}
        if self._backend.carries_writes:
            ready = made_ready(self.serde, self._memory, commits, so_far)
            if ready is not None:
                return [*ready]
        return [*as_entries(Encoded(self.serde, so_far), self._memory, commits)]

    def _set_up(self) -> Steps[None]:
        yield from self._backend.set_up()
        self.is_setup = True

    def _ready(self, steps: Steps[T]) -> Steps[T]:
        """A procedure, and at the first use the tables before it."""
        return steps if self.is_setup else self._after_setup(steps)

    def _after_setup(self, steps: Steps[T]) -> Steps[T]:
        if not self.is_setup:  # else another one was quicker
            yield from self._set_up()
        return (yield from steps)

    def _append(self, prepared: Sequence[Entry | Ready], lease: Lease | None, ends: bool) -> Steps[None]:
        backend, serde, memory = self._backend, self.serde, self._memory
        step = prepared[0] if len(prepared) == 1 else None
        if type(step) is Ready and step.is_plain and lease is not None and lease.epoch and not ends:
            steps = appending.append_step(backend, serde, memory, step, lease)
        else:
            hold = made(Hold, (lease, ends)) if lease is not None else None
            steps = appending.append(backend, serde, memory, prepared, hold)
        return steps if self.is_setup else self._after_setup(steps)

    def _renew(self, lease: Lease) -> Steps[None]:
        return self._ready(self._backend.renew(lease))

    def _find_questions(self, wanted: Wanted) -> Steps[Sequence[Question]]:
        return self._ready(reading.find_questions(self._backend, self.serde, wanted))

    def _look(self, config: RunnableConfig) -> Steps[tuple[CheckpointTuple | None, Standing]]:
        return self._ready(reading.look(self._backend, self.serde, self._memory, place_of(config)))

    def _read(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        return self._ready(reading.read(self._backend, self.serde, self._memory, place_of(config)))

    def _find(
        self,
        config: RunnableConfig | None,
        filter: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Steps[list[Key]]:
        return self._ready(reading.find(self._backend, selection_of(config, before), filter, limit))

    def _find_heads(self) -> Steps[list[Key]]:
        return self._ready(reading.find_heads(self._backend))

    def _load(self, keys: Sequence[Key]) -> Steps[list[CheckpointTuple]]:
        return reading.load(self._backend, self.serde, keys)

    def _delete_thread(self, thread_id: str) -> Steps[None]:
        return self._removing(keeping.delete_threads(self._backend, [checked_thread(thread_id)]))

    def _delete_for_runs(self, run_ids: Sequence[str]) -> Steps[None]:
        return self._removing(keeping.delete_for_runs(self._backend, self.serde, checked_runs(run_ids)))

    def _copy_thread(self, source: str, target: str) -> Steps[None]:
        return self._ready(keeping.copy_thread(self._backend, checked_thread(source), checked_thread(target)))

    def _prune(self, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
        return self._removing(keeping.prune(self._backend, checked_threads(thread_ids), strategy))

    def _cleanup_before(self, cutoff: datetime, dry_run: bool, with_questions: bool) -> Steps[Freed]:
        cutoff = checked_cutoff(cutoff)
        return self._removing(
            retention.cleanup_before(
                self._backend, self.serde, cutoff, self.lease_s, dry_run=dry_run, with_questions=with_questions
            )
        )

    def _keep_last(
        self, count: int, thread_ids: Sequence[str] | None, dry_run: bool, with_questions: bool
    ) -> Steps[Freed]:
        wanted = None if thread_ids is None else checked_threads(thread_ids)
        return self._removing(
            retention.keep_last(
                self._backend, checked_count(count), wanted, dry_run=dry_run, with_questions=with_questions
            )
        )

    def _removing(self, steps: Steps[T]) -> Steps[T]:
        result = yield from self._ready(steps)
        self._memory.forget()
        return result
