"""Mistakes in calls of savers: refused with a typed error that says what to do, and nothing is removed."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from signoff.checkpoint.base import Commit
from signoff.checkpoint.lease import moved
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.errors import InvalidInput, NotStorable, ThreadMoved
from signoff.graph import START, StateGraph
from signoff.store.sqlite import SqliteStore
from signoff.testing.conformance._saver_words import after, made, put, values_of


@pytest.fixture(params=["memory", "sqlite"])
def saver(request):
    with SqliteSaver.from_conn_string(":memory:") if request.param == "sqlite" else InMemorySaver() as saver:
        for thread in ("a", "b", "ab"):
            put(saver, "001", {"log": []}, thread=thread)
            put(saver, "002", {"log": []}, parent="001", thread=thread)
        yield saver


@pytest.mark.parametrize(
    "remove",
    [
        lambda saver: saver.prune("ab", strategy="delete"),
        lambda saver: saver.prune("ab"),
        lambda saver: saver.keep_last(1, "ab"),
        lambda saver: saver.delete_for_runs("ab"),
        lambda saver: asyncio.run(saver.aprune("ab", strategy="delete")),
    ],
)
def test_one_name_is_not_taken_letter_by_letter(saver, remove):
    with pytest.raises(InvalidInput, match=r"\['ab'\]"):
        remove(saver)
    assert len(list(saver.list(None))) == 6


@pytest.mark.parametrize(
    "read",
    [
        lambda saver: saver.get_tuple("a"),
        lambda saver: saver.get_tuple({"configurable": "a"}),
        lambda saver: list(saver.list("a")),
        lambda saver: list(saver.list(None, before="002")),
    ],
)
def test_what_is_no_config_is_refused(saver, read):
    with pytest.raises(InvalidInput, match='"configurable": {"thread_id": "..."}'):
        read(saver)


class Named:
    def __str__(self) -> str:
        return "a"


def test_a_thread_id_has_a_name_of_its_own(saver):
    assert values_of(saver, thread=Named()) == values_of(saver, thread="a")
    with pytest.raises(InvalidInput, match="Give a text that names the thread"):
        saver.get_tuple({"configurable": {"thread_id": object()}})


@pytest.mark.parametrize("limit", ["two", True, -1])
def test_a_limit_is_a_number(saver, limit):
    with pytest.raises(InvalidInput, match="limit must be 0 or more"):
        list(saver.list(None, limit=limit))


def test_a_filter_is_a_dict(saver):
    with pytest.raises(InvalidInput, match="filter must be a dict of metadata"):
        list(saver.list(None, filter="loop"))


@pytest.mark.parametrize("address", ["localhost", "mysql://localhost/app"])
def test_what_is_no_address_of_postgres_is_refused_at_once(address):
    with pytest.raises(InvalidInput, match="postgresql://user@host/name"):
        PostgresSaver(address)

    async def main():
        with pytest.raises(InvalidInput, match="postgresql://user@host/name"):
            AsyncPostgresSaver(address)

    asyncio.run(main())


@pytest.mark.parametrize("kind", [RedisSaver, AsyncRedisSaver])
@pytest.mark.parametrize("address", ["localhost", "http://localhost:6379"])
def test_what_is_no_address_of_redis_is_refused_at_once(kind, address):
    async def main():
        with pytest.raises(InvalidInput, match="redis://host:6379"):
            kind(address)

    asyncio.run(main())


def test_a_saver_in_memory_may_be_opened_like_the_others():
    async def main():
        async with InMemorySaver() as saver:
            return saver

    with InMemorySaver() as saver:
        assert isinstance(saver, InMemorySaver)
    assert isinstance(asyncio.run(main()), InMemorySaver)


def test_one_checkpoint_twice_in_a_commit_is_refused_by_its_id_and_nothing_is_stored(saver):
    put(saver, "1", {"amount": 70})
    twice = [Commit(after("1"), (), made("2", {"amount": amount}), {}, {"amount"}) for amount in (80, 90)]
    with pytest.raises(InvalidInput, match="Checkpoint '2' of thread .* is twice in one commit"):
        saver.commit(twice)
    assert values_of(saver) == {"amount": 70}
    for one in twice:
        saver.commit([one])
    assert values_of(saver) == {"amount": 90}


def test_metadata_that_contains_itself_is_refused(saver):
    tags: list = []
    tags.append(tags)
    with pytest.raises(NotStorable, match="metadata: it is nested too deep, or contains itself"):
        put(saver, "9", metadata={"tags": tags})
    assert saver.get_tuple({"configurable": {"thread_id": "thread"}}) is None


@pytest.mark.parametrize("kind", [SqliteSaver, SqliteStore])
def test_a_connection_whose_texts_are_no_texts_is_refused(kind):
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.text_factory = bytes
        with pytest.raises(InvalidInput, match="text_factory"):
            kind(conn)


class Contrary(InMemorySaver):
    """Whatever a run has seen, it is not so any more."""

    def store(self, prepared, lease=None, *, ends=False):
        raise moved(lease)


@pytest.mark.parametrize("action", ["invoke", "update_state"])
def test_a_saver_that_does_not_find_what_it_has_said_is_not_asked_for_ever(action):
    app = StateGraph(dict).add_node("work", lambda state: {}).add_edge(START, "work").compile(checkpointer=Contrary())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(ThreadMoved):
        app.invoke({"a": 1}, config) if action == "invoke" else app.update_state(config, {"a": 1}, "work")


def test_whoever_looks_into_the_dicts_of_a_saver_in_memory_is_told_what_to_call():
    with pytest.raises(AttributeError, match=r"delete_thread\(thread_id\), and see what there is with list\(None\)"):
        InMemorySaver().storage.clear()
    with pytest.raises(AttributeError, match="has no attribute 'writez'"):
        InMemorySaver().writez  # noqa: B018
    assert not hasattr(InMemorySaver(), "storage")
