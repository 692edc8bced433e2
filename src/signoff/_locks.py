"""Locks that are taken by `with`, and that no signal leaves taken.

A signal whose handler raises, as Ctrl-C, is heard before `with` has taken a lock, or when it is noted that the lock has
to be given back. In Python 3.14 it is also heard between the two, behind the call of `__enter__`, and then the lock is
taken for ever. There, `with` calls a function that is written in Python, which hears nothing when it returns, and that
takes the lock by a loop, which hears nothing between its iterator and its body.
"""

import sys
import threading
from typing import Any

__all__ = ["Lock", "RLock", "safe"]

if sys.version_info[:2] == (3, 14):

    class Lock:
        """A lock as `threading` has it."""

        # Giving it back must stay the lock's own: a function in Python would hear a signal before it does anything.
        __slots__ = ("__exit__", "__weakref__", "_at_fork_reinit", "_taking", "acquire", "locked", "release")

        def __init__(self, lock: Any = None) -> None:
            lock = lock or threading.Lock()
            self._taking = iter(lock.acquire, None)
            self.__exit__ = lock.__exit__
            self.acquire, self.release, self.locked = lock.acquire, lock.release, lock.locked
            self._at_fork_reinit = lock._at_fork_reinit

        def __enter__(self) -> bool:
            for is_taken in self._taking:
                return is_taken
            raise AssertionError("whoever takes a lock is told True")

    class RLock(Lock):
        """A lock that whoever has it may take again."""

        __slots__ = ()

        def __init__(self) -> None:
            super().__init__(threading.RLock())

    def safe(lock: Any) -> Any:
        """A lock that others have made, to be taken by `with`."""
        return Lock(lock)

else:
    from threading import Lock, RLock

    def safe(lock: Any) -> Any:
        """A lock that others have made, to be taken by `with`."""
        return lock
