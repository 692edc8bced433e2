"""What is special about the saver in Redis: its keys, its server's deaths."""

import operator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, TypedDict

import pytest
import redis

from servers.relay import relayed
from signoff.cache.redis import RedisCache
from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.checkpoint.log.keeping import keep_newest
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.checkpoint.redis import RedisSaver, index, names, writing
from signoff.checkpoint.redis.scripts import COPY, CROSS_OUT_ASKED, DELETE
from signoff.constants import ERROR
from signoff.errors import InvalidInput, LeaseLost, SaverUnavailable, Undecodable
from signoff.graph import START, StateGraph
from signoff.steps import drive
from signoff.store.redis import RedisStore
from signoff.testing.conformance._saver_words import T, after, at, made, put, values_of
from signoff.types import Command, Interrupt, interrupt


@pytest.fixture
def client(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def saver(client, redis_prefix):
    return RedisSaver(client, prefix=redis_prefix)


def prepared(saver, id, parent, count):
    """A step that adds to a list."""
    checkpoint = made(id, {"list": list(range(count))}, {"list": count})
    return saver.prepare([Commit(after(parent), [TaskWrites(f"t{id}", [("list", [count])])], checkpoint, {}, {"list"})])


class Chat(TypedDict):
    log: Annotated[list, operator.add]


def asking(saver):
    graph = StateGraph(Chat).add_node("ask", lambda chat: {"log": [interrupt("pay?")]})
    return graph.add_edge(START, "ask").compile(saver)


def ask(saver, id, thread):
    question = Question(id, thread, "g", "node", f"2030-01-0{id}", Interrupt(value="?", id=id))
    saver.store(saver.prepare([Commit(after(thread=thread), filing=Filing([question]))]))


def test_all_keys_of_a_thread_have_one_hash_tag(saver, client, redis_prefix):
    put(saver, "1", {"list": list(range(50)), "big": "x" * 10_000})
    put(saver, "2", ns="nested")
    saver.put_writes(at("1"), [("a", 1)], "task")
    ask(saver, "1", T)
    keys = client.keys(f"*{redis_prefix}:{T}*")
    assert len(keys) == 7
    assert {key.split(b"}")[0] for key in keys} == {f"{{{redis_prefix}:{T}".encode()}


def test_threads_are_looked_through_in_few_trips(saver):
    for number in range(150):
        put(saver, "1", thread=f"t{number}")
        ask(saver, "1", f"t{number}")
    trips, perform = [], saver._connection.perform
    saver._connection.perform = lambda effect: trips.append(effect) or perform(effect)

    def trips_of(look):
        trips.clear()
        return len(list(look())), len(trips)

    assert trips_of(lambda: saver.find_questions(Wanted(limit=None))) == (150, 4)
    assert trips_of(lambda: saver.find_questions(Wanted(limit=20))) == (20, 2)
    assert trips_of(lambda: saver.list(None, limit=5)) == (5, 10)


def test_a_deleted_thread_leaves_no_key(saver, client, redis_prefix):
    put(saver, "1", {"list": list(range(50)), "big": "x" * 10_000})
    saver.put_writes(at("1"), [("a", 1)], "task")
    ask(saver, "1", T)
    saver.delete_thread(T)
    assert client.keys(f"*{redis_prefix}:{T}*") == []
    assert list(saver.list(None)) == []


def test_a_deletion_whose_answer_was_lost_leaves_alone_what_was_begun_since(own_redis):
    with (
        relayed(own_redis) as (relay, url),
        RedisSaver.from_conn_string(url, prefix="d") as saver,
        RedisSaver.from_conn_string(own_redis.url, prefix="d") as other,
    ):
        for at_first in (True, False):
            put(saver, "1", {"a": "old"})
            if not at_first:  # then the server knows the script
                relay.lose_answer_to(DELETE.digest.encode(), meanwhile=lambda: put(other, "2", {"a": "new"}))
            saver.delete_thread(T)
        assert relay.has_lost
        assert values_of(saver) == {"a": "new"}


def test_a_thread_that_two_delete_at_once_is_gone_when_the_first_of_them_is_done(saver):
    perform = saver._connection.perform
    put(saver, "1", {"a": "old"})
    first, second = (saver._backend.delete_threads([T]) for _ in range(2))
    for_first, for_second = perform(next(first)), perform(next(second))
    drive(first, perform, lambda: first.send(for_first))
    assert saver.get_tuple(at()) is None
    put(saver, "2", {"a": "new"})
    drive(second, perform, lambda: second.send(for_second))
    assert values_of(saver) == {"a": "new"}


def test_who_tidies_up_looks_again_if_another_has_done_so_meanwhile(saver):
    perform = saver._connection.perform
    put(saver, "1", {"a": "old"}, metadata={"run_id": "r1"})
    put(saver, "2", {"a": "new"}, metadata={"run_id": "r2"})
    tidying = saver._backend.tidy(T, keep_newest(T))
    seen = perform(next(tidying))
    saver.delete_for_runs(["r2"])
    drive(tidying, perform, lambda: tidying.send(seen))
    assert values_of(saver) == {"a": "old"}


def test_a_copy_whose_answer_was_lost_is_a_copy(own_redis):
    with relayed(own_redis) as (relay, url), RedisSaver.from_conn_string(url, prefix="copies") as saver:
        put(saver, "1", {"a": 1})
        saver.copy_thread(T, "first")  # then the server knows the script
        relay.lose_answer_to(COPY.digest.encode())
        saver.copy_thread(T, "second")
        assert relay.has_lost
        assert values_of(saver, thread="second") == {"a": 1}


def test_what_a_thread_needs_no_more_leaves_no_key(saver, client, redis_prefix):
    put(saver, "1", {"list": list(range(50))})
    saver.put_writes(at("1"), [("list", [50])], "task")
    put(saver, "2", parent="1")
    saver.prune([T])
    assert client.keys(f"*{redis_prefix}:{T}*") != []
    assert client.keys(f"*{redis_prefix}:{T}*:[wl]*") == []


@pytest.fixture
def listed(client, redis_prefix):
    """How many threads, and how many questions, are noted down."""

    def sizes():
        threads, asked, noted = (f"{{{redis_prefix}}}:{name}" for name in ("threads", "asked", "noted"))
        assert client.zcard(asked) == 2 * client.hlen(noted)
        return client.zcard(threads), client.hlen(noted)

    return sizes


def grow_old(client, redis_prefix):
    """Let what is noted down have been so for hours."""
    client.zadd(f"{{{redis_prefix}}}:threads", {T: 1})
    noted = f"{{{redis_prefix}}}:noted"
    for member in client.hkeys(noted):
        client.hset(noted, member, 1)


def test_what_is_not_there_is_crossed_out_of_the_lists_after_a_while(saver, client, redis_prefix, listed):
    put(saver, "1")
    ask(saver, "1", T)
    saver.delete_thread(T)
    assert listed() == (1, 1)
    assert (list(saver.list(None)), saver.find_questions(Wanted())) == ([], [])
    assert listed() == (1, 1), "whoever has noted it down may be about to begin it"
    grow_old(client, redis_prefix)
    assert (list(saver.list(None)), saver.find_questions(Wanted())) == ([], [])
    assert listed() == (0, 0)
    put(saver, "1")  # and is there again when it begins anew
    ask(saver, "2", T)
    assert len(list(saver.list(None))) == 1
    assert [one.id for one in saver.find_questions(Wanted())] == ["2"]


def close(saver, id, thread):
    saver.store(saver.prepare([Commit(after(thread=thread), filing=Filing(closed=[id]))]))


def test_a_question_is_crossed_out_when_it_is_closed(saver, listed):
    for id in "123":
        ask(saver, id, T)
    close(saver, "1", T)
    assert listed() == (1, 2)
    trips, perform = [], saver._connection.perform
    saver._connection.perform = lambda effect: trips.append(effect) or perform(effect)
    close(saver, "1", T)
    assert [trip for trip in trips if getattr(trip, "script", None) is CROSS_OUT_ASKED] == [], "it is closed already"
    saver.store(saver.prepare([Commit(after(), filing=Filing(closed=None))]))
    assert listed() == (1, 0)


def test_who_crosses_out_late_leaves_what_was_noted_down_since(saver, client, redis_prefix, listed):
    ask(saver, "1", T)
    (noted,) = client.hvals(f"{{{redis_prefix}}}:noted")
    ask(saver, "1", T)
    saver._run(index.cross_out(saver._backend.inner._names, T, [b"1", noted]))
    assert listed() == (1, 1)
    close(saver, "1", T)
    assert listed() == (1, 0)


@pytest.mark.parametrize("member", [b"t2030", b"t2030\x001\x00a\x00b", b"t2030\x001\x00\xff"])
def test_a_broken_index_is_undecodable(saver, client, redis_prefix, member):
    client.zadd(f"{{{redis_prefix}}}:asked", {member: 0})
    with pytest.raises(Undecodable, match="index of open questions"):
        saver.find_questions(Wanted())


@pytest.mark.parametrize("name", ["older", "changes", "@", "?1", "epoch"])
def test_a_nested_graph_may_be_named_like_what_is_known_of_a_thread(saver, name):
    put(saver, "1")
    put(saver, "2", {"a": 1}, ns=name)
    assert values_of(saver, ns=name) == {"a": 1}
    ask(saver, "1", T)
    assert [one.id for one in saver.find_questions(Wanted())] == ["1"]
    lease = Lease(T, "ana", saver.look(at())[1].seen)
    saver.store(prepared(saver, "3", "1", 20), lease)
    assert saver.look(at())[1].holder == "ana"
    assert values_of(saver, ns=name) == {"a": 1}


def test_a_question_that_is_asked_anew_at_another_time_is_there_once(saver):
    ask(saver, "1", T)
    close(saver, "1", T)
    question = Question("1", T, "g", "node", "2040", Interrupt(value="?", id="1"))
    saver.store(saver.prepare([Commit(after(), filing=Filing([question]))]))
    assert [one.asked_at for one in saver.find_questions(Wanted())] == ["2040"]
    assert [one.asked_at for one in saver.find_questions(Wanted(id="1"))] == ["2040"]


def test_a_server_that_dies_before_a_question_is_crossed_out_has_it_closed(own_redis, monkeypatch):
    with RedisSaver.from_conn_string(own_redis.url, prefix="dies") as saver:
        ask(saver, "1", T)
        cross_out = index.cross_out

        def late(*given):
            monkeypatch.undo()
            own_redis.stop()
            yield from cross_out(*given)

        monkeypatch.setattr(index, "cross_out", late)
        close(saver, "1", T)
        own_redis.start()
        assert saver.find_questions(Wanted()) == []


@pytest.fixture
def notes(monkeypatch):
    """The lists that something was noted down in. The first two notes are too old when they are used."""
    found = []

    def late(real, name):
        def noted(*given):
            moment = yield from real(*given)
            found.append(name)
            return moment - names.GRACE_S if len(found) < 3 else moment

        return noted

    monkeypatch.setattr(writing, "note", late(writing.note, "threads"))
    monkeypatch.setattr(index, "note", late(index.note, "asked"))
    return found


def test_a_note_that_is_too_old_is_made_again(saver, notes):
    ask(saver, "1", T)
    assert notes[:4] == ["asked", "threads", "asked", "threads"]
    assert [one.id for one in saver.find_questions(Wanted())] == ["1"]


def test_a_note_that_a_thread_asks_is_made_again_if_it_is_too_old(saver, notes):
    notes += "ab"
    put(saver, "1")
    notes.clear()
    ask(saver, "1", T)
    assert notes == ["asked", "threads", "asked"]


def test_a_note_that_a_thread_asks_again_is_made_again_if_it_is_too_old(saver, notes):
    notes += "ab"
    app = asking(saver)
    for run_id in ("asks", "drops it"):
        config = {**at(), "metadata": {"run_id": run_id}}
        app.invoke({"log": []}, config, on_pending="discard")
    notes.clear()
    saver.delete_for_runs(["drops it"])
    assert notes == ["asked"] * 3
    assert [one.id for one in saver.find_questions(Wanted())] == [app.get_state(at()).interrupts[0].id]


def test_a_note_of_a_copy_is_made_again_if_it_is_too_old(saver, notes):
    notes += "ab"
    put(saver, "1")
    ask(saver, "1", T)
    notes.clear()
    saver.copy_thread(T, "copy")
    assert notes == ["threads", "asked"] * 2
    assert len(saver.find_questions(Wanted())) == 2


def test_what_was_done_already_is_not_done_again(saver):
    """The answer to a script may be lost, and then it is sent once more."""
    lease = Lease(T, "ana", saver.look(at())[1].seen)
    step = prepared(saver, "1", None, 20)
    saver.store(step, lease)
    before, epoch, lease.epoch = list(saver.list(None)), lease.epoch, 0
    saver.store(step, lease)
    assert (lease.epoch, list(saver.list(None))) == (epoch, before)


def test_a_write_that_takes_the_place_of_another_has_no_room_beside_it(saver, client, redis_prefix):
    sizes = set()
    for number in range(3):
        saver.put_writes(at("1"), [("a", 1)], "task")
        saver.put_writes(at("1"), [(ERROR, number)], "task")
        sizes.add(client.hstrlen(f"{{{redis_prefix}:{T}}}:w", "\x001"))
    assert len(sizes) == 1


def test_a_broken_row_is_undecodable(saver, client, redis_prefix):
    put(saver, "1", {"list": list(range(50))})
    base = f"{{{redis_prefix}:{T}}}"
    for key, field in ((f"{base}:c", "\x001"),):
        saver._memory.forget()
        client.hset(key, field, b"\x95\xa11\x00\xa17\xc0\xa11")
        with pytest.raises(Undecodable):
            saver.get_tuple(at())


@pytest.mark.parametrize("kinds", ["t", "c", "w", "tc", "tcw"])
def test_a_thread_of_which_a_key_was_evicted_is_not_taken_for_one_that_has_not_begun(
    saver, client, redis_url, redis_prefix, kinds
):
    put(saver, "1", {"large": "x" * 100_000})
    saver.put_writes(at("1"), [("a", 1)], "task")
    client.delete(*(f"{{{redis_prefix}:{T}}}:{kind}" for kind in kinds))
    with RedisSaver.from_conn_string(redis_url, prefix=redis_prefix) as another:
        for one in (saver, another):
            with pytest.raises(Undecodable, match=r"evicted.*delete_thread\('thread'\)"):
                one.look(at())
    saver.delete_thread(T)
    assert saver.get_tuple(at()) is None


RIGHTS = "ACL SETUSER app on >secret ~{signoff* +@read +@write +@scripting +@connection +time"


def test_the_rights_that_the_guide_names_are_enough(own_redis):
    with redis.Redis.from_url(own_redis.url) as owner:
        owner.execute_command(*RIGHTS.split())
    assert RIGHTS in (Path(__file__).parents[2] / "docs/savers.md").read_text()
    with redis.Redis.from_url(own_redis.url, username="app", password="secret") as client:
        saver, store, cache = RedisSaver(client), RedisStore(client), RedisCache(client)
        put(saver, "1", {"list": list(range(50)), "large": "x" * 100_000})
        saver.put_writes(at("1"), [("a", 1)], "task")
        assert values_of(saver)["list"] == list(range(50))
        saver.copy_thread(T, "copy")
        saver.prune([T])
        saver.delete_thread(T)
        assert [found.config["configurable"]["thread_id"] for found in saver.list(None)] == ["copy"]
        assert list(saver.find_questions(Wanted())) == []
        store.put(("n",), "k", {"v": 1}, ttl=1)
        assert [item.key for item in store.search(())] == ["k"]
        assert store.sweep_ttl() == 0
        cache.set({(("n",), "k"): (1, 60)})
        assert cache.get([(("n",), "k")]) == {(("n",), "k"): 1}
        cache.clear()


def test_half_a_surrogate_pair_is_refused_where_redis_cannot_store_it(saver):
    with pytest.raises(InvalidInput, match="surrogate"):
        put(saver, "1", thread="\ud800")
    with pytest.raises(InvalidInput, match="surrogate"):
        saver.get_tuple(at(thread="\ud800"))


def test_threads_of_two_prefixes_are_never_one(client, redis_prefix):
    outer, inner = RedisSaver(client, prefix=redis_prefix), RedisSaver(client, prefix=f"{redis_prefix}:eu")
    ask(inner, "1", "1")
    put(inner, "1", thread="1")
    assert outer.get_tuple(at(thread="eu:1")) is None
    assert [*outer.find_questions(Wanted())] == []


def test_a_run_that_a_failover_has_forgotten_cannot_write_beside_its_successor(client, redis_prefix):
    """A replica that takes over may not have heard of the last writes: not of who has taken a thread since, either."""

    class State(TypedDict):
        log: Annotated[list, operator.add]

    def pay(state):
        answer = interrupt("pay?")
        if answer == "forgotten":
            client.delete(*client.keys(f"*{redis_prefix}:*"))
            for key, dumped in before.items():
                client.restore(key, 0, dumped, replace=True)
            with ThreadPoolExecutor(1) as other:
                other.submit(app.invoke, Command(resume="successor"), at()).result()
        return {"log": [answer]}

    saver = RedisSaver(client, prefix=redis_prefix)
    app = StateGraph(State).add_node(pay).add_edge(START, "pay").compile(saver)
    app.invoke({"log": []}, at())
    before = {key: client.dump(key) for key in client.keys(f"*{redis_prefix}*")}
    with pytest.raises(LeaseLost):
        app.invoke(Command(resume="forgotten"), at())
    assert app.get_state(at()).values["log"] == ["successor"]


@pytest.mark.parametrize("prefix", ["", "{a}", None])
def test_a_prefix_that_cannot_begin_a_key_is_refused(client, prefix):
    with pytest.raises(InvalidInput, match="prefix"):
        RedisSaver(client, prefix=prefix)


def test_a_server_that_dies_between_two_steps_is_waited_for_by_nobody(own_redis):
    with RedisSaver.from_conn_string(own_redis.url) as saver:
        saver.store(prepared(saver, "1", None, 20))
        own_redis.stop()
        with pytest.raises(SaverUnavailable):
            saver.store(prepared(saver, "2", "1", 21))
        own_redis.start()
        put(saver, "5", {"a": 1})
        assert values_of(saver) == {"a": 1}


def test_one_question_is_found_without_reading_the_others(saver, monkeypatch):
    app, read = asking(saver), []

    def asked_of(packed, plain=index.asked_of):
        read.append(packed)
        return plain(packed)

    for number in range(20):
        app.invoke({"log": []}, {"configurable": {"thread_id": str(number)}})
    question = saver.find_questions(Wanted(thread_id="7"))[0]
    monkeypatch.setattr(index, "asked_of", asked_of)
    for wanted in (Wanted(id=question.id), Wanted(id=question.id, thread_id="7")):
        assert [one.thread_id for one in saver.find_questions(wanted)] == ["7"]
    assert len(read) == 2
    assert saver.find_questions(Wanted(id="\ud800")) == []
    assert saver.find_questions(Wanted(id=question.id, thread_id="8")) == []
    assert len(saver.find_questions(Wanted())) == 20
