"""An agent with a tool, in a long conversation on SQLite: what each turn costs the engine.

The model follows a script. What it and the tool take themselves, in LangChain's code, is left out of the account.
"""

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from statistics import median
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool

from bench.library import OURS, THEIRS
from bench.rows import Row

GROUP = "agent"

TURNS, EARLY = 200, 10
AROUND = 8
"""The cost of a turn is the median of so many before and after it."""


def rows(turns: int = TURNS) -> Iterator[Row]:
    """What a late turn costs against an early one, and what all of them cost against LangGraph."""
    # How it grows is measured alone: beside a library that fills the caches, late turns would be charged for that.
    (alone,) = turn_costs((OURS,), turns)
    yield Row(GROUP, f"agent on SQLite, turn {turns} against {EARLY}", growth(alone), None, "x", 1.3, is_limit=True)
    ours, theirs = turn_costs((OURS, THEIRS), turns)
    yield Row(GROUP, f"agent on SQLite, {turns} turns", sum(ours), sum(theirs), "s", 10)


def growth(costs: list[float]) -> float:
    """How many times dearer the last turns are than the tenth."""
    return median(costs[-2 * AROUND :]) / median(costs[EARLY - AROUND : EARLY + AROUND])


def turn_costs(roots: Sequence[str], turns: int = TURNS) -> list[list[float]]:
    """The CPU that each library's agent needs for each turn: a person asks, the tool is called, the model answers.

    They take turns.
    """
    gc.collect()
    gc.disable()  # garbage is collected now and then, and would be charged to whichever turn it happens in
    try:
        with ExitStack() as opened:
            agents = [opened.enter_context(_agent(root)) for root in roots]
            costs = [[_cost(*agent, number) for agent in agents] for number in range(turns)]
    finally:
        gc.enable()
    return [list(one) for one in zip(*costs, strict=True)]


def _cost(agent: Any, account: "_Account", number: int) -> float:
    account.seconds = 0.0
    started = time.process_time()
    agent.invoke({"messages": [HumanMessage(f"hello {number}")]}, {"configurable": {"thread_id": "1"}})
    return time.process_time() - started - account.seconds


@contextmanager
def _agent(root: str) -> Iterator[tuple[Any, "_Account"]]:
    account = _Account()
    create = import_module(f"{root}.prebuilt").create_react_agent
    saver_class = import_module(f"{root}.checkpoint.sqlite").SqliteSaver
    with tempfile.TemporaryDirectory() as folder, saver_class.from_conn_string(f"{folder}/threads.db") as saver:
        yield create(_Scripted(account=account), [_Look(account=account)], checkpointer=saver), account


class _Account:
    """The CPU that the model and the tool took."""

    seconds = 0.0

    def charged(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return call(*args, **named)
        finally:
            self.seconds += time.process_time() - started


class _Scripted(BaseChatModel):
    """A model that looks something up, and then is done."""

    account: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def invoke(self, *args: Any, **named: Any) -> Any:
        return self.account.charged(super().invoke, *args, **named)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        said = AIMessage("It is there.")
        if not isinstance(messages[-1], ToolMessage):
            said = AIMessage("", tool_calls=[{"name": "look", "args": {"name": "ana"}, "id": f"c{len(messages)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


class _Look(BaseTool):
    name: str = "look"
    description: str = "Look somebody up."
    account: Any

    def invoke(self, *args: Any, **named: Any) -> Any:
        return self.account.charged(super().invoke, *args, **named)

    def _run(self, name: str) -> str:
        return f"found {name}"
