"""Who holds a thread: names for runs, whether the run behind a name still lives, and its signs of life."""

import os
import socket
import threading
from functools import partial
from itertools import count
from typing import Any

from signoff._forks import in_child
from signoff.checkpoint.lease import Lease, Standing
from signoff.drivers.workers import submit
from signoff.errors import LeaseLost

_SEP = "/"

_held: dict[str, tuple[Any, Lease]] = {}
"""The leases of the runs in this process, each with its saver, by holder."""

_numbers = count(1)
_process = ""

_keeper: threading.Thread | None = None
_sleeps_s = 0.0
"""How long the keeper sleeps just now, if nobody wakes it."""
_wake = threading.Event()
_renewing: set[int] = set()
"""The savers to which signs of life are still on their way."""


def new_holder() -> str:
    """A name for a run that nobody else has: the machine, the process in it, a number."""
    return f"{_process or _named()}{_SEP}{next(_numbers)}"


def shown(holder: str) -> str:
    """A holder as errors name it."""
    machine, _, pid, *_ = [*holder.split(_SEP), "", ""]
    return f"process {pid} on {machine}" if pid else holder


def seen(standing: Standing) -> Standing:
    """A standing whose holder does not count if it is known to be dead."""
    if standing.holder is None or standing.is_expired or not is_gone(standing.holder):
        return standing
    return standing._replace(is_expired=True)


def is_here(holder: str) -> bool:
    """Whether a run of this process has the thread."""
    return holder in _held


def is_gone(holder: str) -> bool:
    """Whether a run is known to be over: its process has ended, or lives on without it."""
    process, _, _ = holder.rpartition(_SEP)
    if process == (_process or _named()):
        return holder not in _held
    machine, boot, pid, started = [*process.split(_SEP), "", "", "", ""][:4]
    is_here = (machine, boot) == (socket.gethostname(), _boot())
    return is_here and pid.isdigit() and _started(int(pid)) != started


def hold(lease: Lease, saver: Any) -> None:
    """Note that a run takes a thread: from now on it is alive, and gives signs of that."""
    _held[lease.holder] = saver, lease
    if saver.lease_s is None:
        return
    if _keeper is None:
        _start_keeper()
    elif saver.lease_s / 3 < _sleeps_s:
        _wake.set()


def let_go(lease: Lease) -> None:
    """Note that a run is over."""
    _held.pop(lease.holder, None)


# Which process this is


def _named() -> str:
    """This process, as other processes of this machine would find it."""
    global _process
    _process = _SEP.join([socket.gethostname(), _boot(), str(os.getpid()), _started(os.getpid())])
    return _process


def _boot() -> str:
    """Something that is another one after a restart of the machine, and inside of another container."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read(8)}-{os.readlink('/proc/self/ns/pid').strip('pid:[]')}"
    except OSError:
        return "-"


def _started(pid: int) -> str:
    """When a process was started, since its number may be given to another one; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *rest = file.read().rpartition(")")[2].split()
            return "" if state in "ZX" else rest[18]
    except OSError:
        return "" if os.path.isdir("/proc/self") else _answers(pid)


def _answers(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "?"


def _forget() -> None:
    """In a forked child: the runs of the parent are not its own."""
    global _process, _keeper, _wake
    _process, _keeper, _wake = "", None, threading.Event()
    _held.clear()
    _renewing.clear()


in_child(_forget)


# Signs of life


def _start_keeper() -> None:
    global _keeper
    _keeper = threading.Thread(target=_keep, name="signoff-leases", daemon=True)
    _keeper.start()


def _keep() -> None:
    """Renew what is held, while anything is."""
    global _keeper, _sleeps_s
    while timed := [saver.lease_s for saver, _ in list(_held.values()) if saver.lease_s is not None]:
        _sleeps_s = min(timed) / 3
        _wake.wait(_sleeps_s)
        _wake.clear()
        _renew_all()
    _keeper = None
    if any(saver.lease_s is not None for saver, _ in list(_held.values())):
        _start_keeper()  # for a run that saw one in the very moment in which it stopped


def _renew_all() -> None:
    """Give signs of life, to each saver in a thread of its own: one that does not answer holds up no other."""
    savers = {id(saver): saver for saver, _ in list(_held.values()) if saver.lease_s is not None}
    for key, saver in savers.items():
        if key not in _renewing:
            _renewing.add(key)
            submit(partial(_renew_held, saver))


def _renew_held(saver: Any) -> None:
    try:
        for lease in [lease for owner, lease in list(_held.values()) if owner is saver]:
            if lease.epoch and not lease.is_over:
                _renew(saver, lease)
    finally:
        _renewing.discard(id(saver))


def _renew(saver: Any, lease: Lease) -> None:
    try:
        saver.renew(lease)
    except LeaseLost:
        let_go(lease)  # the run will hear of it when it stores something
    except Exception:
        pass  # perhaps next time: there are two more before the lease runs out
