"""Blocking doors to async things, so that no promise is written twice."""

import asyncio
import threading
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from signoff.store.base import BaseStore, Op, Result

__all__ = ["BlockingStore", "LoopThread"]

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="loop", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float = 60) -> T:
        """The result of a coroutine that runs in the loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout)

    def close(self) -> None:
        """End the loop and its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class BlockingStore(BaseStore):
    """A store whose sync methods go through the async ones of another."""

    supports_ttl = True

    def __init__(self, inner: Any, loop: LoopThread) -> None:
        self.inner = inner
        self.ttl_config = inner.ttl_config
        self._loop = loop

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The other's abatch, waited for."""
        results: list[Result] = self._loop.run(self.inner.abatch(ops))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The other's abatch."""
        results: list[Result] = await self.inner.abatch(ops)
        return results

    def sweep_ttl(self) -> int:
        """The other's sweep, waited for if it is async."""
        swept = self.inner.sweep_ttl()
        count: int = self._loop.run(swept) if asyncio.iscoroutine(swept) else swept
        return count
