"""Threads that run tasks.

A pool that grows: a task may run a nested graph that waits for tasks of its own, so a fixed number of threads
could wait for itself. Idle threads are kept for a while and reused.
"""

import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from signoff._forks import in_child
from signoff._locks import Lock

Job = Callable[[], None]

_KEEP_S = 30.0
_idle: "deque[SimpleQueue[Job]]" = deque()


in_child(_idle.clear)  # the threads of the parent are not in the child


def submit(job: Job) -> None:
    """Run a job in an idle thread, or in a new one."""
    try:
        _idle.pop().put(job)
    except IndexError:
        threading.Thread(target=_work, args=(job,), name="signoff-worker", daemon=True).start()


def _work(job: Job) -> None:
    inbox: SimpleQueue[Job] = SimpleQueue()
    while True:
        job()
        del job  # what it holds must not live as long as the thread
        _idle.append(inbox)
        try:
            job = inbox.get(timeout=_KEEP_S)
        except Empty:
            try:
                _idle.remove(inbox)
            except ValueError:  # somebody took this thread in the same moment: there is a job after all
                job = inbox.get()
            else:
                return


class Crew:
    """The workers of one run: at most `limit` at a time, woken one by one as long as there is work left."""

    def __init__(self, work: Callable[[Any], None], limit: int) -> None:
        self._work = work
        self._limit = limit
        self._todo: deque[Any] = deque()
        self._active = 0
        """How many are at work. Each counts itself: a signal may be heard while somebody is about to wake one."""
        self._at_rest: Callable[[], None] | None = None
        self._lock = Lock()

    def start(self, tasks: Any) -> None:
        """Have tasks worked on."""
        with self._lock:
            self._todo.extend(tasks)
        self._hire()

    def forget(self) -> None:
        """Forget the tasks that nobody has started on."""
        with self._lock:
            self._todo.clear()

    def call_off(self, at_rest: Callable[[], None]) -> None:
        """Forget the tasks that nobody has started on, and tell when nobody works any more."""
        with self._lock:
            self._todo.clear()
            is_at_rest = not self._active
            self._at_rest = None if is_at_rest else at_rest
        if is_at_rest:
            at_rest()

    def _hire(self) -> None:
        if not self._todo or self._active >= self._limit:
            return
        try:
            submit(self._shift)
        except RuntimeError:  # no thread is to be had
            if not self._active:  # else the others do it
                self._shift()

    def _shift(self) -> None:
        with self._lock:
            if self._active >= self._limit:
                return
            self._active += 1
        is_first = True
        while True:
            with self._lock:
                if not self._todo:
                    self._active -= 1
                    if self._active:
                        return
                    at_rest, self._at_rest = self._at_rest, None
                    break
                task = self._todo.popleft()
            if is_first:
                # Each worker wakes the next one, once: while tasks wait for something, more and more are worked
                # on; short ones are done by one thread in a row.
                self._hire()
                is_first = False
            self._work(task)
        if at_rest is not None:
            at_rest()
