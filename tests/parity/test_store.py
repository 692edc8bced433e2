"""The same programs on LangGraph's stores and caches and on ours."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import pytest
import redis
from langchain_core.embeddings import Embeddings

pytestmark = pytest.mark.parity

LIBRARIES = ("langgraph", "signoff")

PROGRAMS: dict[str, Callable[..., Any]] = {}
"""Programs for every kind of store: called with the names of `store.base` and a store."""

ASYNC_PROGRAMS: dict[str, Callable[..., Any]] = {}
"""Programs for the async methods of a store."""

TTL_PROGRAMS: dict[str, Callable[..., Any]] = {}
"""Programs for a store whose items live for ten minutes; in SQLite only, as in LangGraph."""

VECTOR_PROGRAMS: dict[str, Callable[..., Any]] = {}
"""Programs for a store with an index; in memory only, where LangGraph needs no extension of SQLite."""

PLAIN_PROGRAMS: dict[str, Callable[..., Any]] = {}
"""Programs that need no store."""

CACHE_PROGRAMS: dict[str, Callable[..., Any]] = {}
"""Programs for every kind of cache."""


def into(programs):
    def register(program):
        programs[program.__name__] = program
        return program

    return register


def keys(items):
    """Sorted: LangGraph's SQLite store orders by time with a resolution of a second."""
    return sorted((item.namespace, item.key) for item in items)


def failure(action):
    """The builtin class of the error an action raises: what programs written for either library can catch."""
    try:
        return action()
    except Exception as error:
        return next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")


@into(PROGRAMS)
def put_get_delete(base, store):
    store.put(("users", "ana"), "k", {"a": 1, "deep": {"list": [1, None, True, "x"]}})
    got = store.get(("users", "ana"), "k")
    store.delete(("users", "ana"), "k")
    return got.namespace, got.key, got.value, type(got).__name__, store.get(("users", "ana"), "k")


@into(PROGRAMS)
def overwriting_keeps_one_item(base, store):
    store.put(("n",), "k", {"v": 1})
    before = store.get(("n",), "k")
    store.put(("n",), "k", {"v": 2})
    after = store.get(("n",), "k")
    return len(store.search(("n",))), before.value, after.value, before.updated_at <= after.updated_at


@into(PROGRAMS)
def what_is_missing(base, store):
    store.delete(("n",), "k")
    return store.get(("n",), "k"), store.get((), "k"), store.search(("n",)), store.search(())


@into(PROGRAMS)
def putting_none_deletes(base, store):
    store.put(("n",), "k", {"v": 1})
    store.put(("n",), "k", None)
    return store.get(("n",), "k")


@into(PROGRAMS)
def keys_are_texts(base, store):
    store.put(("n",), 1, {"v": 1})
    store.put(("n",), "", {"v": 2})
    store.put(("n",), "a/b.c", {"v": 3})
    return keys(store.search(("n",))), store.get(("n",), "1").value, store.get(("n",), "").value


@into(PROGRAMS)
def a_batch_of_everything(base, store):
    store.put(("n",), "old", {"v": 0})
    results = store.batch(
        [
            base.PutOp(("n",), "new", {"v": 1}),
            base.GetOp(("n",), "old"),
            base.GetOp(("n",), "missing"),
            base.SearchOp(("n",)),
            base.PutOp(("n",), "old", None),
        ]
    )
    return results[0], results[1].value, results[2], keys(results[3]), results[4], keys(store.search(()))


@into(PROGRAMS)
def the_last_put_of_a_batch_counts(base, store):
    store.batch([base.PutOp(("n",), "k", {"v": 1}), base.PutOp(("n",), "k", {"v": 2})])
    store.batch([base.PutOp(("n",), "x", {"v": 1}), base.PutOp(("n",), "x", None)])
    store.batch([base.PutOp(("n",), "y", None), base.PutOp(("n",), "y", {"v": 3})])
    return sorted((item.key, item.value["v"]) for item in store.search(("n",))), store.batch([])


@into(PROGRAMS)
def a_search_is_by_prefix_of_labels(base, store):
    for namespace in [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a-b",), ("b", "a"), ("ü", "a")]:
        store.put(namespace, "k", {})
    return [keys(store.search(prefix)) for prefix in [(), ("a",), ("a", "b"), ("b",), ("c",), ("ü",), ("*",)]]


@into(PROGRAMS)
def limit_and_offset(base, store):
    store.batch([base.PutOp(("n",), str(at), {}) for at in range(12)])
    lengths = [
        len(store.search(("n",))),
        len(store.search(("n",), limit=5)),
        len(store.search(("n",), limit=0)),
    ]
    pages = [store.search(("n",), limit=5, offset=offset) for offset in (0, 5, 10, 15)]
    return lengths, [len(page) for page in pages], keys(item for page in pages for item in page)


@into(PROGRAMS)
def found_items_have_no_score(base, store):
    store.put(("n",), "k", {"v": 1})
    found = store.search(("n",))[0]
    return (
        type(found).__name__,
        found.score,
        found.value,
        [item.score for item in store.search((), query="x")],
    )


def filtered(store, *filters):
    return [[item.key for item in sorted(store.search((), filter=one), key=lambda item: item.key)] for one in filters]


@into(PROGRAMS)
def filters_by_equality(base, store):
    values = {"t": "x", "i": 1, "f": 1.0, "b": True, "z": 0, "n": None, "l": [1, 2]}
    store.batch([base.PutOp(("n",), key, {"a": value}) for key, value in values.items()])
    store.put(("n",), "missing", {"other": 1})
    return filtered(store, {}, {"a": "x"}, {"a": 1}, {"a": False}, {"a": None}, {"a": [1, 2]}, {"a": [1]}, {"a": "1"})


@into(PROGRAMS)
def filters_by_several_fields(base, store):
    for at in range(6):
        store.put(("n",), str(at), {"even": at % 2 == 0, "third": at % 3 == 0, "tags": ["x"] if at else []})
    return filtered(store, {"even": True, "third": True}, {"even": True, "third": False}, {"tags": []}, {"tags": ["x"]})


@into(PROGRAMS)
def filters_by_operator(base, store):
    for at in range(5):
        store.put(("n",), str(at), {"at": at, "half": at / 2, "name": f"n{at}"})
    return filtered(
        store,
        {"at": {"$eq": 2}},
        {"at": {"$ne": 2}},
        {"at": {"$gt": 2}},
        {"at": {"$gte": 2}},
        {"at": {"$lt": 2}},
        {"at": {"$lte": 2}},
        {"at": {"$gt": 0, "$lt": 3}},
        {"half": {"$gte": 1.5}},
        {"at": {"$gt": 1}, "half": {"$lt": 2}},
        {"name": {"$eq": "n3"}},
        {"name": {"$ne": "n3"}},
        {"name": {"$eq": None}},
        {"absent": {"$eq": None}},
        {"name": {"$ne": None}},
    )


@into(PROGRAMS)
def filters_with_limit_and_namespace(base, store):
    for at in range(6):
        store.put(("n", "ab"[at % 2]), str(at), {"big": at > 1})
    found = store.search(("n", "a"), filter={"big": True}, limit=1)
    return len(found), found[0].value, keys(store.search(("n", "b"), filter={"big": True}))


@into(PROGRAMS)
def an_unknown_operator_is_an_error(base, store):
    store.put(("n",), "k", {"a": 1})
    return [failure(lambda op=op: store.search((), filter={"a": {op: 1}})) for op in ("$in", "$regex", "$", "$GT")]


@into(PROGRAMS)
def listing_namespaces(base, store):
    for name in ["a/x/1", "a/y/1", "a/y/2", "b/y/1", "b"]:
        store.put(tuple(name.split("/")), "k", {})
        store.put(tuple(name.split("/")), "l", {})
    asked: list[dict[str, Any]] = [
        {},
        {"prefix": ("a",)},
        {"prefix": ("a", "y")},
        {"prefix": ("*", "y")},
        {"prefix": ("a", "*", "1")},
        {"suffix": ("1",)},
        {"suffix": ("y", "*")},
        {"suffix": ("*",)},
        {"prefix": ("a",), "suffix": ("1",)},
        {"prefix": ("nowhere",)},
        {"prefix": ("a", "x", "1", "deeper")},
        {"prefix": ()},
        {"max_depth": 1},
        {"max_depth": 2},
        {"max_depth": 2, "prefix": ("a",), "limit": 1},
        {"limit": 2},
        {"limit": 2, "offset": 1},
        {"limit": 0},
        {"offset": 99},
    ]
    return [store.list_namespaces(**each) for each in asked]


@into(PROGRAMS)
def listing_by_operations(base, store):
    for name in ["a/x/1", "a/y/1", "b/x/1"]:
        store.put(tuple(name.split("/")), "k", {})
    prefix, suffix = base.MatchCondition("prefix", ("a",)), base.MatchCondition("suffix", ("x", "*"))
    return store.batch(
        [
            base.ListNamespacesOp(),
            base.ListNamespacesOp(match_conditions=(prefix,)),
            base.ListNamespacesOp(match_conditions=(prefix, suffix)),
            base.ListNamespacesOp(match_conditions=(), max_depth=2, limit=2, offset=1),
        ]
    )


@into(PROGRAMS)
def bad_namespaces_are_errors(base, store):
    bad = [(), ("",), ("a", ""), ("a.b",), (1,), ("langgraph",), ("langgraph", "x")]
    puts = [failure(lambda namespace=namespace: store.put(namespace, "k", {})) for namespace in bad]
    reads = [failure(lambda namespace=namespace: store.get(namespace, "k")) for namespace in bad]
    finds = [failure(lambda namespace=namespace: store.search(namespace)) for namespace in bad]
    return puts, reads, finds


@into(PROGRAMS)
def the_error_for_a_bad_namespace(base, store):
    invalid = import_module(base.__name__).InvalidNamespaceError
    with pytest.raises(invalid):
        store.put((), "k", {})
    with pytest.raises(invalid):
        store.search(("a.b",))
    return issubclass(invalid, ValueError)


@into(PROGRAMS)
def reserved_roots_below_the_public_put(base, store):
    store.batch([base.PutOp(("langgraph", "x"), "k", {"v": 1})])
    inside = ("x", "langgraph")
    store.put(inside, "k", {"v": 2})
    return (
        store.get(("langgraph", "x"), "k").value,
        store.get(inside, "k").value,
        keys(store.search(("langgraph",))),
    )


@into(PROGRAMS)
def a_value_that_is_no_dict_is_an_error(base, store):
    return [isinstance(failure(lambda value=value: store.put(("n",), "k", value)), str) for value in (1, "text", [1])]


@into(PROGRAMS)
def items_as_dicts(base, store):
    store.put(("n", "m"), "k", {"v": 1})
    shown = store.get(("n", "m"), "k").dict()
    found = store.search(("n",))[0].dict()
    times = {"created_at", "updated_at"}
    return (
        sorted(shown),
        sorted(found),
        {name: shown[name] for name in shown if name not in times},
        all(isinstance(shown[name], str) for name in times),
    )


@into(PROGRAMS)
def no_index_makes_index_arguments_harmless(base, store):
    store.put(("n",), "1", {"text": "a"}, index=False)
    store.put(("n",), "2", {"text": "a"}, index=["text"])
    store.put(("n",), "3", {"text": "a"}, None)
    return keys(store.search(("n",), query="a"))


@into(PROGRAMS)
def none_as_time_to_live(base, store):
    store.put(("n",), "k", {"v": 1}, ttl=None)
    return store.get(("n",), "k", refresh_ttl=False).value, keys(store.search((), refresh_ttl=False))


@into(PROGRAMS)
def text_of_every_kind(base, store):
    value = {"ü": "日本語", "quote": "'\"", "nul": "a\x00b", "line": "a\nb", "emoji": "🙂", "": ""}
    store.put(("日本", "ü b"), "clé'\"", value)
    return store.get(("日本", "ü b"), "clé'\"").value, store.list_namespaces(), keys(store.search(("日本",)))


@into(ASYNC_PROGRAMS)
async def put_get_search_list(base, store):
    await store.aput(("n",), "k", {"v": 1})
    await store.aput(("n",), "gone", {"v": 2}, index=False)
    await store.adelete(("n",), "gone")
    found = await store.asearch(("n",), filter={"v": 1}, limit=3)
    got = await store.aget(("n",), "k")
    many = await store.abatch([base.GetOp(("n",), "k"), base.PutOp(("n",), "l", {})])
    return keys(found), got.value, many[0].key, many[1], await store.alist_namespaces(prefix=("n",))


@into(ASYNC_PROGRAMS)
async def many_tasks_at_once(base, store):
    await asyncio.gather(*(store.aput(("n", str(at % 3)), str(at), {"at": at}) for at in range(20)))
    found = await asyncio.gather(*(store.asearch(("n", str(at))) for at in range(3)))
    return [keys(each) for each in found], await store.alist_namespaces(suffix=("2",))


@into(ASYNC_PROGRAMS)
async def errors_of_async_methods(base, store):
    async def failing(coroutine):
        try:
            return await coroutine
        except Exception as error:
            return isinstance(error, ValueError)

    return [
        await failing(store.aput((), "k", {})),
        await failing(store.aget(("a.b",), "k")),
        await failing(store.asearch(("",))),
        await failing(store.aput(("langgraph",), "k", {})),
    ]


@into(TTL_PROGRAMS)
def items_that_are_not_over(base, store):
    store.put(("n",), "default", {"v": 1})
    store.put(("n",), "own", {"v": 2}, ttl=5)
    store.put(("n",), "forever", {"v": 3}, ttl=None)
    before = store.sweep_ttl()
    read = store.get(("n",), "own").value, store.get(("n",), "own", refresh_ttl=False).value
    return store.supports_ttl, before, read, keys(store.search(("n",))), store.sweep_ttl()


@into(TTL_PROGRAMS)
def a_sweeper_starts_and_stops(base, store):
    future = store.start_ttl_sweeper()
    return future.done(), store.stop_ttl_sweeper(timeout=30), store.stop_ttl_sweeper()


class LETTERS(Embeddings):
    """Embeddings one can do in one's head: how often each letter occurs."""

    def embed_documents(self, texts):
        return [[float(text.count(letter)) for letter in "abcdefgh"] for text in texts]

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def scored(items):
    return [(item.key, None if item.score is None else round(item.score, 5)) for item in items]


@into(VECTOR_PROGRAMS)
def order_of_a_plain_search(base, make):
    store = make()
    for namespace, key in [("z", "3"), ("a", "2"), ("z", "1"), ("a", "2"), ("z", "0")]:
        store.put((namespace,), key, {})
    return [(item.namespace, item.key) for item in store.search(())]


@into(VECTOR_PROGRAMS)
def nested_filters_in_memory(base, make):
    store = make()
    values = {
        "1": {"a": {"b": 1, "c": "q"}},
        "2": {"a": {"b": {"c": 5}}},
        "3": {"a": [{"x": 1}, {"x": 2}]},
        "4": {},
    }
    for key, value in values.items():
        store.put(("n",), key, value)
    return filtered(
        store,
        {"a": {"b": 1}},
        {"a": {"b": 1, "c": "q"}},
        {"a": {}},
        {"a": {"b": {"c": 5}}},
        {"a": {"b": {"c": {"$gt": 4}}}},
        {"a": [{"x": 1}, {"x": {"$gte": 2}}]},
        {"a": {"$eq": {"b": 1, "c": "q"}}},
        {"a": {"$ne": {"b": 1, "c": "q"}}},
        {"missing": {"$ne": 1}},
    )


@into(VECTOR_PROGRAMS)
def numeric_texts_compare_as_numbers_in_memory(base, make):
    store = make()
    for key in ["9", "10", "100"]:
        store.put(("n",), key, {"a": key})
    return filtered(store, {"a": {"$gt": 9}}, {"a": {"$gt": "9"}}, {"a": {"$lte": "10"}})


@into(VECTOR_PROGRAMS)
def ranking(base, make):
    store = make(dims=8, embed=LETTERS(), fields=["text"])
    for key, text in {"far": "bbb", "near": "aa", "between": "ab", "nothing": "zzz"}.items():
        store.put(("n",), key, {"text": text})
    store.put(("n",), "no text", {"title": "a"})
    store.put(("n",), "not indexed", {"text": "a"}, index=False)
    return [scored(store.search(("n",), query="a", limit=limit)) for limit in (10, 2)]


@into(VECTOR_PROGRAMS)
def ranking_with_filter_offset_and_prefix(base, make):
    store = make(dims=8, embed=LETTERS(), fields=["text"])
    for at in range(6):
        store.put(("n", "ab"[at % 2]), str(at), {"text": "a" + "b" * at, "at": at})
    return (
        scored(store.search(("n", "a"), query="a")),
        scored(store.search(("n",), query="a", filter={"at": {"$gt": 2}})),
        scored(store.search(("n",), query="a", limit=2, offset=2)),
        scored(store.search(("n",), query="")),
    )


@into(VECTOR_PROGRAMS)
def fields_of_the_store_and_of_the_put(base, make):
    store = make(dims=8, embed=LETTERS(), fields=["text", "notes[*].x", "author"])
    store.put(("n",), "1", {"text": "a", "notes": [{"x": "b"}, {"x": "c"}], "author": {"name": "d"}})
    store.put(("n",), "2", {"text": "a", "title": "e"}, index=["title"])
    return [scored(store.search(("n",), query=query)) for query in "abcde"]


@into(VECTOR_PROGRAMS)
def the_whole_value_is_indexed_by_default(base, make):
    store = make(dims=8, embed=LETTERS())
    store.put(("n",), "1", {"z": "gg"})
    store.put(("n",), "2", {"z": {"z": ["h"]}})
    return scored(store.search(("n",), query="g")), scored(store.search(("n",), query="h"))


@into(VECTOR_PROGRAMS)
def changed_and_deleted_items(base, make):
    store = make(dims=8, embed=LETTERS(), fields=["text"])
    store.put(("n",), "1", {"text": "a"})
    store.put(("n",), "2", {"text": "a"})
    store.put(("n",), "1", {"text": "b"})
    store.delete(("n",), "2")
    return scored(store.search(("n",), query="a"))


@into(VECTOR_PROGRAMS)
def a_function_embeds(base, make):
    store = make(dims=8, embed=LETTERS().embed_documents, fields=["text"])
    store.batch([base.PutOp(("n",), "1", {"text": "a"}), base.PutOp(("n",), "2", {"text": "ab"})])
    one, two = store.batch([base.SearchOp(("n",), query="b"), base.SearchOp(("n",), query="a", limit=1)])
    return scored(one), scored(two)


@into(VECTOR_PROGRAMS)
def an_async_function_embeds_for_async_callers(base, make):
    async def embed(texts):
        return LETTERS().embed_documents(texts)

    async def program():
        await store.aput(("n",), "k", {"text": "ab"})
        return scored(await store.asearch(("n",), query="a"))

    store = make(dims=8, embed=embed, fields=["text"])
    return asyncio.run(program()), failure(lambda: store.put(("n",), "x", {"text": "a"}))


@into(PLAIN_PROGRAMS)
def tokens_of_paths(base):
    paths = [
        "",
        "$",
        "a",
        "a.b",
        "a[0]",
        "a[*].b",
        "*",
        "{x,y}.z",
        "a.{b.c,d}.e",
        "a..b",
        ".a.",
        "a[",
        "a]",
        "a{b",
        "{a,{b,c}}",
    ]
    return [base.tokenize_path(path) for path in paths]


@into(PLAIN_PROGRAMS)
def texts_at_paths(base):
    value = {
        "a": {"b": "deep", "c": [1, 2, {"d": "x"}], "n": None, "t": True, "f": 1.5},
        "l": ["p", {"z": "zz"}, ["n1", "n2"]],
        "a.b": "dotted",
        "e": "",
        "odd": {1, 2},
    }
    paths = [
        "a",
        "a.b",
        "a.c[0]",
        "a.c[-1].d",
        "a.c[*].d",
        "a.n",
        "a.t",
        "a.f",
        "l",
        "l[*]",
        "l[9]",
        "l[x]",
        "l[2][*]",
    ]
    paths += [
        "e",
        "missing",
        "*",
        "a.*",
        "l.*",
        "*.b",
        "{e,a.b}",
        "a.{b,t}",
        "{e, missing}",
        "a[0]",
        "e.x",
        "odd",
    ]
    return [base.get_text_at_path(value, path) for path in paths], base.get_text_at_path({"b": "ü", "a": 1}, "$")


@into(PLAIN_PROGRAMS)
def shapes_of_operations(base):
    ops = [
        base.GetOp(("n",), "k"),
        base.PutOp(("n",), "k", {"v": 1}),
        base.SearchOp(("n",)),
        base.ListNamespacesOp(),
        base.MatchCondition("prefix", ("a", "*")),
    ]
    return [(type(op).__name__, op._asdict()) for op in ops]


@into(PLAIN_PROGRAMS)
def operations_a_store_is_given(base):
    class Recording(base.BaseStore):
        supports_ttl = True

        def __init__(self, ttl_config):
            self.ttl_config = ttl_config
            self.ops = []

        def batch(self, ops):
            self.ops += ops
            return [None] * len(self.ops)

        async def abatch(self, ops):
            return self.batch(ops)

    def recorded(config):
        store = Recording(config)
        store.get(("n",), "k")
        store.get(("n",), "k", refresh_ttl=False)
        store.search(("n",), query="q", filter={"a": 1}, limit=3, offset=4)
        store.put(("n",), "k", {})
        store.put(("n",), "k", {}, ["x"], ttl=3)
        store.put(("n",), "k", {}, False, ttl=None)
        store.delete(("n",), "k")
        store.list_namespaces(prefix=("a",), suffix=("b", "*"), max_depth=2, limit=3, offset=4)
        asyncio.run(store.aput(("n",), "k", {}))
        asyncio.run(store.alist_namespaces())
        return [(type(op).__name__, tuple(op)) for op in store.ops]

    configs = [
        None,
        {},
        {"refresh_on_read": False},
        {"default_ttl": 5},
        {"refresh_on_read": True, "default_ttl": None},
    ]
    return [recorded(config) for config in configs]


@into(PLAIN_PROGRAMS)
def items_by_hand(base):
    at = "2024-01-01T00:00:00+00:00"
    item = base.Item(value={"a": 1}, key="k", namespace=["x", "y"], created_at=at, updated_at=at)
    same = import_module(base.__name__).SearchItem(("x", "y"), "k", {"a": 1}, item.created_at, item.updated_at, 0.5)
    other = base.Item(value={"a": 2}, key="k", namespace=("x", "y"), created_at=at, updated_at=at)
    return (
        item.namespace,
        item.dict(),
        same.dict(),
        item == same,
        item == other,
        hash(item) == hash(other),
        repr(item),
    )


@into(PLAIN_PROGRAMS)
def a_store_without_time_to_live(base):
    class ForGood(base.BaseStore):
        def batch(self, ops):
            return [None for _ in ops]

        async def abatch(self, ops):
            return self.batch(ops)

    store = ForGood()
    return (
        store.supports_ttl,
        store.put(("n",), "k", {}, ttl=None),
        isinstance(failure(lambda: store.put(("n",), "k", {}, ttl=5)), str),
    )


@into(CACHE_PROGRAMS)
def cache_set_and_get(cache):
    cache.set({(("a",), "1"): ({"x": [1]}, None), (("a", "b"), "2"): ("v", 60), (("ab",), "3"): (None, None)})
    return cache.get([(("a",), "1"), (("a", "b"), "2"), (("ab",), "3"), (("zz",), "9")]), cache.get([])


@into(CACHE_PROGRAMS)
def cache_overwrite(cache):
    cache.set({(("a",), "1"): (1, None)})
    cache.set({(("a",), "1"): (2, 60)})
    return cache.get([(("a",), "1"), (("a",), "1")])


@into(CACHE_PROGRAMS)
def cache_values_that_are_over(cache):
    cache.set({(("a",), "1"): (1, 0), (("a",), "2"): (2, -1), (("a",), "3"): (3, 60)})
    return cache.get([(("a",), key) for key in "123"])


@into(CACHE_PROGRAMS)
def cache_clear(cache):
    everything = [(("a",), "1"), (("a", "b"), "2"), (("ab",), "3")]
    cache.set({key: (key[1], None) for key in everything})
    seen = []
    for namespaces in ([], [("nowhere",)], [("a",)], None):
        cache.clear(namespaces)
        seen.append(cache.get(everything))
    return seen


@into(CACHE_PROGRAMS)
def cache_async(cache):
    async def program():
        await cache.aset({(("a",), "1"): (1, None), (("b",), "2"): (2, None)})
        before = await cache.aget([(("a",), "1"), (("b",), "2")])
        await cache.aclear([("a",)])
        return before, await cache.aget([(("a",), "1"), (("b",), "2")])

    return asyncio.run(program())


@pytest.fixture(scope="module")
def run():
    """Runs coroutines in an event loop of another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def open_store(library: str, kind: str, stack: ExitStack, run: Any, **options: Any) -> Any:
    if kind == "memory":
        return import_module(f"{library}.store.memory").InMemoryStore(**options)
    room = import_module(f"{library}.store.sqlite")
    if kind == "sqlite":
        store = stack.enter_context(room.SqliteStore.from_conn_string(":memory:", **options))
        store.setup()
        return store
    opened = room.AsyncSqliteStore.from_conn_string(":memory:", **options)
    store = run(opened.__aenter__())
    stack.callback(lambda: run(opened.__aexit__(None, None, None)))
    run(store.setup())
    return store


def base_of(library: str) -> Any:
    return import_module(f"{library}.store.base")


@pytest.mark.parametrize("kind", ["memory", "sqlite", "sqlite_aio"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_store_does_the_same(program, kind, run):
    def result(library):
        with ExitStack() as stack:
            return program(base_of(library), open_store(library, kind, stack, run))

    theirs, ours = map(result, LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("kind", ["memory", "sqlite_aio"])
@pytest.mark.parametrize("program", ASYNC_PROGRAMS.values(), ids=ASYNC_PROGRAMS)
def test_a_store_does_the_same_for_async_callers(program, kind, run):
    def result(library):
        with ExitStack() as stack:
            return run(program(base_of(library), open_store(library, kind, stack, run)))

    theirs, ours = map(result, LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("program", TTL_PROGRAMS.values(), ids=TTL_PROGRAMS)
def test_a_store_with_time_to_live_does_the_same(program, run):
    def result(library):
        with ExitStack() as stack:
            return program(base_of(library), open_store(library, "sqlite", stack, run, ttl={"default_ttl": 10}))

    theirs, ours = map(result, LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("program", VECTOR_PROGRAMS.values(), ids=VECTOR_PROGRAMS)
def test_an_indexed_store_does_the_same(program):
    def result(library):
        def make(**index):
            return import_module(f"{library}.store.memory").InMemoryStore(index=index or None)

        return program(base_of(library), make)

    theirs, ours = map(result, LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("program", PLAIN_PROGRAMS.values(), ids=PLAIN_PROGRAMS)
def test_the_records_are_the_same(program):
    theirs, ours = (program(base_of(library)) for library in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("program", CACHE_PROGRAMS.values(), ids=CACHE_PROGRAMS)
def test_a_cache_does_the_same(program, kind, tmp_path):
    def result(library):
        room = import_module(f"{library}.cache.{kind}")
        path = str(tmp_path / f"{library}.db")
        return program(room.InMemoryCache() if kind == "memory" else room.SqliteCache(path=path))

    theirs, ours = map(result, LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("program", CACHE_PROGRAMS.values(), ids=CACHE_PROGRAMS)
def test_a_cache_in_redis_does_the_same_but_clears_only_what_is_named(program, redis_url, redis_prefix):
    def result(library):
        room = import_module(f"{library}.cache.redis")
        with redis.Redis.from_url(redis_url) as client:
            return program(room.RedisCache(client, prefix=f"{redis_prefix}:{library}:"))

    theirs, ours = map(result, LIBRARIES)
    if program is cache_clear:
        ours[2].pop((("a", "b"), "2"))
    assert ours == theirs
