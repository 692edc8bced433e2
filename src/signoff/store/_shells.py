"""Stores in a database: procedures, performed on a connection. Here sync; _shells_aio.py is the same, async."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar

from signoff._clocks import checked_clock
from signoff.steps import Steps, drive
from signoff.store import _indexing
from signoff.store._indexing import EmbedQuery, EmbedTexts, Index
from signoff.store._lifetimes import check_ttl_config, sweep_interval_s, timeout_s
from signoff.store._prepared import Settings
from signoff.store._sweeper import Sweeper
from signoff.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Options", "Procedures", "Shell", "SyncShell"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Procedures:
    """What a kind of database brings: how it is made ready, how a batch is performed, how it is swept."""

    set_up: Callable[[], Steps[None]]
    batch: Callable[[Settings, Iterable[Op], float], Steps[list[Result]]]
    sweep: Callable[[float], Steps[int]]
    one: Callable[[Settings, Op, float], Steps[Result]] | None = None
    """How a single operation is performed whose place was checked, if that is shorter than a batch."""


class Options(TypedDict, total=False):
    """What every store in a database may be told."""

    deserializer: Callable[[str], dict[str, Any]] | None
    """What reads a stored value, given as JSON text; `json.loads` if not said."""
    index: IndexConfig | None
    """Makes items searchable by meaning."""
    ttl: TTLConfig | None
    """How long items live."""
    clock: Callable[[], float]
    """What tells the time, in seconds."""


class Shell(BaseStore):
    """What a store knows of itself, sync or async."""

    supports_ttl = True

    def __init__(
        self,
        procedures: Procedures,
        *,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = checked_clock(clock)
        self._procedures = procedures
        self._settings = Settings(Index.of(index), check_ttl_config(ttl), deserializer or json.loads)
        self.index_config, self.ttl_config = index, ttl
        self.embeddings = self._settings.index.embeddings if self._settings.index else None
        self.is_setup = False

    def _batch(self, ops: Iterable[Op]) -> Steps[list[Result]]:
        return self._procedures.batch(self._settings, ops, self._clock())

    def _one(self, op: Op) -> Steps[Result]:
        if self._procedures.one is None:
            return self._batch_of_one(op)
        return self._procedures.one(self._settings, op, self._clock())

    def _batch_of_one(self, op: Op) -> Steps[Result]:
        return (yield from self._batch([op]))[0]

    def _sweep(self) -> Steps[int]:
        return self._procedures.sweep(self._clock())

    def _index(self) -> Index:
        assert self._settings.index is not None, "only a store with an index asks for vectors"
        return self._settings.index


class SyncShell(Shell):
    """A store that performs its procedures by calling."""

    def __init__(self, procedures: Procedures, **options: Any) -> None:
        super().__init__(procedures, **options)
        self._sweeper = Sweeper(self)

    def setup(self) -> None:
        """Make the database ready. The first use of the store does it too."""
        self._run(self._procedures.set_up())
        self.is_setup = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""
        self._ensure_setup()
        return self._run(self._batch(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same as `batch`, in a thread. The async store embeds and waits without one."""
        import asyncio

        return await asyncio.to_thread(self.batch, ops)

    def _perform_one(self, op: Op) -> Any:
        self._ensure_setup()
        return self._run(self._one(op))

    async def _aperform_one(self, op: Op) -> Any:
        import asyncio

        return await asyncio.to_thread(self._perform_one, op)

    def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        self._ensure_setup()
        return self._run(self._sweep())

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "Future[None]":
        """Remove expired items now and then, in a thread; the future ends when that does. To cancel it stops that."""
        return self._sweeper.start(sweep_interval_s(self.ttl_config, sweep_interval_minutes))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the thread; whether it has ended within the timeout (in seconds)."""
        return self._sweeper.stop(timeout_s(timeout))

    def close(self) -> None:
        """Stop the sweeper, and close the connections that the store opened."""
        self.stop_ttl_sweeper()

    @contextmanager
    def _closing(self) -> Iterator[Self]:
        try:
            yield self
        finally:
            self.close()

    def _ensure_setup(self) -> None:
        if not self.is_setup:
            self.setup()

    def _run(self, steps: Steps[T]) -> T:
        """Perform a procedure."""
        raise NotImplementedError

    def _driven(self, steps: Steps[T], perform: Callable[[Any], Any]) -> T:
        """Perform a procedure, where other effects than those of an index are performed by somebody else."""
        if self._settings.index is None:
            return drive(steps, perform)

        def perform_or_embed(effect: Any) -> Any:
            if isinstance(effect, EmbedTexts | EmbedQuery):
                return _indexing.perform(self._index(), effect)
            return perform(effect)

        return drive(steps, perform_or_embed)
