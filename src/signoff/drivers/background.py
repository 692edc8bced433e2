"""Saving in the background, in order, for `durability="async"`."""

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from signoff.drivers.workers import submit

if TYPE_CHECKING:
    from signoff.checkpoint.base import BaseCheckpointSaver, Lease
    from signoff.drivers.saving import PieceByPiece


class Background:
    """Stores what it is given, one after the other. The first error is raised at the next call."""

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece") -> None:
        self._saver = saver
        self._waiting: deque[Any] = deque()
        self._is_busy = False
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def save(self, prepared: Any, lease: "Lease | None", *, ends: bool) -> None:
        """Have something stored soon."""
        self._raise_error()
        with self._changed:
            self._waiting.append((prepared, lease, ends))
            if self._is_busy:
                return
            self._is_busy = True
        submit(self._work)

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
                prepared, lease, ends = self._waiting.popleft()
            try:
                self._saver.store(prepared, lease, ends=ends)
            except BaseException as error:
                self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
