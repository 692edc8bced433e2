"""Searching by meaning."""

from collections.abc import Iterable
from typing import Any

from signoff.errors import InvalidInput
from signoff.store.base import PutOp, SearchItem, SearchOp
from signoff.testing.conformance._store_words import Embed, OpenStore
from signoff.testing.conformance.checks import cases, raises

NS = ("notes",)


def _scores(items: Iterable[SearchItem]) -> dict[str, float | None]:
    return {item.key: None if item.score is None else round(item.score, 4) for item in items}


def the_nearest_item_comes_first(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "far", {"text": "bbb"})
    store.put(NS, "near", {"text": "aa"})
    store.put(NS, "between", {"text": "ab"})
    found = store.search(NS, query="a")
    assert [item.key for item in found] == ["near", "between", "far"]
    assert _scores(found) == {"near": 1.0, "between": 0.7071, "far": 0.0}


def equally_near_items_keep_the_order_they_were_put_in(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    for key in "312":
        store.put(NS, key, {"text": "a"})
    assert [item.key for item in store.search(NS, query="a")] == ["3", "1", "2"]


def items_that_were_not_indexed_come_last_without_a_score(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "not indexed", {"text": "a"}, index=False)
    store.put(NS, "no such field", {"title": "a"})
    store.put(NS, "indexed", {"text": "b"})
    found = store.search(NS, query="a")
    assert [item.key for item in found] == ["indexed", "not indexed", "no such field"]
    assert _scores(found) == {"indexed": 0.0, "not indexed": None, "no such field": None}


def a_put_can_name_its_own_fields(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "k", {"text": "b", "title": "a", "tags": ["c"]}, index=["title", "tags[*]"])
    assert _scores(store.search(NS, query="a")) == {"k": 1.0}
    assert _scores(store.search(NS, query="c")) == {"k": 1.0}
    assert _scores(store.search(NS, query="b")) == {"k": 0.0}


def an_item_with_several_texts_is_as_near_as_the_nearest_of_them(open_store: OpenStore, embed: Embed) -> None:
    store = open_store(index={"dims": 4, "embed": embed, "fields": ["notes[*].text"]})
    store.put(NS, "k", {"notes": [{"text": "a"}, {"text": "b"}]})
    assert _scores(store.search(NS, query="a")) == {"k": 1.0}
    assert _scores(store.search(NS, query="b")) == {"k": 1.0}


def without_fields_the_whole_value_is_indexed(open_store: OpenStore, embed: Embed) -> None:
    store = open_store(index={"dims": 4, "embed": embed})
    store.put(NS, "k", {"z": {"z": "c"}})
    assert _scores(store.search(NS, query="c")) == {"k": 1.0}


def a_changed_item_is_found_by_what_it_says_now(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.put(NS, "k", {"text": "b"})
    assert _scores(store.search(NS, query="a")) == {"k": 0.0}


def an_item_put_again_without_an_index_is_not_found_by_its_old_text(
    open_store: OpenStore, index: dict[str, Any]
) -> None:
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.put(NS, "k", {"text": "b"}, index=False)
    assert _scores(store.search(NS, query="a")) == {"k": None}


def a_deleted_item_is_not_found(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.delete(NS, "k")
    assert store.search(NS, query="a") == []


def a_query_and_a_filter_both_count(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    for at, text in enumerate(["a", "ab", "b", "a"]):
        store.put(NS, str(at), {"text": text, "at": at})
    found = store.search(NS, query="a", filter={"at": {"$gt": 0}}, limit=2)
    assert [item.key for item in found] == ["3", "1"]


def limit_and_offset_cut_a_page_out_of_the_ranking(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.batch([PutOp(NS, str(at), {"text": "a" + "b" * at}) for at in range(6)])
    assert [item.key for item in store.search(NS, query="a", limit=2, offset=1)] == ["1", "2"]


def an_empty_query_is_no_query(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    assert _scores(store.search(NS, query="")) == {"k": None}


def a_text_without_direction_scores_zero(open_store: OpenStore, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "k", {"text": "a"})
    store.put(NS, "nothing", {"text": "zzz"})
    assert _scores(store.search(NS, query="a")) == {"k": 1.0, "nothing": 0.0}
    assert _scores(store.search(NS, query="zzz")) == {"k": 0.0, "nothing": 0.0}


def every_text_of_a_batch_is_embedded_once(open_store: OpenStore, embed: Embed) -> None:
    calls = []

    def counting(texts: Iterable[str]) -> list[list[float]]:
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


def a_vector_of_the_wrong_length_is_refused_and_nothing_is_written(open_store: OpenStore, embed: Embed) -> None:
    store = open_store(index={"dims": 3, "embed": embed})
    with raises(InvalidInput, match="vector of 4 numbers, but the index has dims=3"):
        store.put(NS, "k", {"text": "a"})
    assert store.get(NS, "k") is None


@cases("vectors", [[], [[1.0, float("nan")]], [["x", "y"]], [[1e300, 1.0]], [None], [[1, 2], [3, 4]]])
def nonsense_from_the_embeddings_is_refused_and_nothing_is_written(open_store: OpenStore, vectors: Any) -> None:
    store = open_store(index={"embed": lambda texts: vectors})
    with raises(InvalidInput, match="embedding"):
        store.put(NS, "k", {"text": "a"})
    assert store.get(NS, "k") is None


def an_embedding_that_fails_leaves_the_store_as_it_was_and_usable(open_store: OpenStore) -> None:
    def failing(texts: Iterable[str]) -> list[list[float]]:
        raise ConnectionError("no network")

    store = open_store(index={"embed": failing})
    with raises(ConnectionError):
        store.batch([PutOp(NS, "1", {"text": "a"}, index=False), PutOp(NS, "2", {"text": "a"})])
    assert store.get(NS, "1") is None
    store.put(NS, "1", {"text": "a"}, index=False)
    assert store.get(NS, "1") is not None


@cases(
    "config",
    [
        {"dims": 4},
        {"embed": 3},
        {"embed": len, "dims": "4"},
        {"embed": len, "dims": 0},
        {"embed": len, "fields": "text"},
    ],
)
def an_index_with_a_mistake_is_refused_when_the_store_is_made(open_store: OpenStore, config: Any) -> None:
    with raises(InvalidInput):
        open_store(index=config)
