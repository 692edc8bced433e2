"""Small programs that many tests of pauses share."""

import operator
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from signoff.graph import START, StateGraph
from signoff.types import interrupt


class Log(TypedDict):
    """What was answered, or done, in folding order."""

    log: Annotated[list[Any], operator.add]


NEW: dict[str, Any] = {"log": []}


def beside(**nodes: Any) -> StateGraph:
    """A graph whose nodes all begin at the start."""
    graph = StateGraph(Log)
    for name, node in nodes.items():
        graph.add_node(name, node).add_edge(START, name)
    return graph


def line(**nodes: Any) -> StateGraph:
    """A graph whose nodes run one after the other."""
    return StateGraph(Log).add_sequence(list(nodes.items())).add_edge(START, next(iter(nodes)))


def asking(question: Any = "sure?", **settings: Any) -> Callable[[Any], Any]:
    """A node that asks, and notes the answer."""

    def ask(state: Any) -> Any:
        return {"log": [interrupt(question, **settings)]}

    return ask


class Works:
    """Nodes that count how often they ran."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()

    def node(self, name: str) -> Callable[[Any], Any]:
        """A node that works."""

        def work(state: Any) -> Any:
            self.done[name] += 1
            return {"log": [name]}

        return work

    def asking(self, name: str) -> Callable[[Any], Any]:
        """A node that works, then asks by its name."""

        def ask(state: Any) -> Any:
            self.done[name] += 1
            return {"log": [f"{name}: {interrupt(name)}"]}

        return ask
