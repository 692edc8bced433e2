"""What the sync and the async saver have in common."""

import time
from collections.abc import Callable
from typing import Any

from signoff.checkpoint.log.saver import LogSaver
from signoff.checkpoint.sqlite.tables import SqliteTables

__all__ = ["SqliteLogSaver"]


class SqliteLogSaver(LogSaver):
    """A saver with its log in a SQLite file. The clock is that of the machine, which all who use the file share."""

    def __init__(self, *, serde: Any = None) -> None:
        super().__init__(SqliteTables(lambda: self.clock(), self._until), serde=serde)
        self.clock: Callable[[], float] = time.time

    def _until(self) -> float:
        return self.clock() + (self.lease_s if self.lease_s is not None else float("inf"))
