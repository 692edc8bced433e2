"""A signal whose handler raises, or a cancellation, right before or behind anything that a run stores.

The thread is free afterwards, for other processes, too; and nothing that has finished is done again.
"""

import asyncio
import operator
import sys
from collections import Counter
from contextlib import asynccontextmanager
from functools import partial
from itertools import count, product
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.postgres import AsyncPostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver
from signoff.errors import NotStorable
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def compiled(saver, done):
    def work(state):
        done["a"] += 1
        return {"log": ["a"]}

    def ask(state):
        said = interrupt("?")
        done["q"] += 1
        return {"log": [said]}

    graph = StateGraph(State).add_node("a", work).add_node("q", ask).add_edge(START, "a").add_edge("a", "q")
    return graph.compile(checkpointer=saver)


def next_input(at):
    return {"log": []} if at.created_at is None else Command(resume="yes") if at.interrupts else None


def is_over(at):
    return at.created_at is not None and not at.next


def run_to_the_end(app, config, durability):
    while not is_over(at := app.get_state(config)):
        app.invoke(next_input(at), config, durability=durability)
    return at.values


class Cut:
    """Stores as ever; at one time, a signal is heard before that, or behind it, or before the run is told."""

    def __init__(self, store, number, where):
        self.store, self.left, self.where = store, number, where

    def __call__(self, prepared, lease, **named):
        self.left -= 1
        if self.left == 0 and self.where == "before":
            raise Interrupted
        epoch = lease.epoch
        self.store(prepared, lease, **named)
        if self.left == 0:
            lease.epoch = epoch if self.where == "untold" else lease.epoch
            raise Interrupted


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize(
    ("kind", "where"),
    [("memory", "before"), ("memory", "behind"), *product(["sqlite", "postgres", "redis"], ["before", "untold"])],
)
def test_what_a_signal_comes_in_between_of_is_stored_and_the_thread_is_free(openers, kind, where, durability):
    saver = openers[kind]()
    name = "save" if saver.saves_at_once else "store"
    store = getattr(saver, name)
    for number in count(1):
        config, done = {"configurable": {"thread_id": str(number)}}, Counter()
        app = compiled(saver, done)
        cut = Cut(store, number, where)
        setattr(saver, name, cut)
        if not was_interrupted(partial(run_to_the_end, app, config, durability)):
            break
        assert saver.look(config)[1].holder is None, f"save {number}"
        assert run_to_the_end(app, config, durability) == {"log": ["a", "yes"]}
        assert done == {"a": 1, "q": 1}, f"save {number}"
    assert number > 3


def was_interrupted(call):
    try:
        call()
    except Interrupted:
        return True
    return False


def odd(saver):
    """A graph whose last step comes to what cannot be stored."""
    return StateGraph(State).add_node("a", lambda state: {"log": [object()]}).add_edge(START, "a").compile(saver)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis"])
def test_a_run_whose_last_step_cannot_be_stored_gives_its_thread_back(openers, kind, durability):
    saver = openers[kind]()
    with pytest.raises(NotStorable):
        odd(saver).invoke({"log": []}, CONFIG, durability=durability)
    assert saver.look(CONFIG)[1].holder is None


def test_a_signal_is_heard_before_it_is_known_that_something_cannot_be_stored(openers):
    saver = openers["sqlite"]()
    prepare, left = saver.prepare, count(1)

    def cut(commits):
        if next(left) == 2:
            raise Interrupted
        return prepare(commits)

    saver.prepare = cut
    with pytest.raises(Interrupted):
        odd(saver).invoke({"log": []}, CONFIG, durability="sync")
    assert saver.look(CONFIG)[1].holder is None


# On an event loop


async def arun_to_the_end(app, config, durability):
    while not is_over(at := await app.aget_state(config)):
        await app.ainvoke(next_input(at), config, durability=durability)
    return at.values


@asynccontextmanager
async def opened(kind, request, tmp_path):
    if kind == "sqlite":
        opening = AsyncSqliteSaver.from_conn_string(str(tmp_path / "saver.db"))
    elif kind == "postgres":
        opening = AsyncPostgresSaver.from_conn_string(request.getfixturevalue("saver_url"))
    else:
        url, prefix = request.getfixturevalue("redis_url"), request.getfixturevalue("redis_prefix")
        opening = AsyncRedisSaver.from_conn_string(url, prefix=prefix)
    async with opening as saver:
        yield saver


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_a_run_that_is_cancelled_while_it_stores_gives_its_thread_back(request, tmp_path, kind, durability):
    async def program():
        async with opened(kind, request, tmp_path) as saver:
            store = saver.astore
            for number in count(1):
                config, done = {"configurable": {"thread_id": str(number)}}, Counter()
                app = compiled(saver, done)
                run, left = asyncio.ensure_future(arun_to_the_end(app, config, durability)), count(1)

                async def cut(*args, run=run, left=left, number=number, **named):
                    if next(left) == number:
                        run.cancel()
                        await asyncio.sleep(0)
                    await store(*args, **named)

                saver.astore = cut
                await asyncio.wait([run])
                saver.astore = store
                if not run.cancelled():
                    break
                assert (await saver.alook(config))[1].holder is None, f"save {number}"
                assert await arun_to_the_end(app, config, durability) == {"log": ["a", "yes"]}
                assert done == {"a": 1, "q": 1}, f"save {number}"
            return number

    assert asyncio.run(program()) > 3


def test_a_run_ends_though_a_signal_was_heard_when_it_had_just_stored_something(tmp_path):
    """As at a second Ctrl-C: asyncio.run(...) cancels what is left, and waits for it."""
    heard = asyncio.Event()

    def hear(frame, event, arg):
        if event == "c_return" and arg.__name__ == "clear" and frame.f_code.co_filename.endswith("aio_background.py"):
            sys.setprofile(None)
            heard.set()
            raise Interrupted

    async def program():
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as saver:
            app = compiled(saver, Counter())
            run = asyncio.ensure_future(app.ainvoke({"log": []}, CONFIG, durability="sync"))
            sys.setprofile(hear)
            await heard.wait()
            run.cancel()
            await asyncio.wait([run], timeout=5)
            assert run.done()
            return await arun_to_the_end(app, CONFIG, "sync")

    assert asyncio.run(program()) == {"log": ["a", "yes"]}
