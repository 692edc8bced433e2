"""What procedures ask of a connection, and transactions made of it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from signoff.steps import Steps

__all__ = [
    "BEGIN_WRITE",
    "Acquire",
    "Execute",
    "ExecuteMany",
    "Expect",
    "Find",
    "Read",
    "Release",
    "Rollback",
    "Row",
    "Write",
    "WriteOne",
    "alone",
    "in_transaction",
]

T = TypeVar("T")

Row = Sequence[Any]


class Acquire(NamedTuple):
    """Wait until nobody else in this process uses the connection."""


class Release(NamedTuple):
    """Let others use the connection."""


class Execute(NamedTuple):
    """Run one statement; its result is the list of its rows."""

    sql: str
    params: Sequence[Any] = ()


class Read(NamedTuple):
    """Run one query as a transaction of its own; its result is the list of its rows."""

    sql: str
    params: Sequence[Any] = ()


class ExecuteMany(NamedTuple):
    """Run one statement that writes, once for each of the params."""

    sql: str
    params: Iterable[Sequence[Any]]


class Expect(NamedTuple):
    """Run one statement that must find or change a row."""

    sql: str
    params: Sequence[Any]
    error: Callable[[], Exception]
    """What to raise if it does not."""


class Write(NamedTuple):
    """Run statements as one transaction: all of it happens, or nothing. The quick way, where none has a result."""

    statements: Sequence[Execute | ExecuteMany | Expect]


class WriteOne(NamedTuple):
    """Run one statement that writes as a transaction of its own; its result is how many rows it changed."""

    sql: str
    params: Sequence[Any]


class Find(NamedTuple):
    """Run one query; its result is the list of those rows that are wanted, up to the limit."""

    sql: str
    params: Sequence[Any]
    is_wanted: Callable[[Row], bool]
    limit: int | None = None


class Rollback(NamedTuple):
    """Undo the open transaction, if there is one."""


BEGIN_WRITE = Execute("BEGIN IMMEDIATE")
_BEGIN = {"read": Execute("BEGIN"), "write": BEGIN_WRITE}
_COMMIT = Execute("COMMIT")


def alone(steps: Steps[T]) -> Steps[T]:
    """Run a procedure while nobody else in this process uses the connection."""
    yield Acquire()
    try:
        return (yield from steps)
    finally:
        yield Release()


def in_transaction(kind: Literal["read", "write"], steps: Steps[T]) -> Steps[T]:
    """Run a procedure as one transaction: all of it happens, or nothing."""
    return (yield from alone(_transaction(kind, steps)))


def _transaction(kind: Literal["read", "write"], steps: Steps[T]) -> Steps[T]:
    try:
        # A writer takes its lock at once: one that read first could find its view outdated and fail.
        yield _BEGIN[kind]
        result = yield from steps
        yield _COMMIT
    except BaseException:
        yield Rollback()
        raise
    return result
