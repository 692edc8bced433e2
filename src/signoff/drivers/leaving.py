"""Readers that have left: a run whose stream nobody reads any more ends a moment later, and whoever comes next waits.

`async for chunk in app.astream(...): break` leaves a generator behind, which the event loop closes when it gets to it.
Until then the run still has its thread.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from signoff.checkpoint.lease import Lease

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
