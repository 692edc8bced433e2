"""Ctrl-C, or a handler of SIGTERM that raises, at any moment of a call: the cache goes on, and has no half of it."""

from itertools import count

import pytest

from interrupting import interrupted_at
from signoff.cache.sqlite import SqliteCache

A, B = (("node",), "a"), (("node",), "b")


@pytest.mark.parametrize(
    "use",
    [lambda cache: cache.set({A: (1, None), B: (1, None)}), lambda cache: cache.get([A]), lambda cache: cache.clear()],
    ids=["set", "get", "clear"],
)
def test_a_file_cache_goes_on_whenever_a_signal_was_heard(use):
    with SqliteCache(path=":memory:") as cache:
        for moment in count(1):
            cache.set({A: (0, None), B: (0, None)})
            is_cut_off = interrupted_at(moment, ["/cache/", "/_sqlite/"], lambda: use(cache))
            assert cache.get([A, B]) in ({}, {A: 0, B: 0}, {A: 1, B: 1}), f"moment {moment}"
            if not is_cut_off:
                break
        assert moment > 5
