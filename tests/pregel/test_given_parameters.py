"""What a function is given besides its input: by name, where nothing says that something else is meant."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Optional

import pytest
from typing_extensions import TypedDict

from signoff.config import RunnableConfig
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.runtime import Runtime
from signoff.store.base import BaseStore
from signoff.store.memory import InMemoryStore
from signoff.types import StreamWriter


class State(TypedDict, total=False):
    got: list[Any]


class Shop:
    """Something of the user's."""


def given_to(node: Any) -> list[Any]:
    graph = StateGraph(State).add_node("node", node).add_edge(START, "node")
    return graph.compile(store=InMemoryStore()).invoke({})["got"]


def plain(state, config, runtime, writer, store):
    return {"got": [config, runtime, writer, store]}


def annotated(state, config: RunnableConfig, runtime: Runtime[Any], writer: StreamWriter, store: BaseStore):
    return {"got": [config, runtime, writer, store]}


def loosely(
    state,
    config: Annotated[Mapping[str, Any] | None, "of the run"],
    runtime: "Runtime",
    writer: Callable[..., None],
    store: Optional[InMemoryStore],  # noqa: UP045
):
    return {"got": [config, runtime, writer, store]}


def freely(state, config: dict, runtime: Any, writer: "Missing", store: "BaseStore | None"):  # noqa: F821
    return {"got": [config, runtime, writer, store]}


@pytest.mark.parametrize("node", [plain, annotated, loosely, freely])
def test_what_is_meant_is_given(node):
    config, runtime, writer, store = given_to(node)
    assert (type(config), type(runtime), callable(writer), type(store)) == (dict, Runtime, True, InMemoryStore)


def others(state, config: int = 1, runtime: list[int] | None = None, writer: str = "Ana", store: Shop | str = "eu"):
    return {"got": [config, runtime, writer, store]}


class Called:
    def __call__(self, state, store: str = "eu"):
        return {"got": [store]}


def test_a_parameter_of_another_type_is_the_users_own():
    assert given_to(others) == [1, None, "Ana", "eu"]
    assert given_to(Called()) == ["eu"]


def test_what_a_partial_has_filled_in_stays():
    assert given_to(partial(plain, store="eu", config=5))[::3] == [5, "eu"]


@pytest.mark.parametrize("is_async", [False, True])
def test_what_the_caller_of_a_task_gives_stays(is_async):
    @task
    def load(store: str = "eu", config: str = "none"):
        return store, config

    @task
    def look(name, store, previous=None):
        return name, type(store).__name__, previous

    def work(input):
        calls = [load("Berlin"), load(config="low"), load(), look("a"), look("b", "str", "d"), look("e", store="f")]
        return [call.result() for call in calls]

    async def awork(input):
        calls = [load("Berlin"), load(config="low"), load(), look("a"), look("b", "str", "d"), look("e", store="f")]
        return [await call for call in calls]

    flow = entrypoint(store=InMemoryStore())(awork if is_async else work)
    assert (asyncio.run(flow.ainvoke(1)) if is_async else flow.invoke(1)) == [
        ("Berlin", "none"),
        ("eu", "low"),
        ("eu", "none"),
        ("a", "InMemoryStore", None),
        ("b", "str", "d"),
        ("e", "str", None),
    ]


class Desk:
    """Tasks that stand in a class."""

    @classmethod
    @task
    def named(cls, number):
        return cls.__name__, number

    @staticmethod
    @task
    def bare(number):
        return number

    @task
    def own(self, number):
        return type(self).__name__, number


def test_a_task_in_a_class_is_called_as_its_function_would_be():
    def work(number):
        calls = [Desk.named(number), Desk().named(number), Desk.bare(number), Desk().bare(number), Desk().own(number)]
        return [call.result() for call in calls]

    assert entrypoint()(work).invoke(5) == [("Desk", 5), ("Desk", 5), 5, 5, ("Desk", 5)]
