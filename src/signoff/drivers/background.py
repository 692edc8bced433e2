"""Saving in the background, in order, for `durability="async"`.

Whatever has come together while the last transaction was under way goes into the next one: a run that is quicker than
its database waits for fewer of them.
"""

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from signoff.drivers.workers import submit

if TYPE_CHECKING:
    from signoff.checkpoint.base import BaseCheckpointSaver, Lease
    from signoff.drivers.saving import PieceByPiece

MOST = 200
"""How many saves go into one transaction."""


class Waiting:
    """What is still to be stored of a run."""

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece") -> None:
        self._most = MOST if saver.stores_together else 1
        self._saves: deque[tuple[Any, Lease | None, bool]] = deque()
        self.add = self._saves.append
        self.clear = self._saves.clear

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


class Background:
    """Stores what it is given, in a thread. The first error is raised at the next call."""

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece") -> None:
        self._saver = saver
        self._waiting = Waiting(saver)
        self._is_busy = False
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def save(self, prepared: Any, lease: "Lease | None", *, ends: bool) -> None:
        """Have something stored soon."""
        self._raise_error()
        with self._changed:
            self._waiting.add((prepared, lease, ends))
            if self._is_busy:
                return
            self._is_busy = True
        try:
            submit(self._work)
        except RuntimeError:  # no thread is to be had
            self._work()

    def wait(self) -> None:
        """Go on when everything is stored."""
        if self._is_busy:
            with self._changed:
                self._changed.wait_for(lambda: not self._is_busy)
        self._raise_error()

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting or self._error is not None:
                    self._waiting.clear()
                    self._is_busy = False
                    self._changed.notify_all()
                    return
                prepared, lease, ends = self._waiting.next()
            try:
                self._saver.store(prepared, lease, ends=ends)
            except BaseException as error:
                self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
