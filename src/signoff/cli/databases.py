"""The database that a command works on: a file, or the address of a server."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from os import environ
from pathlib import Path
from shlex import quote
from typing import Any

from signoff.errors import InvalidInput

DEFAULT = "sqlite:///signoff.db"


@contextmanager
def opened(db: str | None, *, is_new_allowed: bool = False) -> Iterator[Any]:
    """The saver at an address; closed at the end of the block."""
    if db == "":
        raise InvalidInput(f"--db is empty. Name a database, or leave the option out for {DEFAULT}.")
    address = db or DEFAULT
    scheme, _, rest = address.partition("://")
    if scheme == "sqlite" and _file(rest) != ":memory:":
        _check_file(Path(_file(rest)), is_new_allowed=is_new_allowed)
    with _saver(address) as saver:
        yield saver


def again(db: str | None) -> str:
    """What names the same database in the next command; nothing where that finds it by itself.

    The address of a server may have a password in it, which is not to be shown.
    """
    if db in (None, DEFAULT, environ.get("SIGNOFF_DB")):
        return ""
    return f" --db {quote(db)}" if db.startswith("sqlite:") else " --db ..."


def named(app: str, db: str | None) -> str:
    """How the next command names a graph, and the database if it needs to."""
    return quote(app) + again(db)


def next_run(app: str, thread: str) -> str:
    """The command that goes on with a thread of a graph, as that is named."""
    return f"signoff run {app} --thread {quote(thread)}"


def _saver(address: str) -> AbstractContextManager[Any]:
    scheme, _, rest = address.partition("://")
    if scheme == "sqlite":
        return _in_file(_file(rest))
    if scheme in ("postgresql", "postgres"):
        from signoff.checkpoint.postgres import PostgresSaver

        return PostgresSaver.from_conn_string(address)
    if scheme in ("redis", "rediss", "unix"):
        from signoff.checkpoint.redis import RedisSaver

        return RedisSaver.from_conn_string(address)
    mend = "Use sqlite:///file.db, postgresql://user@host/name or redis://host:6379."
    if "://" not in address:
        mend = f"For a file, write sqlite:///{address}."
    raise InvalidInput(f"--db {address!r} is no database. {mend}")


@contextmanager
def _in_file(file: str) -> Iterator[Any]:
    from signoff._sqlite.explaining import BrokenFile
    from signoff.checkpoint.sqlite import SqliteSaver

    try:
        with SqliteSaver.from_conn_string(file) as saver:
            yield saver
    except BrokenFile as error:  # seen when something is read
        raise InvalidInput(str(error)) from error


def _file(rest: str) -> str:
    """The file of `sqlite:///file.db`, `sqlite:////absolute/file.db`, or `sqlite:///:memory:`."""
    path = rest.removeprefix("/")
    if not path:
        raise InvalidInput("--db names no file. Use sqlite:///file.db.")
    return path


_MEND = "Name one with --db or SIGNOFF_DB, such as sqlite:///app.db."


def _check_file(file: Path, *, is_new_allowed: bool) -> None:
    """Refuse a place where no database can be, and to make a new file where somebody only wants to look."""
    if _is_there(file):
        if file.is_dir():
            raise InvalidInput(f"{str(file)!r} is a folder, and no database. {_MEND}")
        return
    if not is_new_allowed:
        raise InvalidInput(f"There is no database {str(file)!r} here. {_MEND}")
    if not file.parent.is_dir():
        raise InvalidInput(f"There is no folder {str(file.parent)!r} to make the database {file.name!r} in. {_MEND}")


def _is_there(file: Path) -> bool:
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # it is in a folder that may not be entered, or its name is too long
        raise InvalidInput(f"The database {str(file)!r} cannot be opened: {error.strerror}. {_MEND}") from error
    return True
