"""Processes of this machine: a name by which others find this one, and whether the one behind a name has ended."""

import os
import socket
from functools import cache

from signoff._forks import in_child

SEP = "/"

_PROC = "/proc"
"""Where Linux tells of its processes. Other systems have no such place."""


@cache
def this_process() -> str:
    """The machine, when it was started, the number of this process, and when that was started."""
    return SEP.join([socket.gethostname(), _boot(), str(os.getpid()), _started(os.getpid())])


in_child(this_process.cache_clear)


def has_ended(name: str) -> bool:
    """Whether a process is known to have ended: it is one of this machine, and not there any more."""
    machine, boot, pid, started = [*name.split(SEP), "", "", "", ""][:4]
    is_here = (machine, boot) == (socket.gethostname(), _boot())
    return is_here and pid.isdigit() and _started(int(pid)) != started


def _boot() -> str:
    """Something that is another one after a restart of the machine, and inside of another container.

    Elsewhere at least on another machine of the same name: where a machine has no address of its own, each process
    takes itself for one, and the lease of a dead one runs out.
    """
    try:
        with open(f"{_PROC}/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read(8)}-{os.readlink(f'{_PROC}/self/ns/pid').strip('pid:[]')}"
    except OSError:
        import uuid

        return f"{uuid.getnode():012x}"


def _started(pid: int) -> str:
    """When a process was started, since its number may be given to another one; empty if there is none."""
    try:
        with open(f"{_PROC}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *rest = file.read().rpartition(")")[2].split()
            return "" if state in "ZX" else rest[18]
    except OSError:
        return "" if os.path.isdir(f"{_PROC}/self") else _answers(pid)


def _answers(pid: int) -> str:
    """The same where nobody tells when: one that is there has always been."""
    if os.name != "posix":
        return "?"  # Windows cannot be asked like that: it would send Ctrl-C. The lease of a dead process runs out.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "?"
