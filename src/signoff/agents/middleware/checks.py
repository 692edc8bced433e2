"""What middleware is made with, checked where it is made: else it would be noticed when a model or a tool fails."""

from collections.abc import Sequence
from typing import Any

from signoff._annotations import refuse_async
from signoff.errors import InvalidInput

__all__ = ["check_count", "check_errors", "check_function", "check_limits", "check_number", "check_text"]


def check_number(name: str, value: Any) -> None:
    """Refuse what is no number, or a negative one."""
    if not isinstance(value, int | float) or not value >= 0:  # which NaN is not
        raise InvalidInput(f"{name} is {value!r}. Give a number that is not negative.")


def check_count(name: str, value: Any) -> None:
    """Refuse what cannot count anything."""
    if not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{name} is {value!r}. Give a whole number that is not negative.")


def check_limits(whose: str, **limits: Any) -> None:
    """Refuse what cannot limit a count; None is no limit, but not all of them may be that."""
    if all(limit is None for limit in limits.values()):
        raise InvalidInput(f"{whose} needs a {', a '.join(limits)}, or both.")
    for name, limit in limits.items():
        if limit is not None:
            check_count(name, limit)


def check_text(name: str, value: Any) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {value!r}. Give a text.")


def check_function(name: str, value: Any) -> None:
    """Refuse what can be called by nobody, or is awaited by nobody; None is no function to call."""
    if value is not None and not callable(value):
        raise InvalidInput(f"{name} is {value!r}. Give a function.")
    refuse_async(name, value, InvalidInput)


def check_errors(name: str, value: Any) -> None:
    """Refuse what tells no errors from others: exception classes do, and functions."""
    listed = value if isinstance(value, Sequence) else ()
    are_classes = all(isinstance(one, type) and issubclass(one, BaseException) for one in listed)
    if not (callable(value) or (listed and are_classes)):
        raise InvalidInput(f"{name} is {value!r}. Give a tuple of exception classes, or a function of an error.")
    refuse_async(name, value, InvalidInput)
