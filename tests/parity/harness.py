"""Programs: small functions that run on both libraries and yield what they see."""

import asyncio
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pprint import pformat
from typing import Any

import pytest

from .library import App, Library, thread
from .plain import Boom, Failure, by_step, masked, plain, unordered

__all__ = ["App", "Boom", "Failure", "Library", "Programs", "by_step", "observe", "thread", "unordered"]

Program = Callable[[Library], Iterator[Any]]


@dataclass(frozen=True)
class Case:
    """A program in one way of running it."""

    program: Program
    is_async: bool

    def __str__(self) -> str:
        return f"{self.program.__name__}-{'async' if self.is_async else 'sync'}"

    def check(self) -> None:
        """Run it on both, and show where they differ."""
        theirs = self._reference()
        ours = observe(self.program, "signoff", is_async=self.is_async)
        assert theirs, "a program yields at least one observation"
        if ours != theirs:
            pytest.fail(f"{self} differs:\n{_difference(theirs, ours)}", pytrace=False)

    def _reference(self) -> list[Any]:
        try:
            return observe(self.program, "langgraph", is_async=self.is_async)
        except Exception as error:
            pytest.fail(f"{self} is no program that LangGraph runs: {type(error).__name__}: {error}", pytrace=False)


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

    def only_sync(self, program: Program) -> Program:
        """A program about what only sync code does."""
        self.cases.append(Case(program, is_async=False))
        return program

    def as_test(self) -> Callable[..., None]:
        """One test, with a case for each program and way of running it."""

        @pytest.mark.parity
        @pytest.mark.parametrize("case", self.cases, ids=str)
        def test(case: Case) -> None:
            case.check()

        return test


def observe(program: Program, root: str, *, is_async: bool = False) -> list[Any]:
    """What a program sees on one of the libraries, as plain data with masked ids."""
    with asyncio.Runner() as runner:
        lib = Library(root, is_async=is_async, runner=runner)
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
