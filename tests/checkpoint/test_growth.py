"""Linear storage: what a step costs does not depend on what was there before."""

import gc
import operator
import os
import weakref
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from signoff.checkpoint.base import Commit
from signoff.checkpoint.log import memory
from signoff.checkpoint.log.growth import Tracked, Written
from signoff.checkpoint.log.pristine import Watch
from signoff.checkpoint.log.values import laid_out, sliced
from signoff.checkpoint.serde.encrypted import EncryptedSerializer
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.checkpoint.sqlite import SqliteSaver, joining
from signoff.checkpoint.sqlite.joining import BLOCKS
from signoff.errors import InvalidInput, Undecodable
from signoff.graph import END, START, MessagesState, StateGraph
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.testing.conformance._saver_words import after, at, made, put, values_of

CONFIG = {"configurable": {"thread_id": "thread"}}


@pytest.fixture
def saver(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as saver:
        yield saver


class Loaded(TypedDict):
    x: int
    load: bytes


class Listed(TypedDict):
    x: int
    records: Annotated[list[Any], operator.add]


def chat(saver):
    builder = StateGraph(MessagesState)
    builder.add_node("say", lambda state: {"messages": [AIMessage(f"answer {len(state['messages'])} " + "a" * 180)]})
    builder.add_edge(START, "say")
    builder.add_edge("say", END)
    return builder.compile(checkpointer=saver)


def stored_bytes(saver):
    tables = {"checkpoints": "body", "writes": "data", "items": "data", "blobs": "data"}
    sums = [
        saver.conn.execute(f"SELECT COALESCE(SUM(LENGTH({column}) + 40), 0) FROM signoff_{table}").fetchone()[0]
        for table, column in tables.items()
    ]
    return sum(sums)


def turn(app, number):
    return app.invoke({"messages": [HumanMessage(f"question {number} " + "q" * 180)]}, CONFIG)


def test_a_turn_of_a_conversation_costs_the_same_bytes_early_and_late(saver):
    app, sizes = chat(saver), []
    for number in range(120):
        turn(app, number)
        sizes.append(stored_bytes(saver))
    early, late = sizes[40] - sizes[8], sizes[119] - sizes[87]
    assert abs(late - early) / early < 0.05
    assert late / 32 < 1100


def test_a_conversation_that_is_read_cold_goes_on_at_the_same_cost(saver):
    for number in range(40):
        turn(chat(saver), number)
    saver._memory.forget()
    before = stored_bytes(saver)
    turn(chat(saver), 40)
    assert stored_bytes(saver) - before < 2000
    assert len(chat(saver).get_state(CONFIG).values["messages"]) == 82


def test_what_a_task_wrote_is_kept_once_with_the_list_it_went_into(saver):
    app = chat(saver)
    for number in range(3):
        turn(app, number)
    sizes = [row[0] for row in saver.conn.execute("SELECT LENGTH(writes) FROM signoff_checkpoints ORDER BY id")]
    assert max(size or 0 for size in sizes[-3:]) < 80
    assert list(saver.conn.execute("SELECT 1 FROM signoff_writes")) == []


def test_a_large_value_is_written_once_however_many_steps_it_lasts(saver):
    big = "x" * 100_000
    for step in range(50):
        checkpoint = made(f"{step:03}", {"big": big, "n": step}, {"big": 1, "n": step + 1})
        changed = {"n"} if step else {"n", "big"}
        saver.commit([Commit(after(f"{step - 1:03}" if step else None), (), checkpoint, {}, changed)])
    assert stored_bytes(saver) < 120_000


def test_a_message_that_a_node_changed_in_place_is_read_as_it_was_stored(saver):
    def meddle(state):
        state["messages"][0].content = "changed"
        state["messages"][0].additional_kwargs["more"] = 1
        return {"messages": [AIMessage("done")]}

    builder = StateGraph(MessagesState)
    builder.add_node("meddle", meddle)
    builder.add_edge(START, "meddle")
    app = builder.compile(checkpointer=saver)
    turn(chat(saver), 0)
    app.invoke({"messages": [HumanMessage("go")]}, CONFIG)
    warm = saver.look(at())[0].checkpoint["channel_values"]["messages"]
    saver._memory.forget()
    cold = saver.look(at())[0].checkpoint["channel_values"]["messages"]
    assert warm == cold
    assert cold[0].content.startswith("question 0")


def test_a_run_that_follows_another_is_given_the_messages_that_are_there(saver):
    app = chat(saver)
    turn(app, 0)
    turn(app, 1)
    first, second = (saver.look(at())[0].checkpoint["channel_values"]["messages"] for _ in range(2))
    assert first is not second
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert saver.get_tuple(at()).checkpoint["channel_values"]["messages"][0] is not first[0]


def test_what_somebody_has_read_is_not_kept_alive(saver):
    turn(chat(saver), 0)
    saver._memory.forget()
    message = weakref.ref(chat(saver).get_state(CONFIG).values["messages"][0])
    gc.collect()
    assert message() is None


def test_a_nested_conversation_that_is_read_cold_goes_on_at_the_same_cost(saver):
    inner = chat(True)
    builder = StateGraph(MessagesState)
    builder.add_node(
        "inner", lambda state: {"messages": inner.invoke({"messages": state["messages"][-1:]})["messages"][-1:]}
    )
    builder.add_edge(START, "inner")
    app = builder.compile(checkpointer=saver)
    for number in range(40):
        turn(app, number)
    saver._memory.forget()
    before = stored_bytes(saver)
    turn(app, 40)
    assert stored_bytes(saver) - before < 4000


def test_the_items_that_are_remembered_do_not_grow_with_the_threads(saver, monkeypatch):
    monkeypatch.setattr(memory, "MOST_ITEMS", 100)
    for number in range(20):
        put(saver, "1", {"a": list(range(30))}, thread=str(number))
    assert saver._memory._items <= 100
    assert all(values_of(saver, thread=str(number)) == {"a": list(range(30))} for number in range(20))
    put(saver, "1", {"a": list(range(1000))}, thread="long")
    assert saver._memory._items <= 100


@pytest.mark.parametrize("is_read", [False, True], ids=["written", "read"])
def test_what_is_remembered_of_long_messages_does_not_grow_with_the_threads(saver, monkeypatch, is_read):
    def config(number):
        return {"configurable": {"thread_id": str(number)}}

    def kept():
        tracks = saver._memory._tracks.values()
        return sum(len(one.content) for track in tracks for one in track.lists["messages"].elements)

    monkeypatch.setattr(memory, "MOST_BYTES", 100_000)
    app = chat(saver)
    for number in range(20):
        app.invoke({"messages": [HumanMessage("q" * 30_000)]}, config(number))
        assert 30_000 < kept() < 100_000
        if is_read:
            saver._memory.forget()
    if is_read:
        for number in range(20):
            saver.look(config(number))
            assert 30_000 < kept() < 100_000
    app.invoke({"messages": [HumanMessage("q" * 200_000)]}, config("long"))
    assert 200_000 < kept() < 300_000, "the one that was used last is there"
    app.update_state(config("long"), {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("q" * 30_000)]})
    assert 25_000 < saver._memory._bytes < 35_000
    saver._memory.forget()
    assert saver._memory._bytes == 0


def test_a_list_can_be_made_of_slices():
    spans = ((1, 0, 10), (2, 5, 7), (1, 11, 12))
    assert sliced(spans, 0, 13) == list(spans)
    assert sliced(spans, 9, 12) == [(1, 9, 10), (2, 5, 7)]
    blob = ("t", b"")
    assert laid_out(spans, [(0, 10), [blob], (12, 13), [blob, blob]], iter([7, 8]).__next__) == (
        ((1, 0, 10), (7, 0, 1), (1, 11, 14)),
        [(7, 0, [blob]), (1, 12, [blob, blob])],
    )


def test_a_list_that_is_in_another_one_twice_is_appended_to_once():
    blob = ("msgpack", b"x")
    assert laid_out(((1, 0, 3),), [(0, 3), [blob], (0, 3), [blob, blob]], iter([7]).__next__) == (
        ((1, 0, 4), (1, 0, 3), (7, 0, 2)),
        [(1, 3, [blob]), (7, 0, [blob, blob])],
    )


def test_objects_of_which_there_is_no_telling_are_never_handed_out_again():
    assert not Watch([object()]).is_untouched
    assert not Watch([AIMessage("a", additional_kwargs={"a": {1, 2}})]).is_untouched
    assert Watch([1, {"a": [1, {"b": b""}]}, AIMessage("a"), "text"]).is_untouched
    assert not Tracked([{1, 2}], [("t", b"")]).is_untouched


CHANGES = {
    "a field": lambda message, plain: setattr(message, "content", "b"),
    "a field that nobody knows": lambda message, plain: setattr(message, "more", "b"),
    "an empty dict of a message": lambda message, plain: message.additional_kwargs.update(a=1),
    "a text deep in a message": lambda message, plain: message.tool_calls[0]["args"].update(x=2),
    "a list": lambda message, plain: plain["a"].append(3),
    "an item": lambda message, plain: plain["a"].__setitem__(0, 3),
    "the order": lambda message, plain: plain["a"].reverse(),
    "a key": lambda message, plain: plain.update(b=plain.pop("a")),
    "a key, and nothing else": lambda message, plain: plain["a"][1].update(d=plain["a"][1].pop("c")),
    "all": lambda message, plain: plain.clear(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_program_changes_in_place_is_seen(change):
    message = AIMessage("a", tool_calls=[{"name": "t", "args": {"x": 1}, "id": "1"}])
    plain = {"a": [1, {"c": None}]}
    tracked = Tracked([message], [("t", b"")])
    tracked.edited([message, plain], Written(), lambda values: [("t", b"")] * len(values))
    assert tracked.is_untouched
    CHANGES[change](message, plain)
    assert not tracked.is_untouched


def test_what_a_run_is_given_is_stored_where_it_went(saver):
    app = chat(saver)
    for number in range(3):
        turn(app, number)
    rows = saver.conn.execute("SELECT body FROM signoff_checkpoints ORDER BY id DESC LIMIT 3").fetchall()
    assert all(b"question 2" not in body for (body,) in rows)
    for step in app.get_state_history(CONFIG):
        if step.metadata["source"] == "input":
            assert step.next == ("__start__",)
    saver._memory.forget()
    inputs = [one.checkpoint["channel_values"].get("__start__") for one in saver.list(at())]
    given = [value["messages"][0].content for value in inputs if value]
    assert [text[:10] for text in given] == ["question 2", "question 1", "question 0"]


def test_a_large_value_that_a_run_is_given_is_written_once(saver):
    builder = StateGraph(Loaded)
    builder.add_node("count", lambda state: {"x": state["x"] + 1})
    builder.add_edge(START, "count")
    app = builder.compile(checkpointer=saver)
    given = {"x": 1, "load": os.urandom(100_000)}
    app.invoke(given, CONFIG)
    assert stored_bytes(saver) < 110_000
    saver._memory.forget()
    first = [one.checkpoint["channel_values"] for one in saver.list(at())][-1]
    assert first == {"__start__": given}
    assert app.get_state(CONFIG).values == {**given, "x": 2}


@pytest.mark.parametrize("is_forgetful", [False, True], ids=["one process", "a process each time"])
def test_a_long_list_that_a_run_is_given_is_written_once_and_grows_item_by_item(saver, is_forgetful):
    app = StateGraph(Listed).add_node("look", lambda state: {"x": 1}).add_edge(START, "look").compile(saver)
    given = [{"text": f"record {number} " + "r" * 80} for number in range(1000)]
    sizes = []
    for records in [given, *([{"text": f"one more {number}"}] for number in range(4))]:
        app.invoke({"x": 0, "records": records}, CONFIG)
        sizes.append(stored_bytes(saver))
        if is_forgetful:
            saver._memory.forget()
    assert sizes[0] < 110_000, "it is there once"
    assert sizes[1] < 230_000, "and once item by item"
    assert sizes[4] - sizes[2] < 2_000
    saver._memory.forget()
    kept = app.get_state(CONFIG).values["records"]
    assert kept == given + [{"text": f"one more {number}"} for number in range(4)]


def test_a_list_that_grew_item_by_item_is_kept_in_few_rows(saver):
    app = chat(saver)
    for number in range(70):
        turn(app, number)
    counts = [row[0] for row in saver.conn.execute("SELECT count FROM signoff_items ORDER BY start")]
    assert sum(counts) == 140
    assert max(counts) >= BLOCKS[-1]
    assert len(counts) < BLOCKS[-1]
    assert [len(app.get_state(step.config).values["messages"]) for step in app.get_state_history(CONFIG)] == [
        len(step.values["messages"]) for step in app.get_state_history(CONFIG)
    ]
    saver._memory.forget()
    texts = [message.content.split()[1] for message in app.get_state(CONFIG).values["messages"]]
    assert texts[::2] == [str(number) for number in range(70)]
    assert texts[1::2] == [str(2 * number + 1) for number in range(70)]


def test_a_list_that_grew_long_is_kept_in_longer_rows(saver):
    grow(saver, 600)
    counts = [row[0] for row in saver.conn.execute("SELECT count FROM signoff_items ORDER BY start")]
    assert counts[:3] == [256, 256, 64]
    assert sum(counts) == 600
    saver._memory.forget()
    assert values_of(saver) == {"a": list(range(600))}
    assert values_of(saver, "0300") == {"a": list(range(300))}


def test_a_list_that_is_too_much_for_a_longer_row_is_kept_in_long_ones(saver, monkeypatch):
    monkeypatch.setattr(joining, "MOST_BYTES", 400)
    grow(saver, 300)
    counts = [row[0] for row in saver.conn.execute("SELECT count FROM signoff_items ORDER BY start")]
    assert counts[:5] == [64, 64, 64, 64, 1]
    assert values_of(saver) == {"a": list(range(300))}


def grow(saver, size):
    """A list that grew to a size, item by item."""
    for number in range(20, size + 1):
        parent = f"{number - 1:04}" if number > 20 else None
        put(saver, f"{number:04}", {"a": list(range(number))}, parent=parent, versions={"a": number})


def test_rows_that_are_broken_are_left_for_whoever_reads_them(saver):
    app = chat(saver)
    for number in range(20):
        turn(app, number)
    saver.conn.execute("UPDATE signoff_items SET data = x'91' WHERE start = 5")
    for number in range(20, 40):
        turn(app, number)
    saver._memory.forget()
    with pytest.raises(Undecodable):
        app.get_state(CONFIG)


def test_rows_that_are_long_already_are_not_made_one(saver, monkeypatch):
    monkeypatch.setattr(joining, "MOST_BYTES", 10_000)
    app = chat(saver)
    for number in range(70):
        turn(app, number)
    assert max(saver.conn.execute("SELECT MAX(count), MAX(LENGTH(data)) FROM signoff_items").fetchone()) < 10_000
    saver._memory.forget()
    assert len(app.get_state(CONFIG).values["messages"]) == 140


def test_a_list_of_which_later_items_cannot_be_read_is_read_up_to_them(saver):
    put(saver, "1", {"a": list(range(30))})
    put(saver, "2", {"a": [*range(30), "more"]}, parent="1", versions={"a": 2})
    (data,) = saver.conn.execute("SELECT data FROM signoff_items WHERE start = 0").fetchone()
    unknown = bytes([0xC1, 0xDC, 0, 31]) + data[4:] + bytes([0xC7, 0, 0x90])
    saver.conn.execute("DELETE FROM signoff_items WHERE start > 0")
    saver.conn.execute("UPDATE signoff_items SET data = ?, count = 31", (unknown,))
    saver._memory.forget()
    assert values_of(saver, "1") == {"a": list(range(30))}
    with pytest.raises(Undecodable, match="Update signoff"):
        saver.get_tuple(at("2"))


def test_a_row_that_lacks_an_item_is_noticed(saver):
    put(saver, "1", {"a": list(range(30))})
    (data,) = saver.conn.execute("SELECT data FROM signoff_items").fetchone()
    saver.conn.execute("UPDATE signoff_items SET data = ?", (bytes([0xC1, 0xDC, 0, 29]) + data[4:-1],))
    saver._memory.forget()
    with pytest.raises(Undecodable, match="29 to 30"):
        saver.get_tuple(at())


def encrypted(saver_path, *args, **named):
    return SqliteSaver.from_conn_string(saver_path, serde=EncryptedSerializer.from_aes(*args, **named))


def test_an_encrypted_conversation_is_unreadable_in_the_file_and_keys_can_be_changed(tmp_path):
    path, old, new = str(tmp_path / "secret.db"), os.urandom(32), os.urandom(16)
    with encrypted(path, {"old": old}) as saver:
        for number in range(3):
            turn(chat(saver), number)
    with encrypted(path, {"old": old, "new": new}) as saver:
        assert len(turn(chat(saver), 3)["messages"]) == 8
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"qqqq" not in (tmp_path / "secret.db").read_bytes()
    with encrypted(path, {"new": new}) as saver, pytest.raises(Undecodable, match="key"):
        saver.get_tuple(at())


def test_an_aes_key_may_come_from_the_environment_and_must_have_a_size_of_aes(monkeypatch):
    monkeypatch.setenv("SIGNOFF_AES_KEY", "k" * 32)
    blob = EncryptedSerializer.from_pycryptodome_aes().dumps_typed({"a": 1})
    assert blob[0] == "msgpack+aes"
    assert EncryptedSerializer.from_aes(b"k" * 32).loads_typed(blob) == {"a": 1}
    strict = EncryptedSerializer.from_pycryptodome_aes(key=b"l" * 32, read_unencrypted=False)
    assert strict.loads_typed(EncryptedSerializer.from_aes(b"l" * 32).dumps_typed(2)) == 2
    with pytest.raises(Undecodable, match="not encrypted"):
        strict.loads_typed(JsonPlusSerializer().dumps_typed(2))
    with pytest.raises(Undecodable):
        EncryptedSerializer.from_aes(b"l" * 32).loads_typed(blob)
    monkeypatch.delenv("SIGNOFF_AES_KEY")
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    for make in (EncryptedSerializer.from_aes, lambda: EncryptedSerializer.from_aes(b"short")):
        with pytest.raises(InvalidInput, match="16, 24 or 32"):
            make()


def test_a_cleanup_gives_the_space_of_a_file_back(saver, tmp_path):
    for number in range(20):
        put(saver, "1", {"big": os.urandom(100_000)}, thread=str(number), ts="2020-01-01T00:00:00.000000+00:00")
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (tmp_path / "saver.db").stat().st_size
    freed = saver.cleanup_before(datetime.now(UTC) - timedelta(days=30))
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert freed.bytes > 2_000_000
    assert (tmp_path / "saver.db").stat().st_size < before / 10
