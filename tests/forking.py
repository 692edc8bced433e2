"""Forked children, and what becomes of them."""

import os
import select
import signal
from collections.abc import Callable

WAIT_S = 30
"""After how long a child that hangs is ended. Then it has said nothing."""

REFUSED = "InvalidInput: "
OPENED_BEFORE = "opened before this process was forked off"


def said_by_child(work: Callable[[], object]) -> str:
    """What a function returns in a forked child, or the error that it raises, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as pipe:
        if not select.select([pipe], [], [], WAIT_S)[0]:
            os.kill(child, signal.SIGKILL)
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def is_refused(work: Callable[[], object]) -> bool:
    """Whether a forked child is told that something belongs to its parent."""
    said = said_by_child(work)
    assert said.startswith(REFUSED), said
    assert OPENED_BEFORE in said, said
    return True
