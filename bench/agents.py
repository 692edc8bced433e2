"""An agent with a tool, in a long conversation on SQLite: what each turn costs the engine.

The model follows a script. What it and the tool take themselves, in LangChain's code, is left out of the account.
"""

import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from statistics import median
from typing import Any

from langchain_core.messages import HumanMessage

from bench.library import OURS, THEIRS
from bench.rows import Row
from bench.scripted import Account, Look, Scripted

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


def _cost(agent: Any, account: Account, number: int) -> float:
    account.seconds = 0.0
    started = time.process_time()
    agent.invoke({"messages": [HumanMessage(f"hello {number}")]}, {"configurable": {"thread_id": "1"}})
    return time.process_time() - started - account.seconds


@contextmanager
def _agent(root: str) -> Iterator[tuple[Any, Account]]:
    account = Account()
    create = import_module(f"{root}.prebuilt").create_react_agent
    saver_class = import_module(f"{root}.checkpoint.sqlite").SqliteSaver
    with tempfile.TemporaryDirectory() as folder, saver_class.from_conn_string(f"{folder}/threads.db") as saver:
        yield create(Scripted(account=account), [Look(account=account)], checkpointer=saver), account
