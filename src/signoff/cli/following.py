"""Following a run: nodes, calls of tools, tokens and timing, as they happen."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from signoff.cli.plain import plain, short
from signoff.types import Interrupt

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

SLOW_S = 0.1
"""From how many seconds on it is told how long a node took."""


def follow(
    graph: Any, input: Any, config: Any, console: "Console | None", **settings: Any
) -> tuple[Interrupt[Any], ...]:
    """Run a graph, showing what happens, and return the questions that it stopped at."""
    modes = ["updates", "tasks", "custom", *(["messages"] if "langchain_core" in sys.modules else [])]
    teller = Teller(console)
    asked: dict[str, Interrupt[Any]] = {}
    with _spinner(console) as spinner:
        for ns, mode, chunk in graph.stream(input, config, stream_mode=modes, subgraphs=True, **settings):
            if mode == "updates" and not ns and "__interrupt__" in chunk:
                asked |= {question.id: question for question in chunk["__interrupt__"]}
            teller.tell(ns, mode, chunk)
            if spinner is not None and teller.running:
                spinner.update(f"{', '.join(sorted(teller.running.values()))} ...")
    teller.end_line()
    return tuple(asked.values())


@contextmanager
def _spinner(console: "Console | None") -> "Iterator[Status | None]":
    if console is None or not console.is_terminal or "langchain_core" in sys.modules:
        yield None  # tokens and a spinner would get into each other's way
        return
    with console.status("starting ...") as spinner:
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
        for call in getattr(message, "tool_calls", None) or ():
            self._line(f"    calls {call['name']}({short(plain(call['args']))})")
        text = message.content if isinstance(message.content, str) else ""
        if text and type(message).__name__ == "AIMessageChunk" and self.console is not None:
            self.console.print(text if self._is_in_line else f"    {text}", end="")
            self._is_in_line = True

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
    return ": " + ", ".join(f"{name}={short(value, 40)}" for name, value in result.items())
