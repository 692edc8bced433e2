"""What a node is given. An attempt that has failed leaves no trace in it: the next one, and whoever handles the
failure, begins with what the first one was given."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

_CHANGEABLE = frozenset((list, dict, set))


def noted(input: Any) -> Callable[[], None]:
    """Note what an input holds: its keys, or fields, and the lists, dicts and sets in these. What it returns puts all
    of that back."""
    held = _held(input)
    before = [(one, one.copy()) for one in (*held.values(), held) if type(one) in _CHANGEABLE]

    def put_back() -> None:
        for one, was in before:
            if type(one) is list:
                one[:] = was
            else:
                one.clear()
                one.update(was)

    return put_back


def _held(input: Any) -> dict[str, Any]:
    if type(input) is dict:
        return input
    is_state = is_dataclass(input) or hasattr(type(input), "model_fields")
    return getattr(input, "__dict__", {}) if is_state else {}
