"""Programs: small functions that run on both libraries and yield what they see."""

import asyncio
import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pprint import pformat
from typing import Any

import pytest

from .clock import on_its_time
from .library import App, Library, drain, thread
from .plain import Boom, Failure, by_step, masked, plain, unordered

__all__ = [
    "App",
    "Boom",
    "Case",
    "Failure",
    "Library",
    "Programs",
    "by_step",
    "drain",
    "observe",
    "as_one_test",
    "thread",
    "unordered",
]

Program = Callable[[Library], Iterator[Any]]


@dataclass(frozen=True)
class Case:
    """A program in one way of running it."""

    program: Program
    is_async: bool
    storage: str = "memory"
    is_timed: bool = False

    def __str__(self) -> str:
        way = "async" if self.is_async else "sync"
        return "-".join([self.program.__name__, way, *([self.storage] if self.storage != "memory" else ())])

    def check(self) -> None:
        """Run it on both, and show where they differ."""
        theirs = _reference(self.program, self.is_async, self.is_timed)
        ours = observe(self.program, "signoff", is_async=self.is_async, storage=self.storage, is_timed=self.is_timed)
        assert theirs, "a program yields at least one observation"
        if ours != theirs:
            pytest.fail(f"{self} differs:\n{_difference(theirs, ours)}", pytrace=False)


@cache
def _reference(program: Program, is_async: bool, is_timed: bool) -> list[Any]:
    """What LangGraph makes of a program; run once, however many ways signoff is held against it."""
    try:
        return observe(program, "langgraph", is_async=is_async, is_timed=is_timed)
    except Exception as error:
        pytest.fail(
            f"{program.__name__} is no program that LangGraph runs: {type(error).__name__}: {error}", pytrace=False
        )


class Programs:
    """The programs of one file: decorate each with it, and make a test of them at the end."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def __call__(self, program: Program) -> Program:
        """A program with sync nodes, run in both ways."""
        self.cases += [Case(program, is_async=False), Case(program, is_async=True)]
        return program

    def only_async(self, program: Program) -> Program:
        """A program with async nodes."""
        self.cases.append(Case(program, is_async=True))
        return program

    def timed(self, program: Program) -> Program:
        """A program with async nodes that take their time: that of a clock, so that nobody waits for them."""
        self.cases.append(Case(program, is_async=True, is_timed=True))
        return program

    def only_sync(self, program: Program) -> Program:
        """A program about what only sync code does."""
        self.cases.append(Case(program, is_async=False))
        return program

    def as_test(self) -> Callable[..., None]:
        """One test, with a case for each program and way of running it."""
        return as_one_test(self.cases)


def as_one_test(cases: Iterable[Case]) -> Callable[..., None]:
    """One test with many cases."""

    @pytest.mark.parity
    @pytest.mark.parametrize("case", list(cases), ids=str)
    def test(case: Case) -> None:
        case.check()

    return test


def observe(
    program: Program, root: str, *, is_async: bool = False, storage: str = "memory", is_timed: bool = False
) -> list[Any]:
    """What a program sees on one of the libraries, as plain data with masked ids."""
    with on_its_time() if is_timed else asyncio.Runner() as runner, ExitStack() as cleanup:
        lib = Library(root, is_async=is_async, storage=storage, runner=runner, cleanup=cleanup)
        return masked([plain(seen) for seen in program(lib)])


def _difference(theirs: list[Any], ours: list[Any]) -> str:
    lines = difflib.unified_diff(_lines(theirs), _lines(ours), "langgraph", "signoff", lineterm="", n=2)
    return "\n".join(lines)


def _lines(observations: list[Any]) -> list[str]:
    return [
        line
        for number, observation in enumerate(observations, 1)
        for line in (f"observation {number}:", *pformat(observation, width=110).splitlines())
    ]
