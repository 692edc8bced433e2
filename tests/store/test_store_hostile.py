"""No filter, name or value can say anything but what it says: random ones, against a store in memory."""

from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from servers import postgres, redis
from signoff.errors import InvalidInput
from signoff.store.base import PutOp
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import PostgresStore
from signoff.store.redis import RedisStore
from signoff.store.sqlite import SqliteStore

NS = ("n",)

patient = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])

HOSTILE = [
    "' OR 1=1 --",
    '"; DROP TABLE signoff_store; --',
    "%",
    "_",
    "*",
    "?",
    "?1",
    "\\",
    "$.a",
    "a.b",
    "[0]",
    "\x00",
    "NULL",
]
texts = st.sampled_from(HOSTILE) | st.text(max_size=6)
scalars = texts | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
filters = st.dictionaries(
    texts,
    scalars
    | st.lists(scalars, max_size=2)
    | st.dictionaries(texts, scalars, max_size=2)
    | st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$lte"]), scalars, min_size=1, max_size=2),
    max_size=2,
)
STORED = [{text: text, "a": {"b": text}} for text in HOSTILE]


@pytest.fixture(scope="module", params=["sqlite", "postgres", "redis"])
def twins(request):
    """The same items in memory and in a database."""
    memory = InMemoryStore()
    with ExitStack() as stack:
        store = stack.enter_context(opened(request.param, stack))
        for one in (memory, store):
            one.batch([PutOp(NS, str(at), value) for at, value in enumerate(STORED)])
        yield memory, store


def opened(kind, stack):
    if kind == "sqlite":
        return SqliteStore.from_conn_string(":memory:")
    if kind == "postgres":
        return PostgresStore.from_conn_string(stack.enter_context(postgres.schema(postgres.shared_url())))
    prefix = stack.enter_context(redis.prefix(redis.shared_url()))
    return RedisStore.from_conn_string(redis.shared_url(), prefix=prefix)


def outcome(action):
    try:
        return [item.key for item in action()]
    except InvalidInput as error:
        return type(error), str(error)


@patient
@given(filter=filters)
@example(filter={"access') = 'public' OR '1'='1' OR json_extract(value, '$.": "x"})
@example(filter={"a": {"b": "' OR 1=1 --"}})
def test_no_filter_can_say_anything_but_what_it_says(twins, filter):
    memory, store = twins
    asked = {"filter": filter, "limit": 100}
    assert outcome(lambda: store.search((), **asked)) == outcome(lambda: memory.search((), **asked))
    assert len(store.search((), limit=100)) == len(STORED)


@patient
@given(labels=st.lists(texts, min_size=1, max_size=3), key=texts, text=texts)
def test_no_namespace_key_or_value_can_say_anything_but_what_it_says(twins, labels, key, text):
    namespace = tuple(labels)
    for store in twins:
        before = len(store.search((), limit=100))
        try:
            store.batch([PutOp(namespace, key, {text: text})])
        except InvalidInput:
            assert len(store.search((), limit=100)) == before
            continue
        assert store.get(namespace, key).value == {text: text}
        assert namespace in store.list_namespaces(prefix=namespace)
        assert store.search(namespace)
        store.delete(namespace, key)
        assert len(store.search((), limit=100)) == before
