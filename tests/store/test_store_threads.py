"""Many threads at one store."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from signoff.store.base import GetOp, PutOp

THREADS, ROUNDS = 8, 25


@pytest.fixture(params=["memory", "sqlite", "sqlite_aio"])
def open_store(request, openers):
    return openers[request.param]


def at_once(work):
    """Run the work in many threads that start together; the results, or the first error."""
    start = threading.Barrier(THREADS)

    def one(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_nothing_put_by_many_threads_is_lost(store):
    def work(number):
        for round in range(ROUNDS):
            store.put(("n", str(number)), str(round), {"round": round})

    at_once(work)
    assert len(store.search((), limit=1000)) == THREADS * ROUNDS
    assert len(store.list_namespaces()) == THREADS


def test_a_reader_sees_a_whole_batch_or_none_of_it(store):
    def work(number):
        for round in range(ROUNDS):
            if number % 2:
                store.batch([PutOp(("n",), key, {"by": number, "round": round}) for key in "ab"])
            else:
                one, other = store.batch([GetOp(("n",), key) for key in "ab"])
                assert (one and one.value) == (other and other.value)

    at_once(work)


def test_searching_while_others_write_and_delete_is_safe(open_store, index):
    store = open_store(index=index, ttl={"default_ttl": 5})

    def work(number):
        for round in range(ROUNDS):
            store.put(("n", str(number)), str(round % 3), {"text": "ab"[round % 2], "round": round})
            found = store.search(("n",), query="a", filter={"round": {"$gte": 0}}, limit=5)
            assert all(item.value["round"] < ROUNDS for item in found)
            store.delete(("n", str(number)), str((round + 1) % 3))

    at_once(work)


def test_many_threads_set_one_file_up_at_once(openers, tmp_path):
    at_once(lambda number: openers["sqlite"](tmp_path / "new.db").put(("n",), str(number), {}))
    assert len(openers["sqlite"](tmp_path / "new.db").search(())) == THREADS
