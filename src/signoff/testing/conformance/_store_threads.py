"""Many threads at one store."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from signoff.store.base import GetOp, PutOp
from signoff.testing.conformance._store_words import OpenStore

THREADS, ROUNDS = 8, 25


def _at_once(work: Callable[[int], None]) -> None:
    """Run the work in many threads that start together; the first error is raised."""
    start = threading.Barrier(THREADS)

    def one(number: int) -> None:
        start.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(one, range(THREADS)))


def nothing_put_by_many_threads_is_lost(store: Any) -> None:
    def work(number: int) -> None:
        for round in range(ROUNDS):
            store.put(("n", str(number)), str(round), {"round": round})

    _at_once(work)
    assert len(store.search((), limit=1000)) == THREADS * ROUNDS
    assert len(store.list_namespaces()) == THREADS


def a_reader_sees_a_whole_batch_or_none_of_it(store: Any) -> None:
    def work(number: int) -> None:
        for round in range(ROUNDS):
            if number % 2:
                store.batch([PutOp(("n",), key, {"by": number, "round": round}) for key in "ab"])
            else:
                one, other = store.batch([GetOp(("n",), key) for key in "ab"])
                assert (one and one.value) == (other and other.value)

    _at_once(work)


def searching_while_others_write_and_delete_is_safe(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index, ttl={"default_ttl": 5})

    def work(number: int) -> None:
        for round in range(ROUNDS):
            store.put(("n", str(number)), str(round % 3), {"text": "ab"[round % 2], "round": round})
            found = store.search(("n",), query="a", filter={"round": {"$gte": 0}}, limit=5)
            assert all(item.value["round"] < ROUNDS for item in found)
            store.delete(("n", str(number)), str((round + 1) % 3))

    _at_once(work)
