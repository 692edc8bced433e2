"""What is called on event loops of a node's own: if one stops and leaves it undone, nobody waits for it any more.

No loop tells that it stops. So a task looks when its node is over; and if the loop still runs by then, in a thread of
the node's own, it is the end of that thread that tells.
"""

import os
from concurrent.futures import InvalidStateError
from contextlib import suppress
from threading import local
from typing import Any


def tell_at_thread_end(loop: Any, future: Any) -> None:
    """See that whoever waits for something on a loop that runs in this thread hears of it when the thread has ended."""
    if (mine := getattr(_here, "undone", None)) is None:
        mine = _here.undone = _Undone()
    loops = mine.loops
    loops[future] = loop
    future.add_done_callback(lambda done: loops.pop(done, None))  # and knows nothing of what goes with the thread


def drop(loop: Any, future: Any) -> None:
    """See that nobody waits for something on a loop that has stopped since."""
    if not (loop.is_running() or future.done()):
        with suppress(InvalidStateError):  # two may see it at the same moment
            future.set_exception(RuntimeError("The event loop that it was called on has stopped."))


class _Undone:
    """What is undone on the loops of one thread. It goes with the thread."""

    def __init__(self) -> None:
        self.loops: dict[Any, Any] = {}
        self.process = os.getpid()

    def __del__(self) -> None:
        if self.process == os.getpid():  # in a forked child, what its parent's threads do is not its own
            for future, loop in list(self.loops.items()):
                drop(loop, future)


_here = local()
