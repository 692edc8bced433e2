"""What the checks of stores are made of."""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

__all__ = ["Clock", "Embed", "OpenStore", "Run", "letters"]

Embed = Callable[[Iterable[str]], list[list[float]]]
OpenStore = Callable[..., Any]
Run = Callable[[Coroutine[Any, Any, Any]], Any]


class Clock:
    """Tells the time that a check says it is."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, *, minutes: float) -> None:
        """Let time pass."""
        self.now += minutes * 60


def letters(texts: Iterable[str]) -> list[list[float]]:
    """How often each of the letters a to d occurs in each text."""
    return [[float(text.count(letter)) for letter in "abcd"] for text in texts]
