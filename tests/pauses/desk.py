"""A program that runs in processes of its own: a desk that fetches, asks and pays, in a SQLite file or on a server.

It is told what to do by lines of JSON, and tells what came of it. At the moment that it is told to stop at, it waits
for a line; meanwhile it can be killed, or suspended.
"""

import asyncio
import json
import operator
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypedDict

from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

Place = Sequence[str]
"""Where threads are kept: the kind of database, its address, and for Redis what keys begin with."""


def opened(place: Place) -> Any:
    """The saver of a place, for a `with` block."""
    return _opened(place, "")


def opened_aio(place: Place) -> Any:
    """The async saver of a place, for an `async with` block."""
    return _opened(place, "Async")


def _opened(place: Place, prefix: str) -> Any:
    # Imported here: a process that uses SQLite needs no driver of a server.
    kind, address, *keys = place
    saver = getattr(import_module(f"signoff.checkpoint.{kind}"), f"{prefix}{kind.capitalize()}Saver")
    return saver.from_conn_string(address, **({"prefix": keys[0]} if keys else {}))


class Payment(TypedDict):
    log: Annotated[list[str], operator.add]


class Desk:
    """The program, over a folder with the file of what was done, and that of threads if they have no other place."""

    def __init__(self, folder: str, stop_at: str = "", branches: str | bool = "", place: Place = ()) -> None:
        self.branches = bool(branches)
        """Whether there is a branch beside the question, which does not wait for it."""
        self.file = str(Path(folder) / "threads.db")
        self.place = place or ("sqlite", self.file)
        self.done_file = Path(folder) / "done.txt"
        self.stop_at = stop_at

    def build(self) -> StateGraph[Any, Any, Any, Any]:
        """collect (a call each) beside check, then ask, then pay; perhaps report and archive beside these two."""

        @task
        def fetch(name: str) -> str:
            return self.do(f"fetch {name}")

        def collect(state: Payment) -> Any:
            return {"log": [fetch("market").result(), fetch("risk").result()]}

        def check(state: Payment) -> Any:
            return {"log": [self.do("check")]}

        def ask(state: Payment) -> Any:
            self.do("before the question")
            answer = interrupt("pay?")
            return {"log": [f"{self.do('after the answer')}: {answer}"]}

        def pay(state: Payment) -> Any:
            return {"log": [self.do("pay")]}

        graph = StateGraph(Payment).add_node(collect).add_node(check).add_node(ask).add_node(pay)
        graph.add_edge(START, "collect").add_edge(START, "check")
        graph.add_edge(["collect", "check"], "ask").add_edge("ask", "pay")
        return self._with_branch(graph) if self.branches else graph

    def _with_branch(self, graph: StateGraph[Any, Any, Any, Any]) -> StateGraph[Any, Any, Any, Any]:
        for name in ("report", "archive"):
            graph.add_node(name, lambda state, name=name: {"log": [self.do(name)]})
        return graph.add_edge("collect", "report").add_edge("report", "archive")

    def compiled(self, saver: Any, order: dict[str, Any]) -> Any:
        saver.lease_s = order.get("lease_s", saver.lease_s)
        return self.build().compile(checkpointer=saver, pause="branch" if self.branches else "step")

    def do(self, what: str) -> str:
        """Work, and note it where it outlives the process."""
        with self.done_file.open("a") as file:
            file.write(f"{what}\n")
        if what == self.stop_at:
            say("stopped")
            sys.stdin.readline()
        return what

    def done(self) -> list[str]:
        """What was done, in all processes."""
        return self.done_file.read_text().splitlines() if self.done_file.exists() else []

    def run(self, order: dict[str, Any]) -> Any:
        """Do what an order says: the state in the end, or the name of the error."""
        self.stop_at = order.get("stop_at", self.stop_at)
        try:
            return (asyncio.run(self._arun(order)) if order.get("is_async") else self._run(order))["log"]
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _run(self, order: dict[str, Any]) -> Any:
        with opened(self.place) as saver:
            return self.compiled(saver, order).invoke(*_call(order), **order.get("settings", {}))

    async def _arun(self, order: dict[str, Any]) -> Any:
        async with opened_aio(self.place) as saver:
            return await self.compiled(saver, order).ainvoke(*_call(order), **order.get("settings", {}))


def _call(order: dict[str, Any]) -> tuple[Any, Any]:
    input = Command(resume=order["answer"], by=order.get("by")) if "answer" in order else order.get("input")
    return input, {"configurable": {"thread_id": order["thread"]}}


def say(what: Any) -> None:
    """Tell the test something, in one piece: tasks that run side by side may both have something to say."""
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


class Process:
    """A process that runs the program: what the test holds of it."""

    def __init__(self, folder: Path, stop_at: str = "", *, branches: bool = False, place: Place = ()) -> None:
        from warm import Process as Warm  # the process itself, which loads this file, does not find it

        arguments = [__file__, folder, stop_at, "branches" if branches else "", *place]
        its_input, to_it = os.pipe()
        from_it, its_output = os.pipe()
        self.process = Warm(arguments, its_input, its_output, 2)
        os.close(its_input)
        os.close(its_output)
        self.input, self.output = os.fdopen(to_it, "w"), os.fdopen(from_it)

    def tell(self, **order: Any) -> "Process":
        self.input.write(f"{json.dumps(order)}\n")
        self.input.flush()
        return self

    def hear(self) -> Any:
        """The next thing that it says; nothing once it is gone."""
        said = self.output.readline()
        return json.loads(said) if said else None

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def close(self) -> None:
        """End it, as kill -9 does."""
        self.process.kill()
        self.process.wait()
        self.input.close()
        self.output.close()


if __name__ == "__main__":
    folder, stop_at, branches, *place = sys.argv[1:]
    desk = Desk(folder, stop_at, branches, place)
    for line in sys.stdin:
        say(desk.run(json.loads(line)))
