"""What somebody is given who may change it: a node, and the reader of a stream.

An attempt that has failed leaves no trace in it: the next one, and whoever handles the failure, begins with what the
first one was given. And a list that is emptied as it is read is not the one that the run goes on with.
"""

from copy import copy, deepcopy
from dataclasses import fields, is_dataclass
from typing import Any

from signoff.constants import ATOMS

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


def anew(input: Any) -> Any:
    """The input of a node with keys, or fields, of its own, and with lists, dicts and sets of its own in them.

    What a node changes in these nobody else sees. Objects that a Send brings may be there to be changed.
    """
    kind = type(input)
    if kind is dict or (not is_dataclass(kind) and not hasattr(kind, "model_fields")):
        return apart(input)
    again = copy(input)
    if hasattr(again, "__dict__"):
        again.__dict__.update(apart(again.__dict__))
    else:
        for name in (field.name for field in fields(again) if hasattr(again, field.name)):
            object.__setattr__(again, name, apart(getattr(again, name)))  # frozen ones, too
    return again
