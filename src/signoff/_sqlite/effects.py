"""What procedures ask of a connection, and transactions made of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from signoff.steps import Steps

__all__ = [
    "Acquire",
    "Execute",
    "ExecuteMany",
    "Find",
    "Release",
    "Rollback",
    "Row",
    "alone",
    "in_transaction",
]

T = TypeVar("T")

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Acquire:
    """Wait until nobody else in this process uses the connection."""


@dataclass(frozen=True, slots=True)
class Release:
    """Let others use the connection."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Run one statement; its result is the list of its rows."""

    sql: str
    params: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class ExecuteMany:
    """Run one statement that writes, once for each of the params."""

    sql: str
    params: Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Find:
    """Run one query; its result is the list of those rows that are wanted, up to the limit."""

    sql: str
    params: Sequence[Any]
    is_wanted: Callable[[Row], bool]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Rollback:
    """Undo the open transaction, if there is one."""


_BEGIN = {"read": Execute("BEGIN"), "write": Execute("BEGIN IMMEDIATE")}
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
