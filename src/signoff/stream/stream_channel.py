"""Stream channels: what a projection has for its reader, one thing after the other.

Whoever reads pulls the run along: where nothing waits, its next event is taken, and goes to all projections.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from signoff._locks import Lock
from signoff.errors import InvalidInput, StreamMisused

if TYPE_CHECKING:
    from signoff.stream.router import Router

__all__ = ["StreamChannel"]

T = TypeVar("T")

KEPT = 1000
"""How many things wait for a reader who has not begun yet."""


class StreamChannel(Generic[T]):
    """A queue with one reader, who gets each thing once.

    name: what is pushed is also an event of the run, with this name; without one it is only for the reader.
    maxlen: how many things wait for a reader who has not begun yet, 1,000 if not said. The oldest go first, and whoever
    begins after that hears of it.
    """

    def __init__(self, name: str | None = None, *, maxlen: int | None = None) -> None:
        if maxlen is not None and not _is_count(maxlen):
            raise InvalidInput(f"The maxlen of a StreamChannel is {maxlen!r}. Give a number above 0, or none.")
        self.name = name
        self.error: BaseException | None = None
        """What the run has failed with."""
        self.is_closed = False
        self._room = maxlen or KEPT
        self._items: deque[tuple[int, T]] = deque()
        """What waits for the reader, and when it came."""
        self._passed = 0
        self._is_read = False
        self._router: Router | None = None

    def join(self, router: "Router") -> None:
        """Become part of a run."""
        if self._router is not None:
            raise StreamMisused(
                "A StreamChannel is part of one run only. Make a new one in __init__ or init() of its transformer, "
                "and give the transformer's class, or a function that makes one, to compile(transformers=[...])."
            )
        self._router = router

    def push(self, item: T) -> None:
        """Have something for the reader."""
        if self.is_closed:
            raise StreamMisused(f"The run is over, and {item!r} was pushed to a projection of it. Push it earlier.")
        if not self._is_read and len(self._items) == self._room:
            self._items.popleft()
            self._passed += 1
        self._items.append((self._router.next_place() if self._router is not None else 0, item))
        if self.name is not None and self._router is not None:
            self._router.forward(self, item)

    def close(self) -> None:
        """There will be nothing more."""
        self.is_closed = True

    def fail(self, error: BaseException) -> None:
        """There will be nothing more, since the run has failed."""
        self.error, self.is_closed = error, True

    # Reading

    def __iter__(self) -> Iterator[T]:
        return self.tee(1)[0]

    def __aiter__(self) -> AsyncIterator[T]:
        return self.atee(1)[0]

    def tee(self, n: int = 2) -> tuple[Iterator[T], ...]:
        """Several iterators, each of which gets everything."""
        queues: list[deque[T]] = [deque() for _ in range(_checked(n))]
        router, lock = self.begun(is_async=False), Lock()
        return tuple(self._read(router, queue, queues, lock) for queue in queues)

    def atee(self, n: int = 2) -> tuple[AsyncIterator[T], ...]:
        """Several async iterators, each of which gets everything."""
        queues: list[deque[T]] = [deque() for _ in range(_checked(n))]
        router = self.begun(is_async=True)
        return tuple(self._aread(router, queue, queues) for queue in queues)

    def begun(self, *, is_async: bool) -> "Router":
        """Make the caller the reader. Returns what more is to be pulled from."""
        router = self._router
        if router is None:
            raise StreamMisused("This StreamChannel is not part of a run: nobody has it among its projections.")
        if router.is_async != is_async:
            loop, call = ("async for", "astream_events") if router.is_async else ("for", "stream_events")
            raise StreamMisused(f"The run was begun with {call}: read its projections with `{loop}`.")
        if self._is_read:
            raise StreamMisused(
                "This projection is being read already. For several readers call its tee(n), or atee(n)."
            )
        if self._passed:
            raise StreamMisused(
                f"{self._passed} things of this projection have passed before anybody read it. Begin to read it before "
                "the run goes on: several projections at a time with interleave(...), say."
            )
        self._is_read = True
        return router

    def leave(self) -> None:
        """Let somebody else read."""
        self._is_read = False

    @property
    def first(self) -> int | None:
        """When what waits came; None if nothing does."""
        return self._items[0][0] if self._items else None

    def take(self) -> T:
        """What waits."""
        return self._items.popleft()[1]

    @property
    def is_over(self) -> bool:
        """Whether the reader has got everything. Raises what the run has failed with."""
        if self._items or not self.is_closed:
            return False
        if self.error is not None:
            raise self.error
        return True

    def _read(self, router: "Router", own: deque[T], all_queues: list[deque[T]], lock: Lock) -> Iterator[T]:
        """The readers may be in threads of their own; none of them waits for the run while it holds the lock."""
        while True:
            with lock:
                self._share(all_queues)
                is_over = not own and self.is_over
            if own:
                yield own.popleft()
            elif is_over or not (router.pull() or self._items or own or self.is_closed):
                return

    async def _aread(self, router: "Router", own: deque[T], all_queues: list[deque[T]]) -> AsyncIterator[T]:
        while True:
            self._share(all_queues)
            if own:
                yield own.popleft()
            elif self.is_over or not (await router.apull() or own or self._items or self.is_closed):
                return

    def _share(self, queues: list[deque[T]]) -> None:
        while self._items:
            item = self.take()
            for queue in queues:
                queue.append(item)


def _checked(n: Any) -> int:
    if not _is_count(n):
        raise InvalidInput(f"tee({n!r}): give the number of readers, 1 or more.")
    return int(n)


def _is_count(n: Any) -> bool:
    return isinstance(n, int) and n > 0
