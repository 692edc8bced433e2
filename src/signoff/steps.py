"""Steps: procedures that ask for effects and are told the results.

A procedure is a generator. It yields an effect (a plain value that says what should happen) and is sent the
result, or has the error thrown into it. `drive` performs the effects by calling, `adrive` by awaiting: the
only place where sync and async part, so every procedure is written once.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from functools import partial
from typing import Any, TypeVar

__all__ = ["Abandoned", "Steps", "adrive", "arelay", "drive", "relay", "through"]

T = TypeVar("T")
E = TypeVar("E")

Steps = Generator[Any, Any, T]
"""A procedure that yields effects and returns a T."""

End = Callable[[Steps[Any], BaseException], Awaitable[Any] | None]
"""Told the error that an effect came to: who does the rest of the procedure, or None if it simply goes on."""


def drive(steps: Steps[T], perform: Callable[[Any], Any], begin: Callable[[], Any] | None = None) -> T:
    """Run a procedure to its end, performing each effect with a plain call.

    With `begin`, the procedure is begun by that, which returns the first effect that is left to perform.
    """
    go_on = begin
    while True:
        try:
            effect = next(steps) if go_on is None else go_on()
            while True:
                try:
                    result = perform(effect)
                except BaseException as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except BaseException as error:
            if _is_over(steps):
                raise
            go_on = partial(steps.throw, error)


async def adrive(
    steps: Steps[T],
    perform: Callable[[Any], Awaitable[Any]],
    begin: Callable[[], Any] | None = None,
    end: End | None = None,
) -> T:
    """Run a procedure to its end, awaiting each effect. With `end`, somebody else may do the rest after an error."""
    go_on = begin
    while True:
        try:
            effect = next(steps) if go_on is None else go_on()
            while True:
                try:
                    result = await perform(effect)
                except BaseException as error:
                    if end is not None and (rest := end(steps, error)) is not None:
                        break
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except BaseException as error:
            if _is_over(steps):
                raise
            go_on = partial(steps.throw, error)
        else:
            return await rest  # type: ignore[no-any-return]


def relay(steps: Steps[T], perform: Callable[[Any], Any], kind: type[E]) -> Generator[E, None, T]:
    """Like `drive`, but effects of one kind are handed to whoever iterates, and performed by taking them."""
    go_on: Callable[[], Any] | None = None
    while True:
        try:
            effect = next(steps) if go_on is None else go_on()
            while True:
                try:
                    if type(effect) is kind:
                        yield effect
                        result = None
                    else:
                        result = perform(effect)
                except BaseException as error:
                    effect = steps.throw(_as_error(error))
                else:
                    effect = steps.send(result)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except Abandoned:
            raise GeneratorExit from None
        except BaseException as error:
            if _is_over(steps):
                raise
            go_on = partial(steps.throw, error)


async def arelay(
    steps: Steps[Any], perform: Callable[[Any], Awaitable[Any]], kind: type[E], end: End | None = None
) -> AsyncGenerator[E, None]:
    """Like `adrive`, but effects of one kind are handed to whoever iterates."""
    go_on: Callable[[], Any] | None = None
    while True:
        try:
            effect = next(steps) if go_on is None else go_on()
            while True:
                try:
                    if type(effect) is kind:
                        yield effect
                        result = None
                    else:
                        result = await perform(effect)
                except BaseException as failure:
                    error = _as_error(failure)
                    if end is not None and (rest := end(steps, error)) is not None:
                        break
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration:
            return
        except Abandoned:
            raise GeneratorExit from None
        except BaseException as failure:
            if _is_over(steps):
                raise
            go_on = partial(steps.throw, failure)
        else:
            try:
                await rest
            except Abandoned:
                raise GeneratorExit from None
            return


def _is_over(steps: Steps[Any]) -> bool:
    """Whether an error is what a procedure has ended with itself.

    Else a signal was heard between two of its effects, and it is told: it may have something to tidy up.
    """
    return steps.gi_frame is None  # type: ignore[attr-defined]


def through(steps: Steps[T], performed: Callable[[Any], Steps[Any]]) -> Steps[T]:
    """A procedure whose every effect is asked for by another one, which may ask for more before and after it."""
    try:
        effect = next(steps)
        while True:
            try:
                result = yield from performed(effect)
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


class Abandoned(BaseException):
    """Whoever iterated has left. Unlike GeneratorExit it leaves a procedure room to tidy up with effects."""


def _as_error(error: BaseException) -> BaseException:
    return Abandoned() if isinstance(error, GeneratorExit) else error
