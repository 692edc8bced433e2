"""Who holds a thread: names for runs, whether the run behind a name still lives, and its signs of life."""

import threading
from functools import partial
from itertools import count
from math import inf
from typing import Any, NamedTuple

from signoff._forks import in_child
from signoff.checkpoint.lease import Lease, Standing
from signoff.drivers.saving.processes import SEP, has_ended, this_process
from signoff.drivers.workers import submit
from signoff.errors import LeaseLost, SaverUnavailable


class Held(NamedTuple):
    """The lease of a run in this process."""

    saver: Any
    lease: Lease
    loop: Any
    """The event loop of an async run. When that is closed, the run will never go on, and nobody has told it."""


_held: dict[str, Held] = {}
"""Those of all runs, by holder."""

_numbers = count(1)

_keeper: threading.Thread | None = None
_sleeps_s = 0.0
"""How long the keeper sleeps just now, if nobody wakes it."""
_wake = threading.Event()
_renewing: set[int] = set()
"""The savers to which signs of life are still on their way."""


def new_holder() -> str:
    """A name for a run that nobody else has: the machine, the process in it, a number."""
    return f"{this_process()}{SEP}{next(_numbers)}"


def shown(holder: str) -> str:
    """A holder as errors name it."""
    machine, _, pid, *_ = [*holder.split(SEP), "", ""]
    return f"process {pid} on {machine}" if pid else holder


def seen(standing: Standing) -> Standing:
    """A standing whose holder does not count if it is known to be dead."""
    if standing.holder is None or standing.is_expired or not is_gone(standing.holder):
        return standing
    return standing._replace(is_expired=True)


def is_here(holder: str) -> bool:
    """Whether a run of this process has the thread."""
    held = _held.get(holder)
    if held is None or held.loop is None or not held.loop.is_closed():
        return held is not None
    let_go(holder)
    return False


def is_gone(holder: str) -> bool:
    """Whether a run is known to be over: its process has ended, or lives on without it."""
    process, _, _ = holder.rpartition(SEP)
    return not is_here(holder) if process == this_process() else has_ended(process)


def hold(lease: Lease, saver: Any, loop: Any = None) -> None:
    """Note that a run takes a thread: from now on it is alive, and gives signs of that."""
    _held[lease.holder] = Held(saver, lease, loop)
    if saver.lease_s is None:
        return
    if _keeper is None:
        _start_keeper()
    elif saver.lease_s / 3 < _sleeps_s:
        _wake.set()


def let_go(holder: str) -> None:
    """Note that a run is over, whether it has got its thread or not."""
    _held.pop(holder, None)


def _forget() -> None:
    """In a forked child: the runs of the parent are not its own."""
    global _keeper, _wake
    _keeper, _wake = None, threading.Event()
    _held.clear()
    _renewing.clear()


in_child(_forget)


# Signs of life


def _start_keeper() -> None:
    global _keeper
    keeper = threading.Thread(target=_keep, name="signoff-leases", daemon=True)
    try:
        keeper.start()
    except RuntimeError as error:
        raise SaverUnavailable(
            f"There is no thread for the signs of life of a run ({error}), and nothing was written. Let the process "
            "have more threads, then try again."
        ) from error
    _keeper = keeper  # not before it runs: a signal may be heard in between


def _keep() -> None:
    """Renew what is held, while anything is."""
    global _keeper, _sleeps_s
    _sleeps_s = inf  # so that a run which begins while it is being found out how long to sleep wakes it
    while timed := [held.saver.lease_s for held in list(_held.values()) if held.saver.lease_s is not None]:
        _sleeps_s = min(timed) / 3
        _wake.wait(_sleeps_s)
        _wake.clear()
        _renew_all()
        _sleeps_s = inf
    _keeper = None
    if any(held.saver.lease_s is not None for held in list(_held.values())):
        _start_keeper()  # for a run that saw one in the very moment in which it stopped


def _renew_all() -> None:
    """Give signs of life, to each saver in a thread of its own: one that does not answer holds up no other."""
    savers = {id(held.saver): held.saver for held in list(_held.values()) if held.saver.lease_s is not None}
    for key, saver in savers.items():
        if key not in _renewing:
            _renewing.add(key)
            try:
                submit(partial(_renew_held, saver))
            except RuntimeError:  # no thread is to be had but this one
                _renew_held(saver)


def _renew_held(saver: Any) -> None:
    try:
        for lease in [held.lease for held in list(_held.values()) if held.saver is saver]:
            if lease.epoch and not lease.is_over and is_here(lease.holder):
                _renew(saver, lease)
    finally:
        _renewing.discard(id(saver))


def _renew(saver: Any, lease: Lease) -> None:
    try:
        saver.renew(lease)
    except LeaseLost:
        let_go(lease.holder)  # the run will hear of it when it stores something
    except Exception:
        pass  # perhaps next time: there are two more before the lease runs out
