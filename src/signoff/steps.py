"""Steps: procedures that ask for effects and are told the results.

A procedure is a generator. It yields an effect (a plain value that says what should happen) and is sent the
result, or has the error thrown into it. `drive` performs the effects by calling, `adrive` by awaiting: the
only place where sync and async part, so every procedure is written once.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

__all__ = ["Steps", "adrive", "drive"]

T = TypeVar("T")

Steps = Generator[Any, Any, T]
"""A procedure that yields effects and returns a T."""


def drive(steps: Steps[T], perform: Callable[[Any], Any]) -> T:
    """Run a procedure to its end, performing each effect with a plain call."""
    try:
        effect = next(steps)
        while True:
            try:
                result = perform(effect)
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def adrive(steps: Steps[T], perform: Callable[[Any], Awaitable[Any]]) -> T:
    """Run a procedure to its end, awaiting each effect."""
    try:
        effect = next(steps)
        while True:
            try:
                result = await perform(effect)
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
