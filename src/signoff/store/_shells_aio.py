"""Stores in a database, for asyncio. The same as _shells.py, in the same order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

from signoff._forks import left, watch
from signoff._loops import Once, loop_of, wait_for
from signoff.steps import Steps, adrive
from signoff.store import _indexing
from signoff.store._indexing import EmbedQuery, EmbedTexts
from signoff.store._lifetimes import sweep_interval_s, timeout_s
from signoff.store._shells import Procedures, Shell
from signoff.store._sweeper import report_failed_sweep
from signoff.store.base import Op, Result

__all__ = ["AsyncShell"]

T = TypeVar("T")


class AsyncShell(Shell):
    """A store that performs its procedures by awaiting, in the event loop that it was made in."""

    def __init__(self, procedures: Procedures, **options: Any) -> None:
        super().__init__(procedures, **options)
        self.loop = loop_of(type(self).__name__, "take the sync store")
        self._sweeper: asyncio.Task[None] | None = None
        self._setting_up = Once()
        watch(self)

    def after_fork(self) -> None:
        """In a forked child: the loop is the parent's, and nobody runs it here."""
        self.loop, self._sweeper = left(self.loop), None

    async def setup(self) -> None:
        """Make the database ready. The first use of the store does it too."""
        await self._run(self._procedures.set_up())
        self.is_setup = True

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""
        await self._ensure_setup()
        return await self._run(self._batch(ops))

    async def _aperform_one(self, op: Op) -> Any:
        await self._ensure_setup()
        return await self._run(self._one(op))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The same as `abatch`, for other threads than the event loop's."""
        return wait_for(self.abatch(ops), self.loop, self)

    def _perform_one(self, op: Op) -> Any:
        return wait_for(self._aperform_one(op), self.loop, self)

    async def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        await self._ensure_setup()
        return await self._run(self._sweep())

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "asyncio.Task[None]":
        """Remove expired items now and then, in a task of the event loop."""
        interval_s = sweep_interval_s(self.ttl_config, sweep_interval_minutes)
        if self._sweeper is None or self._sweeper.done() or self._sweeper.cancelling():
            self._sweeper = asyncio.create_task(self._sweep_every(interval_s), name="ttl-sweeper")
        return self._sweeper

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the task; whether it has ended within the timeout (in seconds)."""
        seconds = timeout_s(timeout)
        if self._sweeper is None:
            return True
        self._sweeper.cancel()
        done, _ = await asyncio.wait([self._sweeper], timeout=seconds)
        return bool(done)

    async def close(self) -> None:
        """Stop the sweeper, and close the connections that the store opened."""
        await self.stop_ttl_sweeper()

    @asynccontextmanager
    async def _closing(self) -> AsyncIterator[Self]:
        try:
            yield self
        finally:
            await self.close()

    async def _sweep_every(self, interval_s: float) -> None:
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self.sweep_ttl()
            except Exception:
                report_failed_sweep()

    async def _ensure_setup(self) -> None:
        if not self.is_setup:
            await self._setting_up.do(self.setup)

    async def _run(self, steps: Steps[T]) -> T:
        """Perform a procedure."""
        raise NotImplementedError

    async def _driven(self, steps: Steps[T], perform: Callable[[Any], Awaitable[Any]]) -> T:
        """Perform a procedure, where other effects than those of an index are performed by somebody else."""
        if self._settings.index is None:
            return await adrive(steps, perform)

        async def perform_or_embed(effect: Any) -> Any:
            if isinstance(effect, EmbedTexts | EmbedQuery):
                return await _indexing.aperform(self._index(), effect)
            return await perform(effect)

        return await adrive(steps, perform_or_embed)
