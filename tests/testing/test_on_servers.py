"""The same world on Postgres and Redis: crashes at every statement, schedules with kills and stalls."""

import psycopg
import pytest
from redis import Redis
from tests.testing.graphs import EMPTY, PROGRAMS

from signoff.checkpoint.postgres import PostgresSaver
from signoff.errors import InvalidInput
from signoff.testing import postgres, redis

CRASHED = [("a_route_by_answer", 1), ("a_question_beside_work", 4), ("a_graph_called_in_a_node", 5)]
"""Graphs; the longer ones crash at some moments only."""

SCHEDULED = ["several_questions_in_one_node", "questions_in_branches", "nested_three_deep", "an_entrypoint"]
EACH = 20
"""How many schedules of each graph, on each server."""


@pytest.fixture
def conn(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        yield conn


@pytest.fixture(params=["postgres", "redis"])
def store(request):
    """Makes stores on a server, all over one connection."""
    if request.param == "postgres":
        yield postgres(request.getfixturevalue("conn"))
        return
    with Redis.from_url(request.getfixturevalue("redis_url")) as client:
        yield redis(client, prefix=request.getfixturevalue("redis_prefix"))


@pytest.mark.parametrize(("name", "every"), CRASHED)
def test_a_run_on_a_server_survives_a_crash_at_any_statement(name, every, store):
    report = PROGRAMS[name].world(store=store, rebuilds=False).crash_everywhere(every)
    assert report.statements >= 14


def test_processes_that_share_a_server_do_not_hurt_each_other(store, record_property):
    reports = [PROGRAMS[name].world(store=store, rebuilds=False).schedules(EACH) for name in SCHEDULED]
    stalls, takeovers, refused = (sum(getattr(one, n) for one in reports) for n in ("stalls", "takeovers", "refused"))
    record_property("stale writes refused", refused)
    assert sum(report.kills for report in reports) > 20
    assert stalls > 30
    assert takeovers > 10
    assert refused > 0, "and none was accepted, which the world would have seen"


def test_a_server_that_has_other_threads_is_left_alone(conn):
    saver = PostgresSaver(conn)
    PROGRAMS["linear"].build(saver).invoke(EMPTY, {"configurable": {"thread_id": "somebody's"}})
    with pytest.raises(InvalidInput, match="has a thread \"somebody's\", which is not a world's"):
        PROGRAMS["linear"].world(store=postgres(conn)).run()
    assert len(list(saver.list(None))) > 1
