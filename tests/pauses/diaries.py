"""Graphs that remember, and graphs around them."""

import operator
from typing import Annotated, Any, TypedDict

from signoff.graph import END, START, StateGraph

__all__ = ["NESTED", "Diary", "Kept", "Turn", "around", "plan"]


class Turn(TypedDict):
    word: str


class Kept(TypedDict):
    word: str
    kept: Annotated[list[str], operator.add]


class Diary:
    """A graph that keeps each word it is given; `seen` has what it remembered as it was given one."""

    def __init__(self, **nodes: Any) -> None:
        self.seen: list[list[str]] = []
        made = StateGraph(Kept).add_sequence([("note", self.note), *nodes.items()]).add_edge(START, "note")
        self.graph = made.compile(checkpointer=True)

    def note(self, state: Kept) -> Any:
        self.seen.append(state["kept"])
        return {"kept": [state["word"]]}

    def call(self, state: Turn) -> None:
        self.graph.invoke({"word": state["word"]})


def plan(state: Any) -> None:
    """Something that runs before the diary."""


def around(inner: Any) -> StateGraph:
    """A graph that plans, then writes into the diary, except for a word that is not worth it."""
    graph = StateGraph(Turn).add_node(plan).add_node("diary", inner).add_edge(START, "plan")
    return graph.add_conditional_edges("plan", lambda state: END if state["word"] == "skip" else "diary")


NESTED = {
    "as a node": lambda diary: around(diary.graph),
    "called by a node": lambda diary: around(diary.call),
    "in a graph that forgets": lambda diary: around(around(diary.graph).compile()),
    "in a graph that stores nothing": lambda diary: around(around(diary.graph).compile(checkpointer=False)),
    "in a graph that remembers": lambda diary: around(around(diary.graph).compile(checkpointer=True)),
    "three levels down": lambda diary: around(
        around(around(diary.call).compile(checkpointer=True)).compile(checkpointer=True)
    ),
}
