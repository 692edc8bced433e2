"""One of the two libraries, by the names that both have."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")

_TAILS = {
    "graph": "StateGraph START END MessagesState add_messages",
    "types": "Command Send interrupt",
    "config": "get_stream_writer",
    "checkpoint.memory": "InMemorySaver",
    "checkpoint.sqlite": "SqliteSaver",
    "checkpoint.sqlite.aio": "AsyncSqliteSaver",
    "checkpoint.postgres": "PostgresSaver",
    "checkpoint.postgres.aio": "AsyncPostgresSaver",
    "func": "entrypoint task",
}
_HOMES = {name: tail for tail, names in _TAILS.items() for name in names.split()}

OURS = "signoff"
THEIRS = "langgraph"


class Library:
    """The names of a library as attributes, so that a program is written once for both.

    It also holds what the programs opened, until `close`.

    is_counting: whether what is stored is to be counted, which takes time and so is not done where time is taken.
    """

    def __init__(self, root: str, runner: asyncio.Runner, *, is_counting: bool = False) -> None:
        self.root = root
        self.is_counting = is_counting
        self._runner = runner
        self._open = AsyncExitStack()
        self._made: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"Which module has {name!r}? Add it to the tails.")
        return getattr(import_module(f"{self.root}.{_HOMES[name]}"), name)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine, on an event loop that lives as long as the benchmarks."""
        return self._runner.run(coroutine)

    def enter(self, context: AbstractContextManager[T] | AbstractAsyncContextManager[T]) -> T:
        """What a context manager gives; it is left at `close`."""
        if isinstance(context, AbstractContextManager):
            return self._open.enter_context(context)
        return self.run(self._open.enter_async_context(context))

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` made when it was first asked for under this key since the last `close`."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def close(self) -> None:
        """Leave what was entered, and forget what was made."""
        self._made.clear()
        opened, self._open = self._open, AsyncExitStack()
        self.run(opened.aclose())


def both(runner: asyncio.Runner, *, is_counting: bool = False) -> list[Library]:
    """The two libraries, ours first."""
    return [Library(root, runner, is_counting=is_counting) for root in (OURS, THEIRS)]
