"""Savers with a serializer of the caller's own: it alone says what values become, and what they are again."""

import operator
import pickle
import sqlite3
from contextlib import closing
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
import redis

from signoff.checkpoint.questions import Wanted
from signoff.checkpoint.serde.encrypted import EncryptedSerializer
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.graph import START, StateGraph
from signoff.types import interrupt

CONFIG = {"configurable": {"thread_id": "1"}}

KINDS = ["memory", "sqlite", "sqlite_aio_by_sync", "postgres", "redis"]
on_every_saver = pytest.mark.parametrize("kind", KINDS)


class State(TypedDict):
    log: Annotated[list[Any], operator.add]


@pytest.fixture
def raw(tmp_path, request):
    """All that the index of open questions has, as it is stored."""

    def stored(kind: str) -> bytes:
        if kind == "redis":
            with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
                (key,) = client.keys(f"*{request.getfixturevalue('redis_prefix')}:1}}:q")
                return b"".join(client.hvals(key))
        if kind == "postgres":
            opened: Any = psycopg.connect(request.getfixturevalue("saver_url"))
        else:
            opened = sqlite3.connect(tmp_path / "saver.db")
        with closing(opened) as conn:
            return repr(conn.execute("SELECT * FROM signoff_questions").fetchall()).encode()

    return stored


def said(saver: Any, turns: int) -> Any:
    """What a conversation of so many turns has said, as somebody reads it who has not been there."""
    app = StateGraph(State).add_node("say", lambda state: {"log": ["HELLO"]}).add_edge(START, "say")
    for _ in range(turns):
        app.compile(checkpointer=saver).invoke({"log": ["HI"]}, CONFIG)
    return saver.get_tuple(CONFIG).checkpoint["channel_values"]["log"]


class Sealed:
    """Keeps the tags of signoff, and puts something of its own in front of the bytes, as a nonce would be."""

    def __init__(self, front: bytes) -> None:
        self.front = front
        self.inner = JsonPlusSerializer()

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        tag, data = self.inner.dumps_typed(obj)
        return tag, self.front + data[::-1]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        tag, content = data
        assert content.startswith(self.front), "another one has changed it"
        return self.inner.loads_typed((tag, content[len(self.front) :][::-1]))


@pytest.mark.parametrize("front", [b"\xc1", b"\xc1\x91", b"\x91", b""])
@on_every_saver
def test_bytes_that_look_like_those_of_signoff_are_left_as_they_are(openers, kind, front):
    assert said(openers[kind](serde=Sealed(front)), turns=20) == ["HI", "HELLO"] * 20


def test_they_are_also_where_rows_of_a_long_conversation_become_one(openers):
    assert said(openers["sqlite"](serde=Sealed(b"\xc1\x91")), turns=40) == ["HI", "HELLO"] * 40


class Migrating(JsonPlusSerializer):
    """Brings texts up to date as they are read."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        value = super().loads_typed(data)
        return value.lower() if isinstance(value, str) else value


@on_every_saver
def test_a_subclass_that_reads_in_its_own_way_is_asked_for_the_items_of_lists_too(openers, kind):
    assert said(openers[kind](serde=Migrating()), turns=20) == ["hi", "hello"] * 20


class Open(Sealed):
    """One that does not mean to hide anything."""

    hides_values = False


class OpenPickle:
    """One without tags that does not mean to hide anything, either."""

    dumps, loads, hides_values = pickle.dumps, pickle.loads, False


class Ciphered(JsonPlusSerializer):
    """One that is of signoff's kind, and encrypts."""

    def dumps_typed(self, obj: Any, **named: Any) -> tuple[str, bytes]:
        tag, data = super().dumps_typed(obj, **named)
        return tag, data[::-1]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return super().loads_typed((data[0], data[1][::-1]))


class Around:
    """One that hands on to a serializer that encrypts, and has nothing else of it."""

    def __init__(self) -> None:
        self.inner = EncryptedSerializer.from_aes(b"k" * 32)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return self.inner.dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self.inner.loads_typed(data)


@pytest.mark.parametrize(
    ("serde", "is_in_the_clear"),
    [
        (None, True),
        (Open(b""), True),
        (Sealed(b""), False),
        (Ciphered(), False),
        (Around(), False),
        (pickle, False),
        (OpenPickle, True),
    ],
    ids=["signoff's", "open", "sealed", "subclass", "around", "untyped", "open and untyped"],
)
@on_every_saver
def test_a_question_is_in_the_clear_only_if_its_serializer_hides_nothing(openers, raw, kind, serde, is_in_the_clear):
    saver = openers[kind](serde=serde)
    graph = StateGraph(State).add_node("ask", lambda state: {"log": [interrupt("A DIAGNOSIS")]}).add_edge(START, "ask")
    graph.compile(checkpointer=saver).invoke({"log": []}, CONFIG)
    assert [one.value for one in saver.find_questions(Wanted(text="Diagnosis"))] == ["A DIAGNOSIS"]
    assert saver.find_questions(Wanted(text="something else")) == []
    if kind != "memory":
        assert (b"a diagnosis" in raw(kind)) == is_in_the_clear


@pytest.mark.parametrize("kind", KINDS[1:])
def test_what_signoff_has_stored_itself_is_read_by_a_subclass(openers, kind):
    said(openers[kind](), turns=20)
    reader = openers[kind](serde=Migrating())
    assert reader.get_tuple(CONFIG).checkpoint["channel_values"]["log"] == ["hi", "hello"] * 20
