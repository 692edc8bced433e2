"""Stores on a server, sync: procedures, performed on a connection."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from signoff.steps import Steps, drive
from signoff.store import _indexing
from signoff.store._indexing import EmbedQuery, EmbedTexts, Index
from signoff.store._lifetimes import check_ttl_config, sweep_interval_s
from signoff.store._prepared import Settings
from signoff.store._sweeper import Sweeper
from signoff.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Procedures", "ServerStore", "settings_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Procedures:
    """What a kind of server brings: how it is made ready, how a batch is performed, how it is swept."""

    set_up: Callable[[], Steps[None]]
    batch: Callable[[Settings, Iterable[Op], float], Steps[list[Result]]]
    sweep: Callable[[float], Steps[int]]


def settings_of(
    index: IndexConfig | None, ttl: TTLConfig | None, deserializer: Callable[[str], dict[str, Any]] | None
) -> Settings:
    """The settings of a store, checked."""
    return Settings(Index.of(index), check_ttl_config(ttl), deserializer or json.loads)


class ServerStore(BaseStore):
    """The half of a store that is the same for every kind of server."""

    supports_ttl = True

    def __init__(
        self,
        performer: Callable[[], Callable[[Any], Any]],
        procedures: Procedures,
        *,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._performer = performer
        self._procedures = procedures
        self._settings = settings_of(index, ttl, deserializer)
        self.index_config, self.ttl_config = index, ttl
        self.embeddings = self._settings.index.embeddings if self._settings.index else None
        self.is_setup = False
        self._clock = clock
        self._sweeper = Sweeper(self)

    def setup(self) -> None:
        """Make the database ready. The first use of the store does it too."""
        self._run(self._procedures.set_up())
        self.is_setup = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""
        self._ensure_setup()
        return self._run(self._procedures.batch(self._settings, ops, self._clock()))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same as `batch`, in a thread. The async store waits without one."""
        import asyncio

        return await asyncio.to_thread(self.batch, ops)

    def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        self._ensure_setup()
        return self._run(self._procedures.sweep(self._clock()))

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "Future[None]":
        """Remove expired items now and then, in a thread; the future ends when that does."""
        return self._sweeper.start(sweep_interval_s(self.ttl_config, sweep_interval_minutes))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the thread; whether it has ended within the timeout (in seconds)."""
        return self._sweeper.stop(timeout)

    def _ensure_setup(self) -> None:
        if not self.is_setup:
            self.setup()

    def _run(self, steps: Steps[T]) -> T:
        perform = self._performer()

        def perform_or_embed(effect: Any) -> Any:
            if isinstance(effect, EmbedTexts | EmbedQuery):
                assert self._settings.index is not None, "only a store with an index asks for vectors"
                return _indexing.perform(self._settings.index, effect)
            return perform(effect)

        return drive(steps, perform_or_embed)
