"""Veils: where somebody changes what a tool says before others see it, the stream of tools shows it changed, too."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["as_shown", "is_veiled", "veiled"]

Veil = Callable[[Any], Any]
"""From what a tool said to what is shown of it."""

_veil: ContextVar[Veil | None] = ContextVar("signoff_veil", default=None)


@contextmanager
def veiled(veil: Veil) -> Iterator[None]:
    """What tools say in here is shown through the veil, and through those around it."""
    around = _veil.get()
    token = _veil.set(veil if around is None else lambda said: around(veil(said)))
    try:
        yield
    finally:
        _veil.reset(token)


def as_shown(said: Any) -> Any:
    """What is shown of something that a tool said."""
    veil = _veil.get()
    return said if veil is None else veil(said)


def is_veiled() -> bool:
    """Whether what is said in pieces cannot be shown: only of the whole can it be told what to show."""
    return _veil.get() is not None
