"""Errors of the driver, told apart by what can be done about them."""

import psycopg

from signoff.errors import InvalidInput, SaverUnavailable, Undecodable

__all__ = [
    "Conflict",
    "DONE_BEFORE",
    "DoneBefore",
    "Lost",
    "NO_CONNECTION",
    "ONE_MOMENT",
    "OneMoment",
    "cannot_connect",
    "closed_connection",
    "closed_pool",
    "first_line",
    "is_read_only",
    "no_connection_left",
    "open_transaction",
    "unfit",
    "translated",
]

IN_EACH_OTHERS_WAY = ("40001", "40P01")
"""Serialization failure, deadlock: the server undid the transaction so that another could go on."""

GONE = ("57P01", "57P02", "57P03", "57P05", "25P03")
"""The server, or somebody at it, ended the connection."""

ONE_MOMENT = "SGN02"
"""Our own: a statement that waits for others, and then looks, is in a transaction that does not see what they did."""

DONE_BEFORE = "SGN01"
"""Our own: what a function of ours says to a write that was done before."""

TOO_LONG = "25P04"
"""The server ended the connection since a transaction took too long: it is undone, and would take as long again."""

READ_ONLY = "25006"
"""The server takes no writes: it is a standby, or was told so."""

REFUSED = {
    READ_ONLY: "takes no writes ({error}): it is a standby, or was set so. Nothing was written. Give the address of "
    "the primary (target_session_attrs=read-write finds it among several), then try again.",
    "57014": "gave a statement up ({error}), and nothing was written. Try again; if it comes back, allow it more time.",
    "55P03": "gave up waiting for somebody who holds a lock ({error}), and nothing was written. Try again.",
    "53": "has run out of something ({error}), and nothing was written. Let it have more, then try again.",
    "58": "cannot read or write its own files ({error}). Nothing was written: see its log.",
    "42501": "does not let this role do that ({error}), and nothing was done. Grant it the right; tables are made by "
    "setup(), which somebody who may can call once.",
    "3F000": "has no schema to make tables in ({error}), and nothing was done. Create the one that search_path names.",
    "42P01": "has not got the tables of signoff any more ({error}). Restore them; in a database that was emptied, "
    "setup() makes new ones.",
}
"""What a server says that works, and does not do what it is asked for; by the code, or by its first letters."""
REFUSED["42883"] = REFUSED["42P01"]
REFUSED[TOO_LONG] = REFUSED["57014"]

NO_CONNECTION = (psycopg.OperationalError, OSError)
"""What connecting fails with."""


class Lost(Exception):
    """The connection died. Whether what was asked for was done is not known."""


class Conflict(Exception):
    """The transaction was undone by the server in favour of another; it may be tried again."""


class OneMoment(Exception):
    """The transaction sees one moment, as the database, the role or the address asks for: nothing was done."""


class DoneBefore(Exception):
    """What was asked for was done when it was asked for the first time, and its answer was lost."""


_SIGNALS = {**dict.fromkeys(IN_EACH_OTHERS_WAY, Conflict), ONE_MOMENT: OneMoment, DONE_BEFORE: DoneBefore}
"""What procedures hear, by the code."""


def translated(error: Exception, is_closed: bool) -> Exception:
    """The error as what a procedure can act on; itself if there is nothing to do about it."""
    if isinstance(error, psycopg.Error):
        code = error.sqlstate or ""
        if code in _SIGNALS:
            return _SIGNALS[code](str(error))
        if code != TOO_LONG and (is_closed or code in GONE or code.startswith("08") or _is_from_below(error)):
            return Lost(first_line(error))
        refused = REFUSED.get(code) or REFUSED.get(code[:2])
        if refused is not None:
            return SaverUnavailable(f"Postgres {refused.format(error=first_line(error))}")
        if code.startswith("54"):
            return InvalidInput(
                f"That is too large for Postgres ({first_line(error)}), and nothing was written. The name of a thread, "
                "or a key, has 2,000 bytes at most."
            )
        if code == "22P05":
            return InvalidInput(
                f"The database cannot store that ({first_line(error)}), and nothing was written. Make one with "
                "ENCODING 'UTF8'."
            )
    if isinstance(error, psycopg.DataError) and "NUL (0x00)" in str(error):
        return InvalidInput("Postgres cannot store a text with a NUL character (0x00) in it: take it out.")
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"Postgres cannot store {error.object!r}: {_unwritable(error)}")
    if isinstance(error, UnicodeDecodeError):
        return Undecodable(f"A text in the database is broken or was changed ({error}).")
    return error


def _is_from_below(error: psycopg.Error) -> bool:
    """Whether it was not the server who said that, but the driver, of the way there: a socket was found closed, say."""
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def _unwritable(error: UnicodeEncodeError) -> str:
    if error.reason == "surrogates not allowed":
        return "it has half of a surrogate pair in it."
    return (
        f"the connection writes texts in {error.encoding}, which has not all of it. Connect with client_encoding=utf8."
    )


def cannot_connect(error: Exception) -> SaverUnavailable:
    """The error for a server that is not there."""
    return SaverUnavailable(
        f"Postgres cannot be reached ({first_line(error)}). Nothing was written: see that the server runs and that "
        "the address is right, then try again."
    )


def no_connection_left(error: Exception) -> SaverUnavailable:
    """The error for a pool whose connections are all in use, or that cannot open any."""
    return SaverUnavailable(
        f"Postgres cannot be reached through the pool ({first_line(error)}). Nothing was written: see that the server "
        "runs, and that the pool is large enough for all who use it at a time, then try again."
    )


def is_read_only(error: Exception) -> bool:
    """Whether the server at the other end takes no writes."""
    return isinstance(error, psycopg.Error) and error.sqlstate == READ_ONLY


def closed_connection() -> InvalidInput:
    """The error for a connection that its owner closed."""
    return InvalidInput(
        "The connection is closed. Keep it open as long as graphs use it: inside of the `with` block of "
        "from_conn_string(...), read a stream to its end."
    )


def closed_pool(error: Exception) -> InvalidInput:
    """The error for a pool that hands out nothing."""
    return InvalidInput(
        f"The pool gives no connections ({error}): open it first, and keep it open as long as graphs use it."
    )


def unfit(instead: str) -> InvalidInput:
    """The error for a connection whose settings change what is written or read."""
    return InvalidInput(
        f"The connection does not hand on texts and bytes as they are: connect with {instead}. Nothing was written."
    )


def open_transaction() -> InvalidInput:
    """The error for a connection whose owner is in the middle of something."""
    return InvalidInput(
        "The connection has an open transaction: commit it, connect with autocommit=True, or open one that nobody "
        "else uses with from_conn_string(...)."
    )


def first_line(error: BaseException) -> str:
    """What an error says, without the details."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
