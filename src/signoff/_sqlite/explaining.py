"""Explaining: what sqlite3 says, as errors that name the file and say what to do."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from signoff.errors import InvalidInput, NotStorable, SaverUnavailable, Undecodable

__all__ = [
    "WITH_REMEDY",
    "BrokenFile",
    "FileUnavailable",
    "check_connection",
    "explained",
    "explaining",
    "file_named",
    "opening",
    "path_of",
]

WITH_REMEDY = (sqlite3.DatabaseError, UnicodeEncodeError)
"""The errors that may have an explanation."""


class FileUnavailable(SaverUnavailable, sqlite3.OperationalError):
    """A file cannot be opened or written just now; nothing was done."""


class TooLarge(NotStorable, sqlite3.DataError):
    """A row is larger than a connection takes; nothing was done."""


class BrokenFile(Undecodable, sqlite3.DatabaseError):
    """A file is no database, or is damaged."""


_CODES: dict[int, tuple[type[FileUnavailable | BrokenFile | TooLarge], str]] = {
    sqlite3.SQLITE_BUSY: (
        FileUnavailable,
        "{file} is locked: another program has been writing to it for longer than a statement waits. "
        "Nothing was written; try again.",
    ),
    sqlite3.SQLITE_READONLY: (
        FileUnavailable,
        "{file} cannot be written ({error}), and nothing was. See that you may write to it and to its folder, "
        "where SQLite has files beside it.",
    ),
    sqlite3.SQLITE_FULL: (
        FileUnavailable,
        "{file} cannot grow, since the disk is full, or max_page_count is reached. Nothing was written. Make room, "
        "then try again; to delete threads takes some room, too.",
    ),
    sqlite3.SQLITE_LOCKED: (
        FileUnavailable,
        "A database that connections share in memory (cache=shared) is locked: they do not wait for each other there. "
        "Nothing was written; try again. To share one without that, let all use one saver, or a file.",
    ),
    sqlite3.SQLITE_AUTH: (
        FileUnavailable,
        "The authorizer of the connection to {file} does not allow what is needed ({error}), and nothing was written. "
        "Open one that nobody else uses with from_conn_string(...).",
    ),
    sqlite3.SQLITE_INTERRUPT: (
        FileUnavailable,
        "What was asked of {file} was interrupted, by interrupt() or a progress handler of the connection. Nothing was "
        "written; try again.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        TooLarge,
        "What is to be stored in {file} takes more room than SQLite gives to a row ({error}), and nothing was written. "
        "Keep large values in files, and their names in the state.",
    ),
    sqlite3.SQLITE_IOERR: (FileUnavailable, "The disk does not let {file} be read or written ({error})."),
    sqlite3.SQLITE_CANTOPEN: (
        FileUnavailable,
        "{file} cannot be opened ({error}). Give the path of a file, without sqlite:/// or the like before it. Its "
        "folder must exist, and you must be allowed to write there.",
    ),
    sqlite3.SQLITE_NOTADB: (
        BrokenFile,
        "{file} is no SQLite database, or it is encrypted. Name another file; a new one is made if there is none.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        BrokenFile,
        "{file} is damaged ({error}). Restore it from a copy; what is left of it `sqlite3 FILE .recover` may find.",
    ),
}


def explained(error: Exception, conn: sqlite3.Connection) -> Exception | None:
    """The error in words that help; None where there are none."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"SQLite cannot store {error.object!r}: it has half of a surrogate pair in it.")
    if isinstance(error, sqlite3.ProgrammingError) and "thread" in str(error):
        return InvalidInput(
            "The connection may only be used in the thread that opened it, and runs use several: open it "
            "with sqlite3.connect(..., check_same_thread=False), or with from_conn_string(...)."
        )
    if "closed database" in str(error):
        return InvalidInput(
            "The connection is closed. Keep it open as long as graphs use it: inside of the `with` block of "
            "from_conn_string(...), read a stream to its end."
        )
    if "Could not decode to UTF-8" in str(error):
        return Undecodable(f"A text in the file is broken or was changed ({error}).")
    return _by_code(error, lambda: _file_of(conn))


def _by_code(error: Exception, name: Any) -> Exception | None:
    # The lower byte of a code is its kind; the rest says more than anybody can mend.
    known = _CODES.get(getattr(error, "sqlite_errorcode", -1) & 0xFF)
    return known[0](known[1].format(file=name(), error=error)) if known else None


def path_of(conn: sqlite3.Connection) -> str:
    """The path of the file that a connection has open; empty for a database in memory."""
    cursor = conn.cursor()
    cursor.row_factory = None  # whatever the connection's owner prefers
    return str(cursor.execute("PRAGMA database_list").fetchone()[2] or "")


def _file_of(conn: sqlite3.Connection) -> str:
    """The file of a connection, as far as it can be told."""
    try:
        return repr(path_of(conn))
    except (sqlite3.Error, TypeError, LookupError):
        return "The database"


@contextmanager
def explaining(conn: sqlite3.Connection) -> Iterator[None]:
    """Around the use of a connection: what fails is told in words that help, where there are such."""
    try:
        yield
    except WITH_REMEDY as error:
        raise explained(error, conn) or error from error


def file_named(conn_string: Any) -> str:
    """The name of a file as text."""
    try:
        return os.fsdecode(conn_string)
    except TypeError as error:
        raise InvalidInput(f"{conn_string!r} is no name of a file: give its path, or ':memory:' for none.") from error


@contextmanager
def opening(name: str) -> Iterator[None]:
    """Around the opening of a file: if it fails, the error names the file."""
    try:
        yield
    except ValueError as error:
        raise InvalidInput(f"{name!r} is no name of a file ({error}).") from error
    except sqlite3.OperationalError as error:
        raise _by_code(error, lambda: repr(name)) or error from error


def check_connection(conn: Any, *, is_async: bool = False) -> None:
    """Refuse what is no connection, or one of the other kind, and one that hands out texts as something else."""
    if isinstance(conn, str | os.PathLike):
        name = os.fspath(conn)
        raise InvalidInput(
            f"{name!r} is the name of a file, not a connection: open it with from_conn_string({name!r})."
        )
    if not hasattr(conn, "execute"):
        raise InvalidInput(f"{conn!r} is no connection to SQLite: open one with from_conn_string('name.db').")
    if hasattr(conn, "__aenter__") != is_async:
        given, wanted = ("sqlite3", "aiosqlite") if is_async else ("aiosqlite", "sqlite3")
        raise InvalidInput(
            f"This is a connection of {given}, and one of {wanted} is needed: open one with from_conn_string(...), "
            f"or take the {'sync' if is_async else 'async'} saver or store."
        )
    factory: Any = conn.text_factory if isinstance(conn, sqlite3.Connection) else str
    if factory is not str and not isinstance(factory(b""), str):
        raise InvalidInput(
            f"The connection hands out texts as {type(factory(b'')).__name__}, as its text_factory says, and names are "
            "compared as str. Open one that nobody else uses with from_conn_string(...)."
        )
