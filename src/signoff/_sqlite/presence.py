"""Whether a file is still there: SQLite goes on with one that was removed, and what it writes is lost with it."""

import os
import sqlite3

from signoff._sqlite.explaining import FileUnavailable, path_of

__all__ = ["Presence"]


class Presence:
    """The file that a connection has open. A database in memory is always there."""

    __slots__ = ("_file", "_path")

    def __init__(self) -> None:
        self._path: str | None = None
        """Where the file is; nothing for a database in memory. Asked for once the connection is used."""
        self._file: tuple[int, int] | None = None
        """Which file it is."""

    def check(self, conn: sqlite3.Connection) -> None:
        """Refuse to write to a file that nobody would find."""
        if self._path is None:
            self._path = path_of(conn)
        if not self._path:
            return
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            found = None
        file = None if found is None else (found.st_dev, found.st_ino)
        if self._file is None:
            self._file = file  # the first statement makes it
        elif self._file != file:
            raise FileUnavailable(
                f"{self._path!r} was removed or replaced while it was open. What is written to it now would be lost, "
                "so nothing was. Open it again: from_conn_string(...). Stop the programs that use a file before you "
                "move it or restore it."
            )
