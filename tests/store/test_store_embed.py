"""Embeddings in every shape they come in."""

import asyncio
import subprocess
import sys

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from signoff.errors import InvalidInput
from signoff.store.base import Embeddings, ensure_embeddings
from signoff.store.memory import InMemoryStore
from signoff.store.sqlite import SqliteStore


def lengths(texts):
    return [[float(len(text))] for text in texts]


async def alengths(texts):
    return lengths(texts)


class SyncObject:
    def embed_documents(self, texts):
        return lengths(texts)

    def embed_query(self, text):
        return [float(len(text))]


class AsyncCallable:
    async def __call__(self, texts):
        return lengths(texts)


@pytest.mark.parametrize("embed", [lengths, SyncObject()], ids=["function", "object"])
def test_sync_embeddings_serve_sync_and_async_callers(embed):
    embeddings = ensure_embeddings(embed)
    assert isinstance(embeddings, Embeddings)
    assert embeddings.embed_documents(["a", "bb"]) == [[1.0], [2.0]]
    assert embeddings.embed_query("ccc") == [3.0]
    assert asyncio.run(embeddings.aembed_documents(["a", "bb"])) == [[1.0], [2.0]]
    assert asyncio.run(embeddings.aembed_query("ccc")) == [3.0]


@pytest.mark.parametrize("embed", [alengths, AsyncCallable()], ids=["function", "object"])
def test_an_async_function_serves_async_callers_and_tells_sync_ones(embed):
    embeddings = ensure_embeddings(embed)
    assert asyncio.run(embeddings.aembed_documents(["a", "bb"])) == [[1.0], [2.0]]
    assert asyncio.run(embeddings.aembed_query("ccc")) == [3.0]
    with pytest.raises(InvalidInput, match="use the async methods"):
        embeddings.embed_documents(["a"])
    with pytest.raises(InvalidInput, match="use the async methods"):
        embeddings.embed_query("a")


def test_embeddings_of_langchain_are_taken_as_they_are():
    embeddings = DeterministicFakeEmbedding(size=8)
    assert ensure_embeddings(embeddings) is embeddings
    store = InMemoryStore(index={"dims": 8, "embed": embeddings, "fields": ["text"]})
    store.put(("n",), "same", {"text": "hello"})
    store.put(("n",), "other", {"text": "goodbye"})
    best = store.search(("n",), query="hello")[0]
    assert (best.key, best.score) == ("same", pytest.approx(1.0))
    assert store.embeddings is embeddings


def test_a_store_with_an_async_function_works_in_async_code():
    store = InMemoryStore(index={"embed": alengths, "fields": ["text"]})

    async def program():
        await store.aput(("n",), "k", {"text": "hello"})
        return [item.key for item in await store.asearch(("n",), query="a")]

    assert asyncio.run(program()) == ["k"]


@pytest.mark.parametrize("embed", [None, 3, object()], ids=["None", "3", "object"])
def test_what_cannot_embed_is_refused(embed):
    with pytest.raises(InvalidInput, match="embed="):
        ensure_embeddings(embed)


def test_a_class_of_embeddings_is_told_from_embeddings():
    with pytest.raises(InvalidInput, match=r"SyncObject is a class.*SyncObject\(\)"):
        ensure_embeddings(SyncObject)


@pytest.mark.parametrize("returned", [None, [], [None], [[]], [[1.0, 2.0]], [["x"]]], ids=repr)
def test_what_embeddings_return_is_looked_at(returned):
    async def areturned(texts):
        return returned

    store = InMemoryStore(index={"embed": lambda texts: returned, "dims": 1})
    astore = InMemoryStore(index={"embed": areturned, "dims": 1})
    for attempt in (
        lambda: store.put(("n",), "k", {"text": "tea"}),
        lambda: store.search(("n",), query="tea"),
        lambda: asyncio.run(astore.aput(("n",), "k", {"text": "tea"})),
        lambda: asyncio.run(astore.asearch(("n",), query="tea")),
    ):
        with pytest.raises(InvalidInput, match="embedding"):
            attempt()
    assert store.search(("n",)) == astore.search(("n",)) == []


def test_a_name_without_langchain_says_what_to_install():
    program = """
import sys
sys.modules["langchain"] = None  # importing it fails
from signoff.store.base import ensure_embeddings
try:
    ensure_embeddings("openai:some-model")
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install langchain" in done.stdout


def test_a_name_is_looked_up_by_langchain():
    with pytest.raises(InvalidInput, match="nobody"):
        ensure_embeddings("nobody:some-model")


def test_a_misspelt_setting_of_the_index_is_refused():
    with pytest.raises(InvalidInput, match=r"no setting 'text_fields'.*Did you mean 'fields'"):
        InMemoryStore(index={"dims": 1, "embed": lengths, "text_fields": ["name"]})


def test_settings_that_only_langgraph_needs_are_taken(tmp_path):
    index = {"dims": 1, "embed": lengths, "ann_index_config": {"kind": "hnsw"}, "distance_type": "cosine"}
    with SqliteStore.from_conn_string(str(tmp_path / "store.db"), index=index) as store:
        store.put(("n",), "k", {"name": "ana"})
        assert store.search(("n",), query="ana")[0].key == "k"


def test_a_distance_that_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match="distance_type='l2'.*cosine"):
        InMemoryStore(index={"dims": 2, "embed": lambda texts: [[1.0, 0.0] for _ in texts], "distance_type": "l2"})
    InMemoryStore(index={"dims": 2, "embed": lambda texts: [[1.0, 0.0] for _ in texts], "distance_type": "cosine"})
