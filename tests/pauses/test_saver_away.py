"""A database that is away for a moment is no failure of a node: the run ends, and goes on when it is back."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.errors import SaverUnavailable
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import RetryPolicy

from .programs import NEW, Log, line
from .ways import on_thread

CONFIG = on_thread("1")


class Away:
    """A saver whose database is away when it is asked the next time, if that was said."""

    is_away = False

    def look_away(self):
        is_away, self.is_away = self.is_away, False
        if is_away:
            raise SaverUnavailable("The database does not answer.")


class Memory(Away, InMemorySaver):
    def save(self, commits, lease=None, *, ends=False):
        self.look_away()
        super().save(commits, lease, ends=ends)


class Sqlite(Away, SqliteSaver):
    def store(self, prepared, lease=None, *, ends=False):
        self.look_away()
        super().store(prepared, lease, ends=ends)


class SqliteAio(Away, AsyncSqliteSaver):
    async def astore(self, prepared, lease=None, *, ends=False):
        self.look_away()
        await super().astore(prepared, lease, ends=ends)


class Shop:
    """Charges once, and then the database is away."""

    def __init__(self, saver):
        self.saver, self.charged = saver, 0

    def charge(self):
        self.charged += 1
        self.saver.is_away = self.charged == 1
        return "charged"

    def with_a_call(self):
        """A node that makes a call."""
        charge = task(lambda: self.charge(), name="charge")
        return lambda state: {"log": [charge().result()]}

    def with_a_graph(self):
        """A nested graph, which is the node."""
        return line(before=lambda state: None, charge=lambda state: {"log": [self.charge()]}).compile()

    def with_a_call_in_a_graph(self):
        """A node that calls a graph, whose node makes a call."""
        inner = line(charge=self.with_a_call()).compile()
        return lambda state: {"log": inner.invoke({"log": []})["log"]}


def forgiving(node):
    """A node that goes on whatever fails in it."""

    def careless(state):
        try:
            return node.invoke(state) if hasattr(node, "invoke") else node(state)
        except Exception:
            return {"log": ["swallowed"]}

    return careless


async def twice(opened, node_of, settings, durability):
    """What a program does whose database is away in its first run, and what it does then."""
    async with opened as saver:
        shop = Shop(saver)
        graph = StateGraph(Log).add_node("pay", node_of(shop), **settings).add_edge(START, "pay")
        app = graph.compile(checkpointer=saver)
        is_async = isinstance(saver, AsyncSqliteSaver)
        for input in (NEW, None):
            try:
                if is_async:
                    yield await app.ainvoke(input, CONFIG, durability=durability)
                else:
                    yield app.invoke(input, CONFIG, durability=durability)
            except SaverUnavailable as error:
                yield error


@asynccontextmanager
async def memory(path):
    yield Memory()


@asynccontextmanager
async def sqlite(path):
    with Sqlite.from_conn_string(path) as saver:
        yield saver


INSIDE = {"a call": Shop.with_a_call, "a graph": Shop.with_a_graph, "a call in a graph": Shop.with_a_call_in_a_graph}
HOPES = {
    "handler": {"error_handler": lambda state: {"log": ["handled"]}},
    "retry": {"retry_policy": RetryPolicy(retry_on=Exception, initial_interval=0, jitter=False)},
    "except": {},
}


@pytest.mark.parametrize("opened", [memory, sqlite, SqliteAio.from_conn_string], ids=["memory", "sqlite", "aio"])
@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("hope", HOPES)
@pytest.mark.parametrize("durability", ["sync", "async"])
def test_no_node_is_told_that_it_has_failed_when_the_database_is_away(tmp_path, opened, inside, hope, durability):
    def node_of(shop):
        node = INSIDE[inside](shop)
        return forgiving(node) if hope == "except" else node

    async def main():
        return [told async for told in twice(opened(str(tmp_path / "a.db")), node_of, HOPES[hope], durability)]

    first, then = asyncio.run(main())
    assert isinstance(first, SaverUnavailable)
    assert then == {"log": ["charged"]}
