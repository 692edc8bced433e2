"""What somebody is given who may change it: a node, and the reader of a stream.

An attempt that has failed leaves no trace in it: the next one, and whoever handles the failure, begins with what the
first one was given. And a list that is emptied as it is read is not the one that the run goes on with.
"""

from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

from signoff._copies import apart


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
