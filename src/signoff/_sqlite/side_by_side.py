"""Procedures side by side, in the one thread of a connection: what they want to write at a time is written together."""

from collections.abc import Callable, Sequence
from typing import Any

from signoff._sqlite.effects import Write, WriteOne
from signoff._sqlite.together import Turn
from signoff.steps import Steps

__all__ = ["Running", "run_together"]


def run_together(
    procedures: Sequence[Steps[Any]], perform: Callable[[Any], Any], write: Callable[[Sequence[Turn]], None]
) -> list["Running"]:
    """Run procedures side by side, each to its end."""
    running = [Running(steps) for steps in procedures]
    for one in running:
        one.go_on(perform)
    while writing := [one for one in running if one.turn is not None]:
        turns = [one.turn for one in writing if one.turn is not None]
        if len(turns) > 1:
            try:
                write(turns)
            except Exception:
                pass  # then each tries for itself, and hears what is wrong
        for one in writing:
            one.go_on(perform)
    return running


class Running:
    """A procedure on its way."""

    def __init__(self, steps: Steps[Any]) -> None:
        self._steps = steps
        self.turn: Turn | None = None
        """What it wants to write."""
        self.result: Any = None
        self.error: BaseException | None = None

    def go_on(self, perform: Callable[[Any], Any]) -> None:
        """Perform its effects until it wants to write, or has come to its end."""
        turn, self.turn = self.turn, None
        try:
            effect = next(self._steps) if turn is None else self._told(turn, perform)
            while type(effect) is not Write and type(effect) is not WriteOne:
                effect = self._performed(effect, perform)
            self.turn = Turn(effect)
        except StopIteration as stop:
            self.result = stop.value
        except BaseException as error:
            self.error = error

    def _told(self, turn: Turn, perform: Callable[[Any], Any]) -> Any:
        if not turn.is_over:
            return self._performed(turn.effect, perform)
        return self._steps.send(turn.result) if turn.error is None else self._steps.throw(turn.error)

    def _performed(self, effect: Any, perform: Callable[[Any], Any]) -> Any:
        try:
            result = perform(effect)
        except BaseException as error:
            return self._steps.throw(error)
        return self._steps.send(result)
