"""NamedTuples, made quickly where many are made. Nobody sees to it that a part is there for each name."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

__all__ = ["made"]

T = TypeVar("T", bound=tuple[Any, ...])

made = cast(Callable[[type[T], T | tuple[Any, ...]], T], tuple.__new__)
"""One of a kind, out of its parts. The kind's own way is a function in Python, which comes here, too."""
