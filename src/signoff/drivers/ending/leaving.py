"""Readers that have left: a run whose stream nobody reads any more ends a moment later, and whoever comes next waits.

`async for chunk in app.astream(...): break` leaves a generator behind, which the event loop closes when it gets to it.
Until then the run still has its thread.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from signoff.checkpoint.lease import Lease

T = TypeVar("T")

_TURNS = 3
"""After how many turns of the loop a generator that was left behind is being closed."""

_leaving: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
"""The runs that are about to end, by holder."""


@contextmanager
def leaving(lease: Lease | None) -> Iterator[None]:
    """Let others know, meanwhile, that a run is about to let go of its thread."""
    if lease is None:
        yield
        return
    left = asyncio.Event()
    _leaving[lease.holder] = asyncio.get_running_loop(), left
    try:
        yield
    finally:
        del _leaving[lease.holder]
        left.set()


async def has_left(holder: str) -> bool:
    """Whether a run that has a thread was just about to end, and has."""
    for _ in range(_TURNS):
        loop, left = _leaving.get(holder, (None, None))
        if left is not None and loop is asyncio.get_running_loop():
            await left.wait()
            return True
        await asyncio.sleep(0)
    return False


class Owned(Generic[T]):
    """An async generator that is closed by whoever has it, and by nobody else.

    An event loop that ends closes all generators that it knows of at the same time, and the collector does so with what
    it finds. What is inside of another one would be closed by both, of which Python makes an error.
    """

    __slots__ = ("_among", "_generator")

    def __init__(self, generator: AsyncGenerator[T, None]) -> None:
        self._generator = generator
        self._among: set[Owned[Any]] | None = None

    def __aiter__(self) -> "Owned[T]":
        return self

    def __anext__(self) -> Awaitable[T]:
        return self._begin() if self._among is None else self._generator.__anext__()

    def _begin(self) -> Awaitable[T]:
        for loop in list(_open):
            if loop.is_closed():
                _open.pop(loop, None)
        self._among = _open.setdefault(asyncio.get_running_loop(), set())
        self._among.add(self)
        known = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(None, None)
        try:
            return self._generator.__anext__()  # what it tells of itself, it tells here
        finally:
            sys.set_asyncgen_hooks(*known)

    async def aclose(self) -> None:
        """Close it."""
        try:
            await self._generator.aclose()
        finally:
            if self._among is not None:
                self._among.discard(self)


_open: dict[asyncio.AbstractEventLoop, set[Owned[Any]]] = {}
"""Those that have begun on each loop: out of the collector's reach until their owners close them, or it is closed."""
