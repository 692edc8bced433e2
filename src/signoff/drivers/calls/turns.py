"""Turns: so many calls of a task run at a time on an event loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Turns(asyncio.Semaphore):
    """Who may run now, in the order in which they came."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._waiting: set[asyncio.Task[Any] | None] = set()
        self._are_over = False

    async def come(self) -> None:
        """Wait until it is one's turn; `release()` gives that to the next one."""
        if self._are_over:
            raise asyncio.CancelledError
        me = asyncio.current_task()
        self._waiting.add(me)
        try:
            await self.acquire()
        finally:
            self._waiting.discard(me)

    @contextmanager
    def over(self) -> Iterator[None]:
        """Call off those who wait, and whoever comes meanwhile."""
        self._are_over = True
        for one in list(self._waiting):
            if one is not None:
                one.cancel()
        try:
            yield
        finally:
            self._are_over = False
