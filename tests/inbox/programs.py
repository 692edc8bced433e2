"""Programs that ask, with a count of what they did."""

import operator
from collections import Counter
from typing import Annotated, Any, TypedDict

from signoff.graph import END, START, StateGraph
from signoff.types import interrupt


class Log(TypedDict):
    log: Annotated[list, operator.add]


class Work:
    """Counts what was done."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()

    def did(self, name: str) -> str:
        self.done[name] += 1
        return name


def transfer(work: Work, saver: Any, name: str = "transfers", **asked: Any) -> Any:
    """prepare -> review (asks) -> execute"""
    graph = StateGraph(Log)
    graph.add_node("prepare", lambda state: {"log": [work.did("prepare")]})
    graph.add_node("review", lambda state: {"log": [f"review said {interrupt('Transfer 500 euros?', **asked)}"]})
    graph.add_node("execute", lambda state: {"log": [work.did("execute")]})
    graph.add_edge(START, "prepare").add_edge("prepare", "review").add_edge("review", "execute").add_edge(
        "execute", END
    )
    return graph.compile(checkpointer=saver, name=name)


def form(saver: Any) -> Any:
    """One node that asks for a name, then for an age."""

    def ask(state):
        return {"log": [interrupt("name?"), interrupt("age?")]}

    return StateGraph(Log).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=saver, name="form")


def two_branches(work: Work, saver: Any) -> Any:
    """Two nodes that ask at once."""
    graph = StateGraph(Log)
    for name in ("left", "right"):
        graph.add_node(name, lambda state, name=name: {"log": [f"{name}: {interrupt(f'{name}?')} {work.did(name)}"]})
        graph.add_edge(START, name)
    return graph.compile(checkpointer=saver, name="branches")


def nested(saver: Any) -> Any:
    """A review graph with a manager, as one node of the main graph."""
    inner = StateGraph(Log).add_node("manager", lambda state: {"log": [interrupt("publish?")]})
    inner.add_edge(START, "manager")
    outer = StateGraph(Log).add_node("review", inner.compile()).add_edge(START, "review")
    return outer.compile(checkpointer=saver, name="outer")


def on(thread_id: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id}}
