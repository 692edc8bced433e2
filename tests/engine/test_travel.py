"""Time travel on a thread whose newest checkpoint comes from a machine whose clock was ahead."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from operator import add
from time import time_ns
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint import ids
from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import START
from signoff.graph import StateGraph
from signoff.types import Command, StateUpdate, interrupt

HOUR_NS = 3_600_000_000_000
THREAD = {"configurable": {"thread_id": "a"}}

Abroad = Callable[[], AbstractContextManager[None]]


class State(TypedDict):
    said: Annotated[list[str], add]


@pytest.fixture
def abroad(monkeypatch: pytest.MonkeyPatch) -> Abroad:
    """What is done meanwhile is done by another process, whose clock is an hour ahead."""

    def keep(patch: pytest.MonkeyPatch) -> None:
        """Have what the process knows of its last id put back: other tests make ids, too."""
        for name in ("_last_ticks", "_last_id", "_exact", "_high", "_high_text"):
            patch.setattr(ids, name, getattr(ids, name))

    @contextmanager
    def away() -> Iterator[None]:
        with monkeypatch.context() as other:
            keep(other)
            other.setattr(ids, "time_ns", lambda: time_ns() + HOUR_NS)
            yield

    keep(monkeypatch)
    return away


def _ask(state: State) -> dict[str, list[str]]:
    return {"said": [interrupt("what?")]}


def _graph(node: Any = _ask, checkpointer: Any = None) -> Any:
    graph = StateGraph(State)
    graph.add_node("ask", node)
    graph.add_edge(START, "ask")
    return graph.compile(checkpointer=checkpointer)


class Way:
    """A graph that is called sync or async."""

    def __init__(self, graph: Any, *, is_async: bool) -> None:
        self.graph, self.is_async = graph, is_async

    def call(self, name: str, *args: Any, **settings: Any) -> Any:
        if self.is_async:
            return asyncio.run(getattr(self.graph, f"a{name}")(*args, **settings))
        return getattr(self.graph, name)(*args, **settings)

    def asked_at(self) -> dict[str, Any]:
        """The config of the checkpoint that asked first."""
        history = list(self.graph.get_state_history(THREAD))
        return next(shown.config for shown in reversed(history) if shown.tasks and shown.interrupts)

    def head_id(self) -> str:
        config: Any = self.graph.get_state(THREAD).config
        return str(config["configurable"]["checkpoint_id"])


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def is_async(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def _answered_abroad(graph: Any, abroad: Abroad, is_async: bool) -> Way:
    """A thread that was asked here, and answered where the clock is ahead."""
    way = Way(graph, is_async=is_async)
    way.call("invoke", {"said": []}, THREAD)
    with abroad():
        way.call("invoke", Command(resume="abroad"), THREAD)
    return way


def test_a_fork_is_the_newest_of_its_thread_though_the_head_is_from_the_future(abroad: Abroad, is_async: bool) -> None:
    way = _answered_abroad(_graph(checkpointer=InMemorySaver()), abroad, is_async)
    before = way.head_id()

    asked = way.call("invoke", None, way.asked_at())

    assert asked["__interrupt__"][0].value == "what?"
    assert way.head_id() > before
    assert [question.value for question in way.graph.get_state(THREAD).interrupts] == ["what?"]
    assert way.call("invoke", Command(resume="here"), THREAD) == {"said": ["here"]}


def test_an_update_of_an_old_checkpoint_is_the_newest_though_the_head_is_from_the_future(
    abroad: Abroad, is_async: bool
) -> None:
    way = _answered_abroad(_graph(checkpointer=InMemorySaver()), abroad, is_async)
    before = way.head_id()

    made = way.call("update_state", way.asked_at(), {"said": ["told"]}, as_node=START)

    assert made["configurable"]["checkpoint_id"] == way.head_id() > before
    assert [question.value for question in way.call("invoke", None, THREAD)["__interrupt__"]] == ["what?"]


def test_all_checkpoints_of_an_update_come_after_a_head_from_the_future(abroad: Abroad, is_async: bool) -> None:
    way = _answered_abroad(_graph(checkpointer=InMemorySaver()), abroad, is_async)
    before = way.head_id()

    way.call("bulk_update_state", way.asked_at(), [[StateUpdate({"said": [word]}, "ask")] for word in ("one", "two")])

    newest = [shown.config["configurable"]["checkpoint_id"] for shown in way.graph.get_state_history(THREAD, limit=3)]
    assert newest[0] > newest[1] > before == newest[2]
    assert way.graph.get_state(THREAD).values == {"said": ["one", "two"]}


@pytest.mark.parametrize("remembers", [False, True], ids=["forgetful", "stateful"])
def test_a_fork_takes_a_nested_graph_from_the_future_with_it(abroad: Abroad, is_async: bool, remembers: bool) -> None:
    nested = _graph(checkpointer=True if remembers else None)
    way = _answered_abroad(_graph(nested, InMemorySaver()), abroad, is_async)

    asked = way.call("invoke", None, way.asked_at())

    assert [question.value for question in asked["__interrupt__"]] == ["what?"]
    assert way.call("invoke", Command(resume="here"), THREAD) == {"said": ["here"]}
