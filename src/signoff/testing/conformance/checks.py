"""Checks: promises as plain functions, without a test framework.

A check is a function whose name is the promise and whose arguments are what it needs. It fails by raising.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

from signoff.errors import InvalidInput

__all__ = ["Check", "cases", "checks_of", "raises"]

F = TypeVar("F", bound=Callable[..., None])

_LEFT_OUT = (
    "python -O leaves out every assert, and with them what is checked here. Run the checks without -O, and without "
    "PYTHONOPTIMIZE."
)


@dataclass(frozen=True)
class Check:
    """One promise, for one case of it. Call it with what it is to be checked on."""

    name: str
    function: Callable[..., None] = field(repr=False)
    case: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __call__(self, world: object) -> None:
        """Check it. What the function needs and the case does not say are attributes of the world."""
        if not __debug__:
            raise InvalidInput(_LEFT_OUT)
        needed = inspect.signature(self.function).parameters
        try:
            arguments = {name: self.case[name] if name in self.case else getattr(world, name) for name in needed}
            self.function(**arguments)
        except (AttributeError, NotImplementedError, TypeError) as error:
            raise AssertionError(f"{self.name}: {_lacking(error)}") from error

    def __str__(self) -> str:
        return self.name


def _lacking(error: Exception) -> str:
    """What is missing in that which is checked."""
    if not isinstance(error, AttributeError) or error.name is None:
        return f"it raised {type(error).__name__}: {error}"
    if error.obj is None:
        return f"it returned None, and not something with {error.name!r}"
    kind = error.obj if isinstance(error.obj, type) else type(error.obj)
    return f"{kind.__name__} has no {error.name!r}"


def cases(names: str | tuple[str, ...], values: Sequence[Any]) -> Callable[[F], F]:
    """The check holds for each of the values, given as the argument (or arguments) of these names."""

    def marked(function: F) -> F:
        function.cases = [_case(names, value) for value in values]  # type: ignore[attr-defined]
        return function

    return marked


def checks_of(modules: Iterable[ModuleType]) -> list[Check]:
    """The checks that modules define, in order."""
    return [check for module in modules for function in _functions(module) for check in _checks(function)]


@contextmanager
def raises(error: type[Exception] | tuple[type[Exception], ...], match: str = "") -> Iterator[None]:
    """What is done inside has to fail with this error, and with a message that the pattern is found in."""
    try:
        yield
    except error as raised:
        if not re.search(match, str(raised)):
            raise AssertionError(f"{str(raised)!r} does not say {match!r}") from raised
    else:
        raise AssertionError(f"nothing was raised, but {error} should have been")


def _functions(module: ModuleType) -> list[Callable[..., None]]:
    found = [one for one in vars(module).values() if inspect.isfunction(one) and one.__module__ == module.__name__]
    return [one for one in found if not one.__name__.startswith("_")]


def _checks(function: Callable[..., None]) -> Iterator[Check]:
    marked: list[dict[str, Any]] | None = getattr(function, "cases", None)
    if marked is None:
        yield Check(function.__name__, function)
        return
    for number, case in enumerate(marked):
        yield Check(f"{function.__name__}-{number}", function, case)


def _case(names: str | tuple[str, ...], value: Any) -> dict[str, Any]:
    return {names: value} if isinstance(names, str) else dict(zip(names, value, strict=True))
