"""The shelf: the threads of a saver. Those in use are at hand; the others are folded into a few bytes each.

A thread that waits for an answer may wait for days, and there may be many of them. As objects it takes some thousand
bytes; folded, against the pattern of one that looks like it, some hundred.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from signoff._forks import whole
from signoff._locks import RLock
from signoff.checkpoint.memory.folding import folded, unfolded
from signoff.checkpoint.memory.spaces import Space
from signoff.checkpoint.memory.threads import Thread

__all__ = ["Shelf"]

AT_HAND = 100
"""How many threads are kept as they are: those that were used last,"""

AT_REST = 10_000
"""and of those that wait for nobody, so many more. To fold one takes about as long as a short run of it."""

_PATTERN_SIZE = 32_768
"""How far back the compression looks."""

_MEMORY_LEVEL = 5
"""What a compression sets up first: at zlib's own level that takes longer than to fold a small thread."""


class _Folded(NamedTuple):
    data: bytes
    pattern: bytes
    """What the data was compressed against."""


class Shelf:
    """Threads by their ids. Whoever gets one may change it, as long as few others are asked for meanwhile."""

    __slots__ = ("_at_hand", "_at_rest", "_folded", "_pattern", "lock")

    def __init__(self) -> None:
        self._at_hand: dict[str, Thread] = {}
        """In the order of their last use,"""
        self._at_rest: dict[str, Thread] = {}
        """and so are these."""
        self._folded: dict[str, _Folded] = {}
        self._pattern = b""
        self.lock = whole(RLock())
        """For whoever reads or changes threads."""

    def get(self, id: str) -> Thread | None:
        """A thread, if there is one."""
        at_hand = self._at_hand
        # Nothing is called between a `del` and what follows it: a signal that is heard there would lose the thread.
        if id in at_hand:
            thread = at_hand[id]
            del at_hand[id]
            at_hand[id] = thread
            return thread
        if id in self._at_rest:
            thread = self._at_rest[id]
            del self._at_rest[id]
        elif id in self._folded:
            thread = _unfolded(self._folded[id])
            del self._folded[id]
        else:
            return None
        at_hand[id] = thread
        self._tidy()
        return thread

    def new(self, id: str) -> Thread:
        """A thread that nothing was stored in so far."""
        thread = self._at_hand[id] = Thread()
        self._tidy()
        return thread

    def space(self, id: str, ns: str) -> Space:
        """A namespace of a thread, perhaps a new one."""
        thread = self.get(id) or self.new(id)
        return thread.spaces.get(ns) or thread.new_space(id, ns)

    def remove(self, id: str) -> None:
        """Forget a thread, if there is one."""
        for threads in (self._at_hand, self._at_rest, self._folded):
            threads.pop(id, None)

    def all(self) -> Iterator[tuple[str, Thread]]:
        """Every thread with its id, to be read: one that is folded stays so."""
        yield from [*self._at_hand.items(), *self._at_rest.items()]
        for id, short in list(self._folded.items()):
            yield id, _unfolded(short)

    def every(self) -> Iterator[Thread]:
        """Every thread, to be read."""
        return (thread for _, thread in self.all())

    def ids(self) -> list[str]:
        """The ids of all threads."""
        return [*self._at_hand, *self._at_rest, *self._folded]

    def _tidy(self) -> None:
        """Put away the thread that was not used for the longest time, if there are too many."""
        if len(self._at_hand) <= AT_HAND:
            return
        threads = self._at_hand
        id, thread = _oldest(threads)
        if not thread.questions:
            del threads[id]
            self._at_rest[id] = thread
            if len(self._at_rest) <= AT_REST:
                return
            threads = self._at_rest
            id, thread = _oldest(threads)
        short = self._fold(thread)
        del threads[id]
        if short is not None:
            self._folded[id] = short
        else:
            self._at_hand[id] = thread

    def _fold(self, thread: Thread) -> _Folded | None:
        """A thread in a few bytes; None if something in it cannot be written down, such as the caller's metadata."""
        try:
            data = folded(thread)
        except Exception:
            return None
        if not self._pattern:
            self._pattern = data[-_PATTERN_SIZE:]
        packer = zlib.compressobj(1, memLevel=_MEMORY_LEVEL, zdict=self._pattern)
        return _Folded(packer.compress(data) + packer.flush(), self._pattern)


def _oldest(threads: dict[str, Thread]) -> tuple[str, Thread]:
    id = next(iter(threads))
    return id, threads[id]


def _unfolded(short: _Folded) -> Thread:
    return unfolded(zlib.decompressobj(zdict=short.pattern).decompress(short.data))
