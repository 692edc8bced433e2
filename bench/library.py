"""One of the two libraries, by the names that both have."""

import asyncio
from collections.abc import Coroutine
from importlib import import_module
from typing import Any

_TAILS = {
    "graph": "StateGraph START END",
    "types": "Command Send interrupt",
    "checkpoint.memory": "InMemorySaver",
    "checkpoint.sqlite": "SqliteSaver",
    "func": "entrypoint task",
}
_HOMES = {name: tail for tail, names in _TAILS.items() for name in names.split()}

OURS = "signoff"
THEIRS = "langgraph"


class Library:
    """The names of a library as attributes, so that a program is written once for both."""

    def __init__(self, root: str, runner: asyncio.Runner) -> None:
        self.root = root
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"Which module has {name!r}? Add it to the tails.")
        return getattr(import_module(f"{self.root}.{_HOMES[name]}"), name)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """The result of a coroutine, on an event loop that lives as long as the benchmarks."""
        return self._runner.run(coroutine)


def both(runner: asyncio.Runner) -> list[Library]:
    """The two libraries, ours first."""
    return [Library(OURS, runner), Library(THEIRS, runner)]
