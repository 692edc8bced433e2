"""Locks that no signal leaves taken, whenever it is heard."""

import threading
from itertools import count
from typing import Any

import pytest

from interrupting import interrupted_at
from signoff._forks import free
from signoff._locks import Lock, RLock, safe


def of_others() -> Any:
    return safe(threading.Lock())


@pytest.mark.parametrize("kind", [Lock, RLock, of_others])
def test_whenever_a_signal_is_heard_the_lock_is_given_back(kind: Any):
    lock = kind()

    def take_and_give_back() -> None:
        with lock:
            len("what it guards")

    for number in count(1):
        is_heard = interrupted_at(number, ["test_locks.py", "_locks.py"], take_and_give_back)
        assert _is_free(lock)
        if not is_heard:
            break
    assert number > 2


@pytest.mark.parametrize("kind", [Lock, RLock])
def test_an_error_inside_gives_it_back_and_passes(kind: Any):
    lock = kind()
    with pytest.raises(KeyError), lock:
        raise KeyError
    assert _is_free(lock)


def test_only_one_of_two_kinds_is_taken_again_by_whoever_has_it():
    lock, again = Lock(), RLock()
    with lock, again, again:
        assert lock.locked()
        assert not lock.acquire(blocking=False)
        assert not _is_free(again)
    assert _is_free(lock)
    assert _is_free(again)


@pytest.mark.parametrize("kind", [Lock, RLock])
def test_it_can_be_watched_for_forks(kind: Any):
    lock = free(kind())
    lock.acquire()
    lock._at_fork_reinit()
    assert _is_free(lock)


def _is_free(lock: Any) -> bool:
    """Whether another thread could take it."""
    answers: list[bool] = []

    def look() -> None:
        answers.append(lock.acquire(blocking=False))
        if answers[0]:
            lock.release()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return answers[0]
