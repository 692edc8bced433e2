"""States and nodes that many programs share."""

import operator
from collections.abc import Callable
from typing import Annotated, Any

from typing_extensions import TypedDict


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
