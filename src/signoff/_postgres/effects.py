"""What procedures ask of a connection.

`Execute` and `Write` may be asked for inside of a `transaction`; the others are what `read`, `write` and
`transaction` are made of. Parameters are marked by `%s`, and a percent sign is written `%%`, as psycopg wants it.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["GIVE", "TAKE", "Begin", "Commit", "Execute", "Give", "Kind", "Read", "Rollback", "Row", "Take", "Write"]

Row = Sequence[Any]

Kind = Literal["read", "write"]


class Execute(NamedTuple):
    """Run one statement; its result is the list of its rows."""

    sql: str
    params: Sequence[Any] = ()


class Write(NamedTuple):
    """Run statements as one transaction in one trip to the server; its result is a list of rows for each."""

    statements: Sequence[Execute]


class Read(NamedTuple):
    """Run queries that all see the same moment, in one trip; its result is a list of rows for each."""

    statements: Sequence[Execute]


class Take(NamedTuple):
    """Have a connection that works, for this procedure alone."""


class Give(NamedTuple):
    """Let others have the connection; what is left open on it is undone."""


TAKE, GIVE = Take(), Give()


class Begin(NamedTuple):
    """Open a transaction; its result is the transaction's number, for one that writes."""

    kind: Kind


class Commit(NamedTuple):
    """Make what the transaction did last."""


class Rollback(NamedTuple):
    """Undo the transaction, if one is open."""
