"""Many at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from signoff.testing.conformance._saver_words import at, put, values_of


def nothing_stored_by_many_threads_is_lost(saver: Any) -> None:
    threads, steps = 6, 20
    start = threading.Barrier(threads)

    def work(number: int) -> None:
        start.wait()
        for step in range(steps):
            parent = f"{step - 1:02}" if step else None
            put(saver, f"{step:02}", {"a": step, "n": number}, parent=parent, thread=str(number))
            saver.put_writes(at(f"{step:02}", thread=str(number)), [("a", step)], "task")
            assert values_of(saver, thread=str(number)) == {"a": step, "n": number}

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    listed = list(saver.list(None))
    assert len(listed) == threads * steps
    assert all(one.pending_writes == [("task", "a", int(one.checkpoint["id"]))] for one in listed)
