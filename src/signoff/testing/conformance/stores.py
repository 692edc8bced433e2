"""What every store promises. With pytest:

    @pytest.mark.parametrize("check", stores.CHECKS, ids=str)
    def test_my_store(check):
        clock = stores.Clock()
        check(stores.World(lambda **options: MyStore(clock=clock, **options), clock))

An async store is put to the same checks through a `doors.BlockingStore`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signoff.testing.conformance import (
    _store_items,
    _store_lifetimes,
    _store_names,
    _store_searches,
    _store_threads,
    _store_vectors,
)
from signoff.testing.conformance._store_words import Clock, letters
from signoff.testing.conformance.checks import Check, checks_of

__all__ = ["CHECKS", "Check", "Clock", "World"]


@dataclass(frozen=True)
class World:
    """What the checks are given.

    open_store: opens the store, empty the first time, with `index=` and `ttl=` as it is told. Opened again, it is
        the same one, unless it is a store that lives in its object.
    clock: what the store is told the time by.
    run: runs a coroutine where the store's async methods may be used.
    """

    open_store: Callable[..., Any]
    clock: Clock
    run: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run

    @cached_property
    def store(self) -> Any:
        """The store, opened without options."""
        return self.open_store()

    @property
    def embed(self) -> Callable[[Iterable[str]], list[list[float]]]:
        """Embeddings that can be done in the head: how often each of the letters a to d occurs."""
        return letters

    @property
    def index(self) -> dict[str, Any]:
        """An index with those embeddings."""
        return {"dims": 4, "embed": letters, "fields": ["text"]}


CHECKS: list[Check] = checks_of(
    [_store_items, _store_names, _store_searches, _store_lifetimes, _store_vectors, _store_threads]
)
"""All checks, in the order in which they are best read."""
