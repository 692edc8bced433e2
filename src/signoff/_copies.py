"""Copies: of what somebody may change in place, as deep as it has to be."""

from copy import deepcopy
from typing import Any

from signoff.constants import ATOMS

__all__ = ["apart", "copied", "own"]

_CHANGEABLE = frozenset((list, dict, set))
_FLAT, _NESTED = frozenset((list, set)), _CHANGEABLE | {tuple}

_LEVELS = 8
"""How deep dicts in each other are copied: what is in itself has no end."""


def own(value: Any) -> Any:
    """A list, a dict or a set that nobody else has; what is in it, others have, too. Anything else is itself."""
    return value.copy() if type(value) in _CHANGEABLE else value


def apart(value: Any, levels: int = _LEVELS) -> Any:
    """The same with what is in a dict, and in the dicts in it, and in a tuple; but the items of a list stay what they
    are, which programs know them by."""
    kind = type(value)
    if kind is tuple and levels:
        return tuple([apart(one, levels - 1) if type(one) in _NESTED else one for one in value])
    if kind not in _CHANGEABLE:
        return value
    again = value.copy()
    if kind is dict and levels and not _NESTED.isdisjoint(map(type, value.values())):
        for name, one in value.items():
            if type(one) in _FLAT:
                again[name] = one.copy()
            elif type(one) in _NESTED:
                again[name] = apart(one, levels - 1)
    return again


def copied(value: Any) -> Any:
    """A copy of a value, objects included, as far as there can be one."""
    if type(value) in ATOMS:
        return value
    try:
        return deepcopy(value)
    except Exception:
        return apart(value)
