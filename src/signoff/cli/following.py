"""Following a run: nodes, calls of tools, tokens and timing, as they happen."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from signoff._words.questions import Interrupt
from signoff.cli.apps import needs_loop
from signoff.cli.plain import brief, plain, short

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_SPOKEN = ("AIMessage", "AIMessageChunk")

SLOW_S = 0.1
"""From how many seconds on it is told how long a node took."""


def follow(graph: Any, input: Any, config: Any, console: "Console | None") -> tuple[Interrupt[Any], ...]:
    """Run a graph, showing what happens, and return the questions that it stopped at."""
    modes = ["updates", "tasks", "custom", *(["messages"] if "langchain_core" in sys.modules else [])]
    teller = Teller(console)
    asked: dict[str, Interrupt[Any]] = {}
    with _spinner(console) as spinner:
        for ns, mode, chunk in _chunks(graph, input, config, stream_mode=modes, subgraphs=True):
            if mode == "updates" and not ns and "__interrupt__" in chunk:
                asked |= {question.id: question for question in chunk["__interrupt__"]}
            teller.tell(ns, mode, chunk)
            if spinner is not None and teller.running:
                spinner.update(f"{', '.join(sorted(teller.running.values()))} ...")
    teller.end_line()
    return tuple(asked.values())


def _chunks(graph: Any, input: Any, config: Any, **settings: Any) -> Iterator[Any]:
    """The stream of a graph; of one with async nodes, from an event loop that runs while the next chunk is awaited."""
    if not needs_loop(graph):
        yield from graph.stream(input, config, **settings)
        return
    import asyncio

    with asyncio.Runner() as runner:
        stream = graph.astream(input, config, **settings)
        try:
            while True:
                try:
                    chunk = runner.run(anext(stream))
                except StopAsyncIteration:
                    return
                yield chunk
        finally:
            runner.run(stream.aclose())


@contextmanager
def _spinner(console: "Console | None") -> "Iterator[Status | None]":
    if console is None or not console.is_terminal or "langchain_core" in sys.modules:
        yield None  # tokens and a spinner would get into each other's way
        return
    with console.status("starting ...") as spinner:
        # Drawn now: a line that is printed while the thread of the spinner draws it first would stand behind it.
        spinner.update(spinner="dots")
        yield spinner


class Teller:
    """Tells what happens in a run, line by line; tokens where they come."""

    def __init__(self, console: "Console | None") -> None:
        self.console = console
        self.running: dict[str, str] = {}
        """The names of the nodes that run, by task."""
        self._began: dict[str, float] = {}
        self._is_in_line = False

    def tell(self, ns: tuple[str, ...], mode: str, chunk: Any) -> None:
        """Show a chunk of the stream."""
        if mode == "tasks":
            self._task(ns, chunk)
        elif mode == "messages":
            self._token(chunk[0])
        elif mode == "custom":
            self._line(f"    {short(chunk)}")

    def end_line(self) -> None:
        """Begin a new line, if tokens were shown."""
        if self._is_in_line and self.console is not None:
            self.console.print()
        self._is_in_line = False

    def _task(self, ns: tuple[str, ...], chunk: dict[str, Any]) -> None:
        path = "|".join([*(level.partition(":")[0] for level in ns), chunk["name"]])
        if "result" not in chunk:
            self.running[chunk["id"]], self._began[chunk["id"]] = path, time.monotonic()
            return
        self.running.pop(chunk["id"], None)
        took = time.monotonic() - self._began.pop(chunk["id"], time.monotonic())
        self._line(f"  {_mark(chunk)} {path}{_told(chunk)}{_time(took, chunk)}")

    def _token(self, message: Any) -> None:
        text = message.content if isinstance(message.content, str) else ""
        if text and type(message).__name__ in _SPOKEN and self.console is not None:
            self.console.print(text if self._is_in_line else f"    {text}", end="")
            self._is_in_line = True
        for call in getattr(message, "tool_calls", None) or ():
            if call.get("name"):
                self._line(f"    calls {call['name']}({short(plain(call['args']), 48)})")

    def _line(self, text: str) -> None:
        self.end_line()
        if self.console is not None:
            self.console.print(text, overflow="ellipsis", no_wrap=True, soft_wrap=False)


def _mark(chunk: dict[str, Any]) -> str:
    if chunk.get("error"):
        return "✗"
    return "?" if chunk.get("interrupts") else "✓"


def _time(took: float, chunk: dict[str, Any]) -> str:
    return f"  ({took:.1f} s)" if took >= SLOW_S and not chunk.get("interrupts") else ""


def _told(chunk: dict[str, Any]) -> str:
    if chunk.get("error"):
        return f": {short(chunk['error'])}"
    result = chunk.get("result")
    if not isinstance(result, dict) or not result or chunk.get("interrupts"):
        return ""
    told = [f"{name}={brief(value, 40)}" for name, value in result.items() if not _was_heard(value)]
    return f": {', '.join(told)}" if told else ""


def _was_heard(value: Any) -> bool:
    """Whether a value is what a model has just said."""
    return isinstance(value, list) and bool(value) and all(type(one).__name__ in _SPOKEN for one in value)
