"""The index of open questions, beside what the conformance suite says of it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict

import pytest

from signoff.checkpoint.base import checkpoint_config, empty_checkpoint
from signoff.checkpoint.questions import Wanted
from signoff.checkpoint.serde.encrypted import EncryptedSerializer
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.constants import INTERRUPT, RESUME
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import Command, Interrupt, interrupt


class State(TypedDict):
    answer: str


def asking(saver: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("ask", lambda state: {"answer": interrupt("A payload nobody else may read?")})
    graph.add_edge(START, "ask")
    return graph.compile(checkpointer=saver)


def around(graph: Any, saver: Any) -> Any:
    return StateGraph(State).add_node("inner", graph).add_edge(START, "inner").compile(checkpointer=saver)


def on(thread_id: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id}}


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis"])
def test_the_copy_of_a_thread_that_waits_is_in_the_index_and_can_be_answered(openers, kind):
    saver = openers[kind]()
    app = asking(saver)
    app.invoke({"answer": ""}, on("source"))
    saver.copy_thread("source", "copy")
    assert sorted(question.thread_id for question in saver.find_questions(Wanted())) == ["copy", "source"]
    assert app.invoke(Command(resume="yes"), on("copy")) == {"answer": "yes"}
    assert [question.thread_id for question in saver.find_questions(Wanted())] == ["source"]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis"])
def test_a_question_whose_run_was_deleted_is_not_open_any_more(openers, kind):
    saver = openers[kind]()
    app = asking(saver)
    for thread in ("stays", "goes"):
        app.invoke({"answer": ""}, {**on(thread), "metadata": {"run_id": f"run that {thread}"}})
    saver.delete_for_runs(["run that goes"])
    assert app.get_state(on("goes")).interrupts == ()
    assert [question.thread_id for question in saver.find_questions(Wanted())] == ["stays"]


@pytest.mark.parametrize("is_nested", [False, True], ids=["alone", "nested"])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "sqlite_aio_by_sync", "postgres", "redis"])
def test_a_question_is_open_again_once_the_run_that_has_dropped_it_was_deleted(openers, kind, is_nested):
    saver = openers[kind]()
    app = around(asking(None), saver) if is_nested else asking(saver)
    app.invoke({"answer": ""}, {**on("1"), "metadata": {"run_id": "asks"}})
    (before,) = saver.find_questions(Wanted())
    app.invoke({"answer": ""}, {**on("1"), "metadata": {"run_id": "drops it"}}, on_pending="discard")
    assert [question.id for question in saver.find_questions(Wanted())] != [before.id]
    saver.delete_for_runs(["drops it"])
    assert [question.id for question in app.get_state(on("1")).interrupts] == [before.id]
    assert saver.find_questions(Wanted()) == [before]
    assert Inbox(saver).answer(before.id, "yes") == before
    assert app.invoke(None, on("1")) == {"answer": "yes"}
    assert saver.find_questions(Wanted()) == []


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis"])
def test_what_was_answered_is_not_open_again_once_the_run_that_has_gone_on_was_deleted(openers, kind):
    saver = openers[kind]()
    app = asking(saver)
    app.invoke({"answer": ""}, {**on("1"), "metadata": {"run_id": "asks"}})
    app.invoke(Command(resume="yes"), {**on("1"), "metadata": {"run_id": "goes on"}})
    saver.delete_for_runs(["goes on"])
    assert (app.get_state(on("1")).interrupts, saver.find_questions(Wanted())) == ((), [])
    assert app.invoke(None, on("1")) == {"answer": "yes"}


def test_an_encrypted_question_leaves_none_of_its_words_in_the_file_and_is_found_by_them(tmp_path: Path):
    file = tmp_path / "threads.db"
    serde = EncryptedSerializer.from_aes(b"k" * 32)
    with SqliteSaver.from_conn_string(str(file), serde=serde) as saver:
        asking(saver).invoke({"answer": ""}, on("1"))
        assert [question.value for question in saver.find_questions(Wanted(text="PAYLOAD"))] != []
        assert saver.find_questions(Wanted(text="something else")) == []
        with closing(sqlite3.connect(file)) as conn:
            conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = b"".join(part.read_bytes() for part in tmp_path.iterdir()).lower()
    assert b"payload" not in stored


# What comes piece by piece


def counting(saver: Any) -> Any:
    """A saver of a subclass that sees each checkpoint on its way: what runs store is taken apart for it."""

    class Counting(type(saver)):
        def put(self, *args: Any) -> Any:
            return super().put(*args)

        async def aput(self, *args: Any) -> Any:
            return await super().aput(*args)

    saver.__class__ = Counting
    return saver


WITH_OTHERS = ["sqlite", "sqlite_aio_by_sync", "postgres", "redis"]
"""Savers that have a database in common with others."""

piece_by_piece = pytest.mark.filterwarnings(
    "ignore::signoff.errors.LimitedSaver", "ignore::signoff.inbox.NoQuestionIndex"
)


@piece_by_piece
@pytest.mark.parametrize("kind", WITH_OTHERS)
def test_what_a_saver_with_a_put_of_its_own_stores_is_in_the_index_of_all(openers, kind):
    worker, web = counting(openers[kind]()), openers[kind]()
    asking(worker).invoke({"answer": ""}, on("1"))
    [question] = Inbox(web).open()
    assert (question.thread_id, question.graph, question.node) == ("1", asking(web).name, "ask")
    Inbox(web).answer(question.id, "yes")
    assert asking(web).resume_answered() == {"1": {"answer": "yes"}}


@piece_by_piece
@pytest.mark.parametrize("kind", WITH_OTHERS)
def test_what_is_answered_by_a_saver_with_a_put_of_its_own_is_not_open_any_more(openers, kind):
    worker, web = counting(openers[kind]()), openers[kind]()
    for thread in ("now", "later"):
        asking(web).invoke({"answer": ""}, on(thread))
    assert asking(worker).invoke(Command(resume="yes"), on("now")) == {"answer": "yes"}
    Inbox(worker).answer(Inbox(worker).open()[0].id, "no")
    assert list(Inbox(web).open()) == []
    assert asking(web).resume_answered() == {"later": {"answer": "no"}}
    assert web.find_questions(Wanted(answered=None)) == []


def puts(saver: Any, id: str, parent: str | None = None) -> None:
    checkpoint = {**empty_checkpoint(), "id": id}
    saver.put(checkpoint_config("1", "", parent), checkpoint, {"source": "loop", "step": 0}, {})


@pytest.mark.parametrize(
    "kind", ["memory", "memory_by_async", "postgres_aio", "redis_aio", "sqlite_by_async", *WITH_OTHERS]
)
def test_what_somebody_puts_by_hand_is_in_the_index(openers, kind):
    saver = openers[kind]()
    asked = Interrupt("ok?", id="a question"), Interrupt("sure?", id="another")

    def found() -> list[str]:
        return [one.id for one in saver.find_questions(Wanted())]

    puts(saver, "2")
    saver.put_writes(checkpoint_config("1", "", "2"), [(INTERRUPT, asked)], "task")
    assert found() == ["a question", "another"]
    saver.put_writes(checkpoint_config("1", "", "2"), [(RESUME, {"another": "yes"})], "answers")
    assert found() == ["a question"]
    puts(saver, "1")
    saver.put_writes(checkpoint_config("1", "", "1"), [(INTERRUPT, [Interrupt("?", id="an old one")])], "task")
    assert found() == ["a question"], "an older checkpoint changes nothing"
    puts(saver, "3", "1")
    saver.put_writes(checkpoint_config("1", "node:1", "2"), [(INTERRUPT, [Interrupt("?", id="below")])], "task")
    assert found() == [], "a new checkpoint is the newest one, where nothing is asked"
    assert saver.find_questions(Wanted(answered=None)) == []
