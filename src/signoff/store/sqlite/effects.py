"""What the store's procedures ask of a connection, and transactions made of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from signoff.steps import Steps

__all__ = ["Acquire", "Execute", "Release", "Rollback", "Row", "alone", "in_transaction"]

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
class Rollback:
    """Undo the open transaction, if there is one."""


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
        yield Execute("BEGIN IMMEDIATE" if kind == "write" else "BEGIN")
        result = yield from steps
        yield Execute("COMMIT")
    except BaseException:
        yield Rollback()
        raise
    return result
