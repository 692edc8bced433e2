"""Behind a transaction pooler: every transaction may run in another session, and nothing minds."""

import tempfile
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from servers import run
from servers.pooler import Pooler
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.store.postgres import PostgresStore
from signoff.testing.conformance import savers

ROOMS = ("_removing", "_leases", "_questions", "_threads", "_retention")
CHECKS = [*savers.CHECKS, *savers.OWN_CHECKS, *savers.LOG_CHECKS]
CHECKS = [check for check in CHECKS if check.function.__module__.endswith(ROOMS)]
"""Those that want transactions of several statements, and locks."""


@pytest.fixture
def pooler(own_postgres, portal):
    place = Path(tempfile.mkdtemp(prefix="pooler-", dir=run.folder()))
    pooler = Pooler(own_postgres.folder, place)
    pooler.url = make_conninfo(own_postgres.url, host=str(place))
    portal.run(pooler.start())
    yield pooler
    portal.run(pooler.stop())


def emptied(saver):
    """The saver, without what an earlier check has left."""
    threads = {one.config["configurable"]["thread_id"] for one in saver.list(None)}
    saver.prune([*threads, "thread", "u"], strategy="delete")
    return saver


@pytest.mark.parametrize("given", ["address", "pool"])
def test_a_saver_needs_no_session(pooler, given):
    if given == "address":
        with PostgresSaver.from_conn_string(pooler.url) as saver:
            check_all(saver, CHECKS[::2])
    else:
        with ConnectionPool(pooler.url, min_size=1, kwargs={"prepare_threshold": None}) as pool:
            check_all(PostgresSaver(pool), CHECKS[::5])
    assert pooler.transactions > 30 * pooler.sessions > 0


def check_all(saver, checks):
    for check in checks:
        check(savers.World(lambda: emptied(saver)))


def test_an_async_saver_needs_no_session(pooler, portal):
    async def opened():
        return AsyncPostgresSaver(pooler.url)

    saver = portal.run(opened())
    check_all(savers.BlockingSaver(saver, portal), CHECKS[::3])
    portal.run(saver.close())
    assert pooler.transactions > 30 * pooler.sessions > 0


def test_a_store_needs_no_session(pooler):
    with PostgresStore.from_conn_string(pooler.url) as store:
        for number in range(20):
            store.put(("users", str(number % 2)), f"k{number}", {"n": number})
        assert len(store.search(("users", "1"), limit=100)) == 10
        assert store.list_namespaces() == [("users", "0"), ("users", "1")]
    assert pooler.transactions > 5 * pooler.sessions > 0
