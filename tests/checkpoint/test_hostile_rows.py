"""Rows that are broken or were made by somebody else: on a server, as in a file, reading them fails in one way."""

from datetime import UTC, datetime

import psycopg
import pytest
import redis

from signoff.checkpoint.base import Commit
from signoff.checkpoint.encoding import packed
from signoff.checkpoint.postgres import PostgresSaver
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.checkpoint.redis import RedisSaver
from signoff.errors import Undecodable
from signoff.testing.conformance._saver_words import T, after, at, put
from signoff.types import Interrupt

BLOBS = [
    b"",
    b"\xc1",
    b"\xc1" * 9,
    b"\x80\x04\x95.",
    b"\x97",
    b"\x91" * 3000,
    b"\x81\x01" * 3000,
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff" + b"x" * 100,
    b"\xc6\xff\xff\xff\xff",
    b"\x95\x01\x80\x80\x90\x90",
    b"\x95\xa11\x00\xa17\xc0\xa11",
    packed(None),
    packed("text"),
    packed(2**63),
    packed({"a": 1}),
    packed([(0, "a", ("pickle", b"cos\nsystem\n(S'true'\ntR."))]),
    packed((1, "{}", ("msgpack", b""), {"a": (1,)}, {}, (), ())),
    packed((1, ("a", 1), (4, 5, [], []), {}, {"a": ((1, 0, 2**60),)}, (), ())),
    packed((9, 0, 0)),
    packed([b"1", 0, b"7", None, packed((1, "{}", 7, {}, {"a": (1, 2)}, (), ()))]),
    packed([[b"task", 0, b"", packed([(0, "a", (7, 7))])]]),
    packed([[b"task", "0", 7]]),
]


LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def make(saver):
    """A thread that has something everywhere."""
    put(saver, "1", {"a": 1, "big": "x" * 10_000})
    put(saver, "2", {"a": 2, "list": list(range(30))}, parent="1", versions={"a": 2, "big": 1, "list": 1})
    saver.put_writes(at("2"), [("a", {"b": [1, (2, 3)]})], "task")
    question = Question("q", T, "g", "node", "2030-01-01", Interrupt(value="?", id="q"))
    saver.store(saver.prepare([Commit(after("2"), filing=Filing([question]))]))


def attempt(action):
    """Whether it works; the one error that it may fail with is no surprise, and names the thread."""
    try:
        action()
    except Undecodable as error:
        refused = error
    else:
        return True
    assert refused.thread_id == T
    assert repr(T) in str(refused)
    return False


def read_everything(saver):
    saver._memory.forget()
    return [
        attempt(lambda: saver.get_tuple(at())),
        attempt(lambda: list(saver.list(None))),
        attempt(lambda: list(saver.list(None, filter={"step": 0}))),
        attempt(lambda: saver.look(at())),
        attempt(lambda: saver.find_questions(Wanted())),
        attempt(lambda: put(saver, "9", {"a": 1}, parent="2")),
        attempt(lambda: saver.copy_thread(T, "copy")),
        attempt(lambda: saver.delete_thread("copy")),
        attempt(lambda: saver.delete_for_runs(["run"])),
        attempt(lambda: saver.keep_last(1)),
        attempt(lambda: saver.cleanup_before(LONG_AGO)),
        attempt(lambda: saver.prune([T])),
    ]


COLUMNS = ["checkpoints.body", "writes.data", "items.data", "blobs.data", "questions.value"]


@pytest.mark.parametrize("place", COLUMNS)
def test_whatever_is_in_a_table_reading_it_fails_in_one_way_or_not_at_all(postgres_url, place):
    table, column = place.split(".")
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        saver, failed = PostgresSaver(conn), 0
        for blob in BLOBS:
            saver.delete_thread(T)
            make(saver)
            changed = conn.execute(f"UPDATE signoff_{table} SET {column} = %s", (blob,)).rowcount
            assert changed > 0
            failed += not all(read_everything(saver))
    assert failed > len(BLOBS) / 2


@pytest.mark.parametrize("kind", ["c", "w", "b", "q", "l"])
def test_whatever_is_in_a_key_reading_it_fails_in_one_way_or_not_at_all(redis_url, redis_prefix, kind):
    failed = 0
    with redis.Redis.from_url(redis_url) as client:
        saver = RedisSaver(client, prefix=redis_prefix)
        for blob in BLOBS:
            saver.delete_thread(T)
            make(saver)
            spoil(client, f"{{{redis_prefix}:{T}}}:{kind}", blob)
            failed += not all(read_everything(saver))
    assert failed > len(BLOBS) / 2


def spoil(client, key, blob):
    """Put a blob in the place of everything that a key has, or of the items of its lists."""
    if client.type(key) == b"hash":
        for field in client.hkeys(key):
            client.hset(key, field, blob)
        return
    for lineage in client.smembers(key):
        for index in range(client.llen(f"{key}:{lineage.decode()}")):
            client.lset(f"{key}:{lineage.decode()}", index, blob)
