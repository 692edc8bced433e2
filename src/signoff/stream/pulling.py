"""Pulling: a run goes on when somebody who reads it asks for more, and ends when it has ended, or is called off.

The sync puller first, then its twin for event loops.
"""

import asyncio
import weakref
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any

from signoff._locks import RLock
from signoff._loops import begun
from signoff.errors import StreamMisused
from signoff.steps import Steps
from signoff.stream.course import Course
from signoff.stream.events import event_of
from signoff.stream.router import arun_here, run_here

__all__ = ["AsyncPuller", "Puller"]

ABORTED = "The run was aborted before its end."
BROKEN_OFF = "The run was broken off."
CALLED_OFF = "The run was called off, since whoever waited for it was."

_within: ContextVar[tuple[object, ...]] = ContextVar("_within", default=())
"""The marks of the pullers that this code is called by: it is a node, or a transformer, of their runs."""


class Puller:
    """Pulls a sync run along, for whichever thread asks."""

    def __init__(self, course: Course, parts: Iterator[Any]) -> None:
        self._course = course
        self._parts: Any = parts
        self._mark = object()  # not itself: what runs keeps its context, and must not keep the run
        self._lock = RLock()
        self._pulled = 0
        self._is_pulling = self._is_stepping = self._is_called_off = False
        # Holds the parts until nobody has the run any more: collected with it, they could not be closed in their order.
        weakref.finalize(course, _close, parts).atexit = False

    def pull(self) -> bool:
        """Have the next event taken in, unless another thread does meanwhile. Returns whether there may be more."""
        if self._is_stepping and self._mark in _within.get():
            raise _own_run()
        seen = self._pulled
        with self._lock:
            if self._pulled != seen:
                return True
            if self._course.is_over:
                return False
            self._pull_within()
            self._pulled += 1
            return not self._course.is_over

    def abort(self) -> None:
        """Call the run off. If one of its own nodes or transformers does, it stops when that is done."""
        self._is_called_off = True  # before the lock: whoever pulls now is the last one who does
        if self._is_pulling and self._mark in _within.get():
            return
        with self._lock:
            if not self._course.is_over:
                self._leave(ABORTED)

    def _pull_within(self) -> None:
        was_pulling, self._is_pulling = self._is_pulling, True
        token = _within.set((*_within.get(), self._mark))
        try:
            self._take_next()
        finally:
            _within.reset(token)
            self._is_pulling = was_pulling

    def _take_next(self) -> None:
        try:
            part = self._step()
            run_here(self._course.end() if part is None else self._course.take(event_of(part)))
            if self._is_called_off and not self._course.is_over:
                self._leave(ABORTED)
        except Exception as error:
            self._close(self._course.fail(error))
        except BaseException:  # Ctrl-C, or the pause of a run around this one
            self._leave(BROKEN_OFF)
            raise

    def _step(self) -> Any:
        self._is_stepping = True
        try:
            return next(self._parts, None)
        finally:
            self._is_stepping = False

    def _leave(self, why: str) -> None:
        self._course.stop(why)
        self._close(self._course.end())

    def _close(self, ending: Steps[None]) -> None:
        try:
            self._parts.close()
        finally:
            run_here(ending)


class AsyncPuller:
    """Pulls an async run along, for whichever coroutine asks."""

    def __init__(self, course: Course, parts: AsyncIterator[Any]) -> None:
        self._course = course
        self._held = [parts]
        self._mark = object()
        self._pulling: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._waiting = 0
        # As above. The event loop closes what nobody holds.
        weakref.finalize(course, self._held.clear).atexit = False

    async def pull(self) -> bool:
        """Have the next event taken in, or wait for whoever does. If all who wait give up, the run is called off."""
        if self._course.is_over:
            return False
        pulling = self._under_way()
        if not pulling.done() and self._mark in _within.get():
            raise _own_run()
        self._waiting += 1
        try:
            await asyncio.wait({pulling})
        except asyncio.CancelledError:
            if self._waiting == 1 and self._pulling is pulling:
                await self._call_off(CALLED_OFF)
            raise
        finally:
            self._waiting -= 1
        if not pulling.cancelled() and pulling.exception() is not None:
            pulling.result()
        return not self._course.is_over

    async def abort(self) -> None:
        """Call the run off, and with it whatever is running."""
        if not self._course.is_closed and asyncio.current_task() is not self._leaving:
            self._course.stop(ABORTED)
            await self._call_off(ABORTED)
            if self._leaving is not None:
                self._leaving.result()

    def _under_way(self) -> "asyncio.Task[None]":
        if self._pulling is None or self._pulling.done():
            self._pulling = begun(asyncio.get_running_loop(), self._take_next)
        return self._pulling

    async def _call_off(self, why: str) -> None:
        if self._pulling is not None and not self._pulling.done():
            self._pulling.cancel()
            await asyncio.wait({self._pulling})
        await self._leave(why)

    async def _take_next(self) -> None:
        _within.set((*_within.get(), self._mark))
        try:
            await self._take_part()
        except Exception as error:
            await self._close(self._course.fail(error))
        except BaseException:  # also the pause of a run around this one
            await self._leave(CALLED_OFF)
            raise

    async def _take_part(self) -> None:
        try:
            part = await anext(self._held[0])
        except StopAsyncIteration:
            await arun_here(self._course.end())
        else:
            await arun_here(self._course.take(event_of(part)))

    async def _leave(self, why: str) -> None:
        """Close everything, once; it is closed also if whoever wants it is cancelled meanwhile."""
        if self._course.is_closed and self._leaving is None:
            return
        if self._leaving is None:
            self._course.stop(why)
            self._leaving = begun(asyncio.get_running_loop(), self._close, self._course.end())
        await asyncio.wait({self._leaving})

    async def _close(self, ending: Steps[None]) -> None:
        parts: Any = self._held[0]
        try:
            await parts.aclose()
        finally:
            await arun_here(ending)


def _close(parts: Any) -> None:
    parts.close()


def _own_run() -> StreamMisused:
    return StreamMisused(
        "A node cannot read the run that it is part of: the run would wait for it, and it for the run."
    )
