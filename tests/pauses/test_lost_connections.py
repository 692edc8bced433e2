"""Between a pause and its answer everything may be lost but what was stored: connections, the server itself."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, contextmanager

import psycopg
import pytest
import redis
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from redis.backoff import AbstractBackoff
from redis.retry import Retry

from servers.relay import relayed
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.redis.scripts import APPEND
from signoff.errors import OutcomeUnknown, SaverUnavailable
from signoff.inbox import Inbox
from signoff.types import Command

from .desk import Desk, Process
from .programs import NEW, Works, asking, line
from .ways import on_thread


@contextmanager
def on_a_connection(url):
    with psycopg.connect(url, autocommit=True) as conn:
        saver = PostgresSaver(conn)
        yield saver
        saver.close()


@contextmanager
def on_a_pool(url):
    with ConnectionPool(url, min_size=3, max_size=3, open=True, timeout=10) as pool:
        pool.wait()
        yield PostgresSaver(pool)


@asynccontextmanager
async def on_an_async_pool(url):
    async with AsyncConnectionPool(url, min_size=3, max_size=3, open=False, timeout=10) as pool:
        await pool.wait()
        yield AsyncPostgresSaver(pool)


OPENERS = {
    "postgres": PostgresSaver.from_conn_string,
    "postgres connection": on_a_connection,
    "postgres pool": on_a_pool,
    "redis": RedisSaver.from_conn_string,
}
ASYNC_OPENERS = {
    "postgres": AsyncPostgresSaver.from_conn_string,
    "postgres pool": on_an_async_pool,
    "redis": AsyncRedisSaver.from_conn_string,
}


def server_of(name, request):
    return request.getfixturevalue("own_redis" if name == "redis" else "own_postgres")


def built(saver, works):
    return line(fetch=works.node("fetch"), ask=asking("pay?"), pay=works.node("pay")).compile(checkpointer=saver)


def mishaps(server):
    return (("killed", server.kill_connections), ("restarted", server.restart))


@pytest.mark.parametrize("name", OPENERS)
def test_what_dies_between_a_pause_and_its_answer_is_replaced_unseen(request, name):
    server, works = server_of(name, request), Works()
    with OPENERS[name](server.url) as saver:
        app = built(saver, works)
        for thread, mishap in mishaps(server):
            config = on_thread(f"{name} {thread}")
            app.invoke(NEW, config)
            mishap()
            assert app.invoke(Command(resume="yes"), config)["log"] == ["fetch", "yes", "pay"]
    assert works.done == {"fetch": 2, "pay": 2}


@pytest.mark.parametrize("name", ASYNC_OPENERS)
def test_what_dies_is_replaced_unseen_in_async_too(request, name):
    server, works = server_of(name, request), Works()

    async def program():
        async with ASYNC_OPENERS[name](server.url) as saver:
            app = built(saver, works)
            for thread, mishap in mishaps(server):
                config = on_thread(f"async {name} {thread}")
                await app.ainvoke(NEW, config)
                mishap()
                assert (await app.ainvoke(Command(resume="yes"), config))["log"] == ["fetch", "yes", "pay"]

    asyncio.run(program())
    assert works.done == {"fetch": 2, "pay": 2}


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_server_that_goes_down_in_a_step_has_all_of_the_step_or_nothing(request, name):
    server, works = server_of(name, request), Works()
    is_due, config = [True], on_thread(f"{name} down")

    def pay(state):
        if is_due.pop():
            server.stop()
        return works.node("pay")(state)

    with OPENERS[name](server.url) as saver:
        app = line(fetch=works.node("fetch"), ask=asking("pay?"), pay=pay).compile(checkpointer=saver)
        app.invoke(NEW, config)
        with pytest.raises(SaverUnavailable):
            app.invoke(Command(resume="yes"), config, durability="sync")
        with pytest.raises(SaverUnavailable):
            app.get_state(config)
        server.start()
        state = app.get_state(config)
        assert (state.values["log"], state.next) == (["fetch", "yes"], ("pay",))
        is_due.append(False)
        assert app.invoke(None, config)["log"] == ["fetch", "yes", "pay"]
    assert works.done == {"fetch": 1, "pay": 2}


class StartingAgain(AbstractBackoff):
    """Starts a server that has gone down, when somebody wants to connect to it once more."""

    def __init__(self, server):
        self.server, self.is_down = server, False

    def go_down(self):
        self.server.stop()
        self.is_down = True

    def compute(self, failures=1):
        if self.is_down:
            self.is_down = False
            self.server.start()
        return 0

    def __deepcopy__(self, memo):
        return self


@contextmanager
def on_a_patient_pool(server):
    starting = StartingAgain(server)

    class Patient(psycopg.Connection):
        @classmethod
        def connect(cls, *args, **options):
            starting.compute()
            return super().connect(*args, **options)

    with ConnectionPool(server.url, connection_class=Patient, min_size=1, max_size=1, open=True) as pool:
        pool.wait()
        yield PostgresSaver(pool), starting.go_down


@contextmanager
def on_a_patient_client(server):
    starting = StartingAgain(server)
    with redis.Redis.from_url(server.url, retry=Retry(starting, 3)) as client:
        yield RedisSaver(client), starting.go_down


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize(("name", "opened"), [("postgres", on_a_patient_pool), ("redis", on_a_patient_client)])
def test_a_run_waits_for_a_server_that_is_started_again_as_long_as_its_pool_or_client_does(
    request, name, opened, durability
):
    server, works, config = server_of(name, request), Works(), on_thread(f"{name} {durability} patient")
    with opened(server) as (saver, go_down):

        def pay(state):
            go_down()
            return works.node("pay")(state)

        app = line(fetch=works.node("fetch"), ask=asking("pay?"), pay=pay).compile(checkpointer=saver)
        app.invoke(NEW, config)
        assert app.invoke(Command(resume="yes"), config, durability=durability)["log"] == ["fetch", "yes", "pay"]
        assert app.get_state(config).next == ()
    assert works.done == {"fetch": 1, "pay": 1}


@pytest.mark.parametrize("error", [LookupError("the card was declined"), KeyboardInterrupt("enough")], ids=repr)
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_run_that_fails_or_is_broken_off_while_the_server_is_down_ends_by_that(request, name, durability, error):
    server, config = server_of(name, request), on_thread(f"{name} {durability} {error!r}")
    is_down = [True]

    def pay(state):
        if is_down.pop():
            server.stop()
            raise type(error)(*error.args)
        return {"log": ["paid"]}

    with OPENERS[name](server.url) as saver:
        app = line(ask=asking("pay?"), pay=pay).compile(checkpointer=saver)
        app.invoke(NEW, config)
        with pytest.raises(type(error), match=str(error)) as caught:
            app.invoke(Command(resume="yes"), config, durability=durability)
        assert [note.partition(":")[0] for note in caught.value.__notes__ if not note.startswith("In 'pay'")] == [
            "That this has failed could not be stored"
        ]
        server.start()
        is_down.append(False)
        assert app.invoke(None, config)["log"] == ["yes", "paid"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_an_async_run_that_is_cancelled_while_the_server_is_down_is_cancelled(request, name, durability):
    server, config = server_of(name, request), on_thread(f"async {name} {durability} cancelled")

    async def program():
        is_paying, is_up = asyncio.Event(), asyncio.Event()

        async def pay(state):
            is_paying.set()
            await is_up.wait()
            return {"log": ["paid"]}

        async with ASYNC_OPENERS[name](server.url) as saver:
            app = line(ask=asking("pay?"), pay=pay).compile(checkpointer=saver)
            await app.ainvoke(NEW, config)
            run = asyncio.create_task(app.ainvoke(Command(resume="yes"), config, durability=durability))
            await is_paying.wait()
            await asyncio.to_thread(server.stop)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            assert run.cancelled()
            await asyncio.to_thread(server.start)
            is_up.set()
            assert (await app.ainvoke(None, config))["log"] == ["yes", "paid"]

    asyncio.run(program())


# Answers that are lost on their way: the server has done what it was asked for, and nobody hears of it.

STORING = {"postgres": b"signoff_append", "redis": APPEND.digest.encode()}
"""What the message has in it that stores something and takes the thread."""


@pytest.mark.parametrize("name", STORING)
def test_an_answer_whose_storing_nobody_heard_of_is_not_refused_as_that_of_another(request, name):
    works, config = Works(), on_thread(f"{name} unheard")
    with relayed(server_of(name, request)) as (relay, url), OPENERS[name](url) as saver:
        app, inbox = built(saver, works), Inbox(saver)
        question = app.invoke(NEW, config)["__interrupt__"][0]
        relay.lose_answer_to(STORING[name])
        assert inbox.answer(question.id, "yes", by="ana").id == question.id
        assert relay.has_lost
        assert app.invoke(None, config)["log"] == ["fetch", "yes", "pay"]
    assert works.done == {"fetch": 1, "pay": 1}


@pytest.mark.parametrize("name", STORING)
def test_an_answer_whose_storing_nobody_heard_of_is_not_refused_in_async_either(request, name):
    works, config = Works(), on_thread(f"async {name} unheard")

    async def program(relay, url):
        async with ASYNC_OPENERS[name](url) as saver:
            app, inbox = built(saver, works), Inbox(saver)
            question = (await app.ainvoke(NEW, config))["__interrupt__"][0]
            relay.lose_answer_to(STORING[name])
            assert (await inbox.aanswer(question.id, "yes", by="ana")).id == question.id
            assert relay.has_lost
            assert (await app.ainvoke(None, config))["log"] == ["fetch", "yes", "pay"]

    with relayed(server_of(name, request)) as (relay, url):
        asyncio.run(program(relay, url))
    assert works.done == {"fetch": 1, "pay": 1}


def test_nobody_is_told_that_nothing_was_written_when_that_is_not_known(own_postgres):
    works, config = Works(), on_thread("unheard, then away")
    with relayed(own_postgres) as (relay, url), PostgresSaver.from_conn_string(url) as saver:
        app = built(saver, works)
        app.invoke(NEW, config)
        relay.lose_answer_to(STORING["postgres"], and_stay_away=True)
        with pytest.raises(OutcomeUnknown, match="all of it was written, or nothing"):
            app.invoke(Command(resume="yes"), config)
        relay.come_back()
        assert app.get_state(config).interrupts == ()
        assert app.invoke(None, config)["log"] == ["fetch", "yes", "pay"]
    assert works.done == {"fetch": 1, "pay": 1}


# Another process, whose connection is cut while it runs.


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_what_a_process_could_not_store_since_it_was_cut_off_another_one_does_when_it_has_ended(
    request, tmp_path, name, is_async
):
    server, settings = server_of(name, request), {"durability": "sync"}
    order = {"thread": f"{name} {is_async} cut off", "is_async": is_async, "settings": settings}
    with relayed(server) as (relay, url):
        desk = Desk(str(tmp_path), place=(name, server.url))
        process = Process(tmp_path, stop_at="after the answer", place=(name, url))
        process.tell(**order, input={"log": []}).hear()
        assert process.tell(**order, answer="yes", by="ana").hear() == "stopped"
        relay.go_away()
        assert process.tell().hear().startswith(("SaverUnavailable", "OutcomeUnknown"))
        assert desk.run({**order, "answer": "no", "by": "ben"}).startswith("AlreadyAnswered: Question")
        assert desk.run(order).startswith(f"ThreadBusy: Another run has thread {order['thread']!r} just now: process")
        process.close()
        assert desk.run(order) == ["check", "fetch market", "fetch risk", "after the answer: yes", "pay"]
    assert Counter(desk.done()) == {
        "fetch market": 1, "fetch risk": 1, "check": 1, "before the question": 3, "after the answer": 2, "pay": 1
    }  # fmt: skip


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_process_that_was_cut_off_goes_on_itself_when_its_connection_is_back(request, tmp_path, name):
    server, order = server_of(name, request), {"thread": f"{name} back again"}
    with relayed(server) as (relay, url):
        process = Process(tmp_path, stop_at="after the answer", place=(name, url))
        process.tell(**order, input={"log": []}).hear()
        assert process.tell(**order, answer="yes").hear() == "stopped"
        relay.go_away()
        assert process.tell().hear().startswith(("SaverUnavailable", "OutcomeUnknown"))
        relay.come_back()
        said = process.tell(**order, stop_at="nowhere").hear()
        process.close()
    assert said == ["check", "fetch market", "fetch risk", "after the answer: yes", "pay"]
