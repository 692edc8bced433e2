"""Vectors: how they are scored, and stores that share them."""

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.errors import InvalidInput
from signoff.store import _vectors

NS = ("notes",)


def scores(items):
    return {item.key: None if item.score is None else round(item.score, 4) for item in items}


KINDS = ["sqlite", "postgres", "redis"]


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_outlive_the_store_object_and_follow_changes_made_without_an_index(openers, index, kind):
    openers[kind](index=index).put(NS, "k", {"text": "a"})
    openers[kind](index=index).put(NS, "x", {"text": "a"})
    openers[kind]().put(NS, "x", {"text": "b"})
    assert scores(openers[f"{kind}_aio"](index=index).search(NS, query="a")) == {"k": 1.0, "x": None}


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_of_another_model_are_refused_with_the_way_out(openers, index, kind):
    openers[kind](index=index).put(NS, "k", {"text": "a"})
    other = openers[kind](index={"embed": lambda texts: [[1.0, 2.0] for _ in texts]})
    with pytest.raises(
        InvalidInput, match="query has 2 dimensions, but an item was indexed with 4: put the items again"
    ):
        other.search(NS, query="a")


numbers = st.floats(-100, 100, width=32)
matrices = st.integers(1, 5).flatmap(
    lambda dims: st.lists(st.lists(numbers, min_size=dims, max_size=dims), min_size=1, max_size=5)
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(matrices)
def test_numpy_and_plain_python_score_alike(vectors):
    import numpy

    query, *_ = blobs = [_vectors.packed(vector) for vector in vectors]
    plain = _vectors._python_cosines(query, blobs)
    assert _vectors._numpy_cosines(numpy, query, blobs) == pytest.approx(plain, abs=1e-9)
    assert all(-1.000001 <= score <= 1.000001 for score in plain)


def test_a_search_works_where_numpy_is_not_installed():
    program = """
import sys
sys.modules["numpy"] = None  # importing it fails
from signoff.store.memory import InMemoryStore
embed = lambda texts: [[float(len(text)), 1.0] for text in texts]
store = InMemoryStore(index={"embed": embed, "fields": ["t"]})
store.put(("n",), "far", {"t": "a" * 50})
store.put(("n",), "near", {"t": "a"})
print([item.key for item in store.search(("n",), query="b")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['near', 'far']"
