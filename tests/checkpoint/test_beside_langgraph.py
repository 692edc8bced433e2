"""A database that LangGraph has stored threads in: signoff works beside them, and says that it does not read them."""

import operator
from contextlib import contextmanager
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.postgres import PostgresSaver as TheirPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver as TheirSqliteSaver
from langgraph.graph import StateGraph as TheirStateGraph
from langgraph.store.sqlite import SqliteStore as TheirSqliteStore

from signoff.checkpoint.postgres import PostgresSaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph
from signoff.store.sqlite import SqliteStore

ON_THREAD = {"configurable": {"thread_id": "1"}}


class Log(TypedDict):
    log: Annotated[list, operator.add]


def run(StateGraph, saver, word):
    graph = StateGraph(Log).add_node("say", lambda state: {"log": [word]}).add_edge(START, "say")
    return graph.compile(checkpointer=saver).invoke({"log": []}, ON_THREAD)["log"]


@contextmanager
def their_postgres(url):
    with TheirPostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        yield saver


SAVERS = {"sqlite": (TheirSqliteSaver.from_conn_string, SqliteSaver), "postgres": (their_postgres, PostgresSaver)}


@pytest.mark.parametrize("kind", SAVERS)
def test_threads_of_langgraph_stay_beside_those_of_a_saver_and_the_log_tells_of_them(kind, request, tmp_path, caplog):
    theirs, ours = SAVERS[kind]
    url = request.getfixturevalue("postgres_url") if kind == "postgres" else str(tmp_path / "app.db")
    with theirs(url) as saver:
        assert run(TheirStateGraph, saver, "old") == ["old"]
    for said in (["new"], ["new", "new"]):
        with ours.from_conn_string(url) as saver:
            assert run(StateGraph, saver, "new") == said
    with theirs(url) as saver:
        assert saver.get_tuple(ON_THREAD).checkpoint["channel_values"]["log"] == ["old"]
    (told,) = [record.getMessage() for record in caplog.records if record.name == "signoff"]
    assert "the table 'checkpoints' of LangGraph" in told
    assert "docs/langgraph.md" in told


def test_items_of_langgraph_stay_beside_those_of_a_store(tmp_path, caplog):
    with TheirSqliteStore.from_conn_string(str(tmp_path / "app.db")) as store:
        store.setup()
        store.put(("a",), "one", {"n": 1})
    with SqliteStore.from_conn_string(str(tmp_path / "app.db")) as store:
        assert store.get(("a",), "one") is None
    assert "the table 'store' of LangGraph" in caplog.text


def test_a_table_that_only_has_the_name_is_nobodys_threads(tmp_path, caplog):
    with SqliteSaver.from_conn_string(str(tmp_path / "app.db")) as saver:
        saver.conn.execute("CREATE TABLE checkpoints (border TEXT)")
        assert run(StateGraph, saver, "new") == ["new"]
    assert caplog.text == ""
