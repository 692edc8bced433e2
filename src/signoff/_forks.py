"""Forks: a child process gets a copy of everything, but a connection in it is still its parent's.

Right after a fork, before anything else runs in the child, what it must not touch is exchanged for something that
refuses to be used, and locks are free that threads of the parent had: those threads are not in the child. It costs
nothing but at a fork.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, Protocol, TypeVar
from weakref import WeakSet

from signoff._locks import RLock
from signoff.errors import InvalidInput

__all__ = ["Inherited", "forked_off", "free", "in_child", "left", "watch", "whole"]

L = TypeVar("L")

_WAIT_S = 1.0
"""How long a fork waits at most for threads that are about to change something."""

_watched: "WeakSet[Watched]" = WeakSet()
_locks: "WeakSet[Any]" = WeakSet()
_whole: "WeakSet[Any]" = WeakSet()
_kept: list[object] = []
_forking = RLock()
_taken: list[list[Any]] = []


class Watched(Protocol):
    """Something that must not be shared with a parent."""

    def after_fork(self) -> None:
        """In a forked child: let go of what is the parent's."""
        ...


class Inherited:
    """In a forked child, in the place of what belongs to its parent. Only to close it is allowed, and does nothing."""

    def __getattr__(self, name: str) -> NoReturn:
        raise forked_off()

    def close(self) -> None:
        """It is the parent's to close."""


def forked_off(what: str = "The connection") -> InvalidInput:
    """The error for something that cannot be used in this process."""
    return InvalidInput(
        f"{what} was opened before this process was forked off, and belongs to the process that opened it. Nothing "
        "was written. Open one in each process, after the fork (with gunicorn --preload: in post_fork)."
    )


def watch(one: Watched) -> None:
    """Have something told when it finds itself in a forked child."""
    _watched.add(one)


def left(inherited: object) -> Any:
    """In a forked child: what takes the place of something that is left to the parent."""
    _kept.append(inherited)  # if it were collected, it would close itself
    return Inherited()


def free(lock: L) -> L:
    """A lock that is free in a forked child, whoever had it in the parent."""
    _locks.add(lock)
    return lock


def whole(lock: L) -> L:
    """A lock that no other thread has at the moment of a fork, so that what it guards is whole in the child, too."""
    with _forking:  # not while somebody goes through them
        _whole.add(lock)
    return free(lock)


def in_child(function: Callable[[], object]) -> None:
    """Have a function called in each forked child."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


# At a fork


def _before() -> None:
    _forking.acquire()
    # Not for ever: whoever has one may wait for something that the forking thread has.
    _taken.append([lock for lock in list(_whole) if lock.acquire(timeout=_WAIT_S)])


def _in_parent() -> None:
    for lock in _taken.pop():
        lock.release()
    _forking.release()


def _in_child() -> None:
    taken = set(_taken.pop())
    for lock in list(_locks):
        if lock in taken:
            lock.release()
        else:
            lock._at_fork_reinit()  # in place, since others know the lock; it is what Python does with its own
    _forking.release()
    for one in list(_watched):
        one.after_fork()
    if _kept:
        _hold_on()


def _hold_on() -> None:
    """Keep what was inherited even while the interpreter takes itself apart: no SQLite connection may be closed."""
    with suppress(ImportError):
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
