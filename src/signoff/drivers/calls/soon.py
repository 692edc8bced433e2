"""Starting calls soon: at once where several are made, and a moment later where one is.

Most programs wait for a call right after they have made it, and then run it on the spot. To wake a thread for it
would cost more than the call itself. So the newest call has a millisecond before a thread begins with it.
"""

import time
from collections import deque
from typing import Protocol

from signoff._forks import free, in_child
from signoff._locks import Lock
from signoff.drivers.workers import submit

_GRACE_S = 0.001
_IDLE_ROUNDS = 50
"""After how many rounds without a call the watch ends."""


class Call(Protocol):
    """A call that whoever comes first begins with."""

    @property
    def is_open(self) -> bool:
        """Whether it is to be made, and nobody is at it."""
        ...

    def work(self) -> None:
        """Run it, unless somebody has begun with it."""
        ...


_waiting: deque[Call] = deque()
_lock = free(Lock())
_is_watched = False


def start_soon(call: Call) -> None:
    """Have a call begun within a millisecond; those made before it at once, since they are to run side by side."""
    global _is_watched
    while _waiting:
        _start_oldest()
    _waiting.append(call)
    if not _is_watched:
        with _lock:
            if not _is_watched:
                submit(_watch)
                _is_watched = True  # not before: a signal may be heard in between, and then nobody would watch


def _start_oldest() -> None:
    try:
        call = _waiting.popleft()
    except IndexError:  # another thread was quicker
        return
    if call.is_open:
        submit(call.work)


def _watch() -> None:
    """Begin with calls that nobody has waited for by now."""
    idle = 0
    while idle < _IDLE_ROUNDS:
        newest = _newest()
        time.sleep(_GRACE_S)
        idle = 0 if newest is not None else idle + 1
        if newest is not None and _newest() is newest:
            _start_oldest()
    _stop_watching()
    while _waiting:  # those that came at the last moment
        _start_oldest()


def _newest() -> Call | None:
    try:
        return _waiting[-1]
    except IndexError:
        return None


def _stop_watching() -> None:
    global _is_watched
    with _lock:
        _is_watched = False


def _forget() -> None:
    """In a forked child: the threads of the parent are not there."""
    _waiting.clear()
    _stop_watching()


in_child(_forget)
