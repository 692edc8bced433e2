"""The sweeper: a background thread that removes expired items now and then."""

import threading
import weakref
from typing import TYPE_CHECKING, Protocol

from signoff._forks import free, watch
from signoff._locks import Lock

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Sweeper", "Sweeps", "report_failed_sweep"]


class Sweeps(Protocol):
    """A store that can remove what expired."""

    def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        ...


class Sweeper:
    """Sweeps a store at an interval until it is stopped or the store is gone."""

    def __init__(self, store: Sweeps) -> None:
        # A weak reference: a thread that nobody stopped must not keep its store alive.
        self._store = weakref.ref(store)
        self._lock = free(Lock())
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._done: Future[None] | None = None
        watch(self)

    def start(self, interval_s: float) -> "Future[None]":
        """Start sweeping, if it is not under way; the future ends when the sweeping does."""
        from concurrent.futures import Future

        with self._lock:
            if self._done is None or self._done.done() or self._stop.is_set():
                done: Future[None] = Future()
                stop = threading.Event()
                self._stop, self._done = stop, done
                done.add_done_callback(lambda _: stop.set())  # somebody may cancel it
                arguments = (self._store, interval_s, stop, done)
                self._thread = threading.Thread(target=_sweep, args=arguments, name="ttl-sweeper", daemon=True)
                self._thread.start()
            return self._done

    def stop(self, timeout: float | None = None) -> bool:
        """Stop sweeping; whether it has ended within the timeout (in seconds)."""
        with self._lock:
            thread = self._thread
            self._stop.set()
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def after_fork(self) -> None:
        """In a forked child: the thread of the parent is not there."""
        self._stop, self._thread, self._done = threading.Event(), None, None


def _sweep(store: "weakref.ref[Sweeps]", interval_s: float, stop: threading.Event, done: "Future[None]") -> None:
    try:
        while not stop.wait(interval_s) and _swept(store()):
            pass
    finally:
        if done.set_running_or_notify_cancel():  # else it was cancelled, and takes no result
            done.set_result(None)


def _swept(store: Sweeps | None) -> bool:
    """Whether there is still a store to sweep; a sweep that fails is reported and tried again next time."""
    if store is None:
        return False
    try:
        store.sweep_ttl()
    except Exception:
        report_failed_sweep()
    return True


def report_failed_sweep() -> None:
    """Log the error in hand: there is nobody to raise it to, and the next sweep tries again."""
    import logging

    logging.getLogger("signoff.store").exception("Removing expired items failed; the next sweep tries again.")
