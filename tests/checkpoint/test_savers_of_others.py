"""Savers that others wrote for LangGraph, from its documentation alone: what they are given, and what they may lack."""

import asyncio
import gc
import operator
import threading
import weakref
from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from signoff.checkpoint.others import path_for
from signoff.errors import InvalidInput, NotStorable, Undecodable
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox, NoQuestionIndex
from signoff.types import Command, Send, interrupt

pytestmark = pytest.mark.filterwarnings("ignore::signoff.errors.LimitedSaver", "ignore::signoff.inbox.NoQuestionIndex")

CONFIG = {"configurable": {"thread_id": "1"}}


class Hand(BaseCheckpointSaver):
    """Keeps all that it is given, encoded, and has no more than it must."""

    def __init__(self) -> None:  # which many forget to hand on
        self.kept: dict[tuple, tuple] = {}
        self.writes: dict[tuple, list] = defaultdict(list)

    def put(self, config, checkpoint, metadata, new_versions):
        place = config["configurable"]
        key = (place["thread_id"], place["checkpoint_ns"], checkpoint["id"])
        self.kept[key] = (self.serde.dumps_typed((checkpoint, metadata)), place.get("checkpoint_id"))
        return config_of(*key)

    def put_writes(self, config, writes, task_id):
        place = config["configurable"]
        key = (place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"])
        self.writes[key] += [(task_id, channel, self.serde.dumps_typed(value)) for channel, value in writes]

    def get_tuple(self, config):
        return next(self.list(config), None)

    def list(self, config, *, filter=None, before=None, limit=None):
        wanted = (config or {}).get("configurable", {})
        bound = before["configurable"]["checkpoint_id"] if before else None
        names = ("thread_id", "checkpoint_ns", "checkpoint_id")
        for key in sorted(self.kept, key=lambda key: key[2], reverse=True):
            if any(wanted.get(name, part) != part for name, part in zip(names, key, strict=True)):
                continue
            if (bound is None or key[2] < bound) and limit != 0:
                limit = None if limit is None else limit - 1
                yield self.tuple_of(key)

    def tuple_of(self, key):
        encoded, parent = self.kept[key]
        around = config_of(*key[:2], parent) if parent else None
        writes = [(task_id, channel, self.serde.loads_typed(value)) for task_id, channel, value in self.writes[key]]
        return CheckpointTuple(config_of(*key), *self.serde.loads_typed(encoded), around, writes)

    async def aput(self, *args):
        return self.put(*args)

    async def aput_writes(self, config, writes, task_id):
        self.put_writes(config, writes, task_id)

    async def aget_tuple(self, config):
        return self.get_tuple(config)

    async def alist(self, config, **named):
        for found in self.list(config, **named):
            yield found


def config_of(thread_id, ns, id):
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": id}}


def called(app: Any, method: str, *args: Any, is_async: bool, **named: Any) -> Any:
    if is_async:
        return asyncio.run(getattr(app, f"a{method}")(*args, **named))
    return getattr(app, method)(*args, **named)


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Slow(Hand):
    """Where it is not waited for, it stores when the program has gone on."""

    def __init__(self):
        super().__init__()
        self.gone_on = threading.Event()
        self.waited_for = {threading.main_thread()}

    def put_writes(self, config, writes, task_id):
        if threading.current_thread() not in self.waited_for:
            self.gone_on.wait()
        super().put_writes(config, writes, task_id)

    async def aput_writes(self, config, writes, task_id):
        for _ in range(10):
            await asyncio.sleep(0)
        super().put_writes(config, writes, task_id)


@both
def test_a_result_that_the_program_changes_at_once_is_stored_as_it_was(is_async):
    saver = Slow()

    @task
    def listed():
        saver.waited_for.add(threading.current_thread())  # which may be another one, and stores what it has run
        return ["as it was"]

    @task
    async def alisted():
        return ["as it was"]

    def work(_):
        found = listed().result()
        found.append("changed")
        saver.gone_on.set()
        return [*found, interrupt("ok?")]

    async def awork(_):
        found = await alisted()
        found.append("changed")
        return [*found, interrupt("ok?")]

    app = entrypoint(checkpointer=saver)(awork if is_async else work)
    called(app, "invoke", 0, CONFIG, is_async=is_async)
    answered = called(app, "invoke", Command(resume="yes"), CONFIG, is_async=is_async)
    assert answered == ["as it was", "changed", "yes"]


class Log(TypedDict):
    log: Annotated[list, operator.add]


def asks_about(given):
    return {"log": [interrupt({"number": given.get("number")})]}


def numbered(saver):
    graph = StateGraph(Log).add_node("ask", asks_about)
    graph.add_conditional_edges(START, lambda state: [Send("ask", {"number": number}) for number in (1, 2)], ["ask"])
    return graph.compile(checkpointer=saver)


@both
def test_a_saver_need_not_tell_its_base_class_that_it_was_made(is_async):
    app = numbered(Hand())
    asked = called(app, "invoke", {"log": []}, CONFIG, is_async=is_async)["__interrupt__"]
    answers = {one.id: one.value["number"] for one in asked}
    assert called(app, "invoke", Command(resume=answers), CONFIG, is_async=is_async) == {"log": [1, 2]}


@both
def test_a_saver_may_hand_on_to_another_one_whatever_it_is_asked(is_async):
    class Around:
        def __init__(self):
            self.real = Hand()

        def __getattr__(self, name):
            if name in ("serde", "prepare") or name.startswith("has_"):
                raise AttributeError(name)
            return getattr(self.real, name)

        def get_next_version(self, current, channel):
            return (current or 0) + 1

    app = numbered(Around())
    asked = called(app, "invoke", {"log": []}, CONFIG, is_async=is_async)["__interrupt__"]
    answers = {one.id: one.value["number"] for one in asked}
    assert called(app, "invoke", Command(resume=answers), CONFIG, is_async=is_async) == {"log": [1, 2]}


@both
@pytest.mark.parametrize("update", [{}, {"log": [print]}], ids=["answers", "update"])
def test_of_answers_that_cannot_all_be_stored_none_is(is_async, update):
    app = numbered(Hand())
    asked = called(app, "invoke", {"log": []}, CONFIG, is_async=is_async)["__interrupt__"]
    answers = {one.id: 1 if update else [1, print][number] for number, one in enumerate(asked)}
    with pytest.raises(NotStorable, match=r"resume|log"):
        called(app, "invoke", Command(resume=answers, update=update), CONFIG, is_async=is_async)
    assert called(app, "get_state", CONFIG, is_async=is_async).interrupts == tuple(asked)
    well = {one.id: one.value["number"] for one in asked}
    assert called(app, "invoke", Command(resume=well), CONFIG, is_async=is_async) == {"log": [1, 2]}


def test_a_method_that_somebody_has_put_in_the_place_of_the_savers_own_is_used():
    saver, told = Hand(), []
    own = saver.put_writes
    saver.put_writes = lambda config, writes, task_id: told.append(task_id) or own(config, writes, task_id)
    numbered(saver).invoke({"log": []}, CONFIG)
    assert told


class PerUser(Hand):
    """Keeps the threads of users apart by what the config says beside the thread."""

    def __init__(self):
        self.of_users = defaultdict(Hand)

    def of(self, config):
        return self.of_users[config["configurable"]["user"]]

    def put(self, config, *args):
        return self.of(config).put(config, *args)

    def put_writes(self, config, *args):
        self.of(config).put_writes(config, *args[:2])

    def list(self, config, **named):
        return self.of(config).list(config, **named)

    async def aput_writes(self, config, *args):
        self.put_writes(config, *args)


def for_user(name, **place):
    return {"configurable": {"thread_id": "1", "user": name, **place}}


@both
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_saver_is_told_what_the_caller_says_beside_the_thread(is_async, durability):
    inner = StateGraph(Log).add_node("ask", asks_about).add_edge(START, "ask").compile(checkpointer=True)
    app = StateGraph(Log).add_node("inner", inner).add_node("noted", lambda state: {"log": ["noted"]})
    app = app.add_edge(START, "inner").add_edge("inner", "noted").compile(checkpointer=PerUser())

    def call(method, *args, **named):
        return called(app, method, *args, is_async=is_async, **named)

    for name in ("ana", "ben"):
        call("invoke", {"log": [name]}, for_user(name), durability=durability)
    assert call("invoke", Command(resume="yes"), for_user("ana"), durability=durability)["log"][-1] == "noted"
    assert [call("get_state", for_user(name)).next for name in ("ana", "ben")] == [(), ("inner",)]
    assert call("get_state", for_user("ben"), subgraphs=True).values == {"log": ["ben"]}
    call("update_state", for_user("ana"), {"log": ["told"]})
    histories = [list_of(app, for_user(name), is_async) for name in ("ana", "ben")]
    assert histories[0][0].values["log"][-1] == "told"
    assert len(histories[0]) > len(histories[1])
    call("invoke", None, {**histories[0][-1].config, **for_user("ana", **histories[0][-1].config["configurable"])})
    assert call("resume_answered", ["1"], {"configurable": {"user": "ben"}}) == {}


@both
@pytest.mark.parametrize("asked", [{"before": "newest"}, {"limit": "two"}, {"filter": "loop"}], ids=str)
def test_a_history_that_is_asked_for_in_a_wrong_way_is_refused_before_the_saver_is_asked(is_async, asked):
    app = numbered(Hand())
    called(app, "invoke", {"log": []}, CONFIG, is_async=is_async)
    snapshot = called(app, "get_state", CONFIG, is_async=is_async)
    asked = {name: snapshot if name == "before" else value for name, value in asked.items()}
    with pytest.raises(InvalidInput):
        list_of(app, CONFIG, is_async, **asked)


def list_of(app, config, is_async, **named):
    async def collected():
        return [one async for one in app.aget_state_history(config, **named)]

    return asyncio.run(collected()) if is_async else list(app.get_state_history(config, **named))


@dataclass
class Compared(Hand):
    """One that has no hash."""

    name: str = "ana"

    def __post_init__(self):
        super().__init__()


def test_the_inbox_takes_a_saver_that_has_no_hash():
    saver = Compared()
    app = numbered(saver)
    app.invoke({"log": []}, CONFIG)
    with pytest.warns(NoQuestionIndex, match="Compared"):
        assert sorted(one.value["number"] for one in Inbox(saver).open()) == [1, 2]
    for question in Inbox(saver).open():
        Inbox(saver).answer(question.id, question.value["number"])
    assert app.resume_answered() == {"1": {"log": [1, 2]}}


@both
@pytest.mark.parametrize(
    "read",
    [
        lambda app, is_async: called(app, "invoke", "2", CONFIG, is_async=is_async),
        lambda app, is_async: called(app, "get_state", CONFIG, is_async=is_async),
        lambda app, is_async: history(app, is_async),
    ],
    ids=["invoke", "get_state", "history"],
)
def test_what_cannot_be_read_names_its_thread(read, is_async):
    saver = Hand()
    app = entrypoint(checkpointer=saver)(lambda text: text)
    app.invoke("1", CONFIG)
    saver.kept = dict.fromkeys(saver.kept, (("msgpack", b"broken"), None))
    with pytest.raises(Undecodable, match="Thread '1': .*not written by signoff") as refused:
        read(app, is_async)
    assert refused.value.thread_id == "1"


def history(app: Any, is_async: bool) -> Any:
    async def collected() -> Any:
        return [one async for one in app.aget_state_history(CONFIG)]

    return asyncio.run(collected()) if is_async else list(app.get_state_history(CONFIG))


def test_savers_of_classes_that_are_made_for_each_request_are_not_kept():
    def put_writes_of_one_more():
        def put_writes(config, writes, task_id, task_path=""):
            raise AssertionError("it is only looked at")

        return put_writes

    first = put_writes_of_one_more()
    assert path_for(first, "~:n") == ("~:n",)
    kept = weakref.ref(first)
    del first
    for _ in range(300):
        path_for(put_writes_of_one_more(), "~:n")
    gc.collect()
    assert kept() is None
