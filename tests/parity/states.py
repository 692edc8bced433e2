"""States and nodes that many programs share."""

import operator
from collections.abc import Callable
from typing import Annotated, Any

from typing_extensions import TypedDict

from .library import Library


class Log(TypedDict):
    """A list that every node adds to: what ran, in folding order."""

    log: Annotated[list[str], operator.add]


class Counted(Log):
    """A log and a plain number."""

    count: int


class Plain(TypedDict):
    """Keys without reducers."""

    x: int
    y: int


def noting(name: str, *words: str) -> Callable[..., dict[str, Any]]:
    """A node that notes its name, or some words, in the log."""

    def node(state: Any) -> dict[str, Any]:
        return {"log": list(words or [name])}

    node.__name__ = name
    return node


a, b, c, d, e = (noting(name) for name in "abcde")


def chain(lib: Library) -> Any:
    """Three nodes, one after the other."""
    return lib.graph(Log, a, b, c, edges="START>a>b>c>END")


def nested(lib: Library, **options: Any) -> Any:
    """A compiled graph to nest in another."""
    return lib.graph(Log, b, c, edges="START>b>c>END").compile(**options)


def around(lib: Library, inside: Any) -> Any:
    """A graph that holds another one, as its node `inner`."""
    return lib.graph(Log, a, d, edges="START>a>inner>d>END", inner=inside)


# Histories


def shapes(history: list[Any]) -> list[Any]:
    """What each checkpoint holds, what is next, and how it came about."""
    return [(snapshot.values, snapshot.next, snapshot.metadata) for snapshot in history]


def before(history: list[Any], *next_nodes: str) -> Any:
    """The newest checkpoint from which these nodes ran."""
    return next(snapshot for snapshot in history if snapshot.next == next_nodes)
