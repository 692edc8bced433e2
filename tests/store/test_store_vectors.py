"""Searching by meaning: the same on every store."""

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.errors import InvalidInput
from signoff.store import _vectors
from signoff.store.base import PutOp, SearchOp

NS = ("notes",)


def scores(items):
    return {item.key: None if item.score is None else round(item.score, 4) for item in items}


def test_the_nearest_item_comes_first(open_store, index):
    store = open_store(index=index)
    store.put(NS, "far", {"text": "bbb"})
    store.put(NS, "near", {"text": "aa"})
    store.put(NS, "between", {"text": "ab"})
    found = store.search(NS, query="a")
    assert [item.key for item in found] == ["near", "between", "far"]
    assert scores(found) == {"near": 1.0, "between": 0.7071, "far": 0.0}


def test_equally_near_items_keep_the_order_they_were_put_in(open_store, index):
    store = open_store(index=index)
    for key in "312":
        store.put(NS, key, {"text": "a"})
    assert [item.key for item in store.search(NS, query="a")] == ["3", "1", "2"]


def test_items_that_were_not_indexed_come_last_without_a_score(open_store, index):
    store = open_store(index=index)
    store.put(NS, "not indexed", {"text": "a"}, index=False)
    store.put(NS, "no such field", {"title": "a"})
    store.put(NS, "indexed", {"text": "b"})
    found = store.search(NS, query="a")
    assert [item.key for item in found] == ["indexed", "not indexed", "no such field"]
    assert scores(found) == {"indexed": 0.0, "not indexed": None, "no such field": None}


def test_a_put_can_name_its_own_fields(open_store, index):
    store = open_store(index=index)
    store.put(NS, "k", {"text": "b", "title": "a", "tags": ["c"]}, index=["title", "tags[*]"])
    assert scores(store.search(NS, query="a")) == {"k": 1.0}
    assert scores(store.search(NS, query="c")) == {"k": 1.0}
    assert scores(store.search(NS, query="b")) == {"k": 0.0}


def test_an_item_with_several_texts_is_as_near_as_the_nearest_of_them(open_store, embed):
    store = open_store(index={"dims": 4, "embed": embed, "fields": ["notes[*].text"]})
    store.put(NS, "k", {"notes": [{"text": "a"}, {"text": "b"}]})
    assert scores(store.search(NS, query="a")) == {"k": 1.0}
    assert scores(store.search(NS, query="b")) == {"k": 1.0}


def test_without_fields_the_whole_value_is_indexed(open_store, embed):
    store = open_store(index={"dims": 4, "embed": embed})
    store.put(NS, "k", {"z": {"z": "c"}})
    assert scores(store.search(NS, query="c")) == {"k": 1.0}


def test_a_changed_item_is_found_by_what_it_says_now(open_store, index):
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.put(NS, "k", {"text": "b"})
    assert scores(store.search(NS, query="a")) == {"k": 0.0}


def test_an_item_put_again_without_an_index_is_not_found_by_its_old_text(open_store, index):
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.put(NS, "k", {"text": "b"}, index=False)
    assert scores(store.search(NS, query="a")) == {"k": None}


def test_a_deleted_item_is_not_found(open_store, index):
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.delete(NS, "k")
    assert store.search(NS, query="a") == []


def test_a_query_and_a_filter_both_count(open_store, index):
    store = open_store(index=index)
    for at, text in enumerate(["a", "ab", "b", "a"]):
        store.put(NS, str(at), {"text": text, "at": at})
    found = store.search(NS, query="a", filter={"at": {"$gt": 0}}, limit=2)
    assert [item.key for item in found] == ["3", "1"]


def test_limit_and_offset_cut_a_page_out_of_the_ranking(open_store, index):
    store = open_store(index=index)
    store.batch([PutOp(NS, str(at), {"text": "a" + "b" * at}) for at in range(6)])
    assert [item.key for item in store.search(NS, query="a", limit=2, offset=1)] == ["1", "2"]


def test_an_empty_query_is_no_query(open_store, index):
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    assert scores(store.search(NS, query="")) == {"k": None}


def test_a_text_without_direction_scores_zero(open_store, index):
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.put(NS, "nothing", {"text": "zzz"})
    assert scores(store.search(NS, query="a")) == {"k": 1.0, "nothing": 0.0}
    assert scores(store.search(NS, query="zzz")) == {"k": 0.0, "nothing": 0.0}


def test_every_text_of_a_batch_is_embedded_once(open_store, embed):
    calls = []

    def counting(texts):
        calls.append(list(texts))
        return embed(texts)

    store = open_store(index={"dims": 4, "embed": counting, "fields": ["text"]})
    store.batch(
        [
            PutOp(NS, "1", {"text": "a"}),
            PutOp(NS, "2", {"text": "a"}),
            PutOp(NS, "3", {"text": "b"}),
            PutOp(NS, "3", {"text": "c"}),
            PutOp(NS, "4", None),
            PutOp(NS, "5", {"text": "d"}, index=False),
        ]
    )
    assert calls == [["a", "c"]]
    store.batch([SearchOp(NS, query="q"), SearchOp(NS, query="q", limit=1), SearchOp(NS)])
    assert calls[1:] == [["q"]]


def test_a_vector_of_the_wrong_length_is_refused_and_nothing_is_written(open_store, embed):
    store = open_store(index={"dims": 3, "embed": embed})
    with pytest.raises(InvalidInput, match="vector of 4 numbers, but the index has dims=3"):
        store.put(NS, "k", {"text": "a"})
    assert store.get(NS, "k") is None


@pytest.mark.parametrize(
    "vectors", [[], [[1.0, float("nan")]], [["x", "y"]], [[1e300, 1.0]], [None], [[1, 2], [3, 4]]], ids=str
)
def test_nonsense_from_the_embeddings_is_refused_and_nothing_is_written(open_store, vectors):
    store = open_store(index={"embed": lambda texts: vectors})
    with pytest.raises(InvalidInput, match="embedding"):
        store.put(NS, "k", {"text": "a"})
    assert store.get(NS, "k") is None


def test_an_embedding_that_fails_leaves_the_store_as_it_was_and_usable(open_store):
    def failing(texts):
        raise ConnectionError("no network")

    store = open_store(index={"embed": failing})
    with pytest.raises(ConnectionError):
        store.batch([PutOp(NS, "1", {"text": "a"}, index=False), PutOp(NS, "2", {"text": "a"})])
    assert store.get(NS, "1") is None
    store.put(NS, "1", {"text": "a"}, index=False)
    assert store.get(NS, "1") is not None


@pytest.mark.parametrize(
    "config",
    [
        {"dims": 4},
        {"embed": 3},
        {"embed": len, "dims": "4"},
        {"embed": len, "dims": 0},
        {"embed": len, "fields": "text"},
    ],
    ids=str,
)
def test_an_index_with_a_mistake_is_refused_when_the_store_is_made(open_store, config):
    with pytest.raises(InvalidInput):
        open_store(index=config)


def test_vectors_outlive_the_store_object_and_follow_changes_made_without_an_index(openers, index):
    openers["sqlite"](index=index).put(NS, "k", {"text": "a"})
    openers["sqlite"](index=index).put(NS, "x", {"text": "a"})
    openers["sqlite"]().put(NS, "x", {"text": "b"})
    assert scores(openers["sqlite_aio"](index=index).search(NS, query="a")) == {"k": 1.0, "x": None}


def test_vectors_of_another_model_are_refused_with_the_way_out(openers, index):
    openers["sqlite"](index=index).put(NS, "k", {"text": "a"})
    other = openers["sqlite"](index={"embed": lambda texts: [[1.0, 2.0] for _ in texts]})
    with pytest.raises(
        InvalidInput, match="query has 2 dimensions, but an item was indexed with 4: put the items again"
    ):
        other.search(NS, query="a")


numbers = st.floats(-100, 100, width=32)
matrices = st.integers(1, 5).flatmap(
    lambda dims: st.lists(st.lists(numbers, min_size=dims, max_size=dims), min_size=1, max_size=5)
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
