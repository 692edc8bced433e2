"""Saving in the background, in order, for `durability="async"`.

Whatever has come together while the last transaction was under way goes into the next one: a run that is quicker than
its database waits for fewer of them.
"""

from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from signoff._locks import Lock
from signoff.drivers.workers import submit

if TYPE_CHECKING:
    from signoff.checkpoint.base import BaseCheckpointSaver, Lease
    from signoff.drivers.saving.piecewise import PieceByPiece

MOST = 200
"""How many saves go into one transaction."""


class Waiting:
    """What is still to be stored of a run, and what has gone wrong with the rest."""

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece") -> None:
        self._most = MOST if saver.stores_together else 1
        self._saves: deque[tuple[Any, Lease | None, bool]] = deque()
        self.add = self._saves.append
        self.clear = self._saves.clear
        self.error: BaseException | None = None

    def __bool__(self) -> bool:
        return bool(self._saves)

    def next(self) -> "tuple[Any, Lease | None, bool]":
        """What goes into the next transaction: as much as may."""
        prepared, lease, ends = self._saves.popleft()
        if not self._saves or self._most == 1:
            return prepared, lease, ends
        together = list(prepared)
        for _ in range(min(len(self._saves), self._most - 1)):
            prepared, lease, ends = self._saves.popleft()
            together += prepared
        return together, lease, ends

    def raise_error(self) -> None:
        """Raise what has gone wrong, once."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error


class Background:
    """Stores what it is given, in a thread, where no signal is heard. The first error is raised at the next call."""

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece") -> None:
        self._saver = saver
        self._waiting = Waiting(saver)
        self._is_called = False
        """Whether a thread was told that there is something to do."""
        self._storing = Lock()

    def save(self, prepared: Any, lease: "Lease | None", *, ends: bool) -> None:
        """Have something stored soon."""
        self._waiting.raise_error()
        self._waiting.add((prepared, lease, ends))
        if self._is_called:
            return
        self._is_called = True
        try:
            submit(self._work)
        except RuntimeError:  # no thread is to be had
            self._work()

    def wait(self) -> None:
        """Go on when everything is stored."""
        self._let_finish()  # whoever is storing takes all that there is, as a rule
        if self._waiting:
            self._have_stored()
        self._let_finish()  # somebody may have begun with the last of it after the first look
        self._waiting.raise_error()

    def _let_finish(self) -> None:
        if self._storing.locked():
            with self._storing:
                pass

    def _have_stored(self) -> None:
        """Wait for a thread that stores what is left: not for the one that was called, which perhaps was not woken."""
        stored: SimpleQueue[None] = SimpleQueue()

        def work() -> None:
            self._store_all()
            stored.put(None)

        try:
            submit(work)
        except RuntimeError:  # no thread is to be had
            work()
        stored.get()

    def _work(self) -> None:
        while True:
            self._store_all()
            self._is_called = False
            if not self._waiting:
                return
            self._is_called = True  # something has come in the very moment in which nobody was to be called

    def _store_all(self) -> None:
        with self._storing:
            while self._waiting:
                prepared, lease, ends = self._waiting.next()
                try:
                    self._saver.store(prepared, lease, ends=ends)
                except BaseException as error:
                    self._waiting.error = error
                    self._waiting.clear()
