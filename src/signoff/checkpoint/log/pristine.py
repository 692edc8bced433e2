"""Copies that tell whether a program has changed objects in place since.

What is plain (texts, numbers, lists and dicts of them) and LangChain's messages can be compared; of anything else
there is no telling. Comparing is one loop in C over all of it.
"""

import sys
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

__all__ = ["ATOMS", "is_as_copied", "pristine_copy"]

ATOMS = frozenset({type(None), bool, int, float, str, bytes})
"""What cannot be changed."""

_PLAIN = frozenset({list, dict})

_fields_of = attrgetter("__dict__")
_extra_of = attrgetter("__pydantic_extra__")


class _NoTelling(Exception):
    """Something that cannot be compared."""


def pristine_copy(elements: Sequence[Any], like: Sequence[Any] = ()) -> list[Any] | None:
    """Copies of objects, to be compared later with those they stand behind; None if that cannot be."""
    first = like or elements
    try:
        if first and type(first[0]) in _messages():
            return [_copied_message(element) for element in elements]
        return [_copied(element) for element in elements]
    except _NoTelling:
        return None


def is_as_copied(elements: Sequence[Any], copies: list[Any]) -> bool:
    """Whether objects are still what they were when they were copied."""
    if elements and type(elements[0]) in _messages():
        # Every one is a message: copying refused any other mixture.
        return list(map(_fields_of, elements)) == copies and not any(map(_extra_of, elements))
    return list(elements) == copies


def _messages() -> frozenset[type]:
    """LangChain's classes of messages, if they are loaded: if not, there are no such objects."""
    global _known
    module = sys.modules.get("langchain_core.messages")
    if not _known and module is not None:
        from signoff.checkpoint.serde.langchain import MESSAGES

        _known = frozenset(getattr(module, name) for name in MESSAGES if hasattr(module, name))
    return _known


_known: frozenset[type] = frozenset()


def _copied_message(message: Any) -> dict[str, Any]:
    if type(message) not in _known or message.__pydantic_extra__ or message.__pydantic_private__ is not None:
        raise _NoTelling
    fields: dict[str, Any] = message.__dict__.copy()
    for name, value in fields.items():
        kind = type(value)
        if kind not in ATOMS:
            fields[name] = _copied(value) if value or kind not in _PLAIN else kind()
    return fields


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is dict:
        return {key: _copied(inner) for key, inner in value.items()}
    if kind is list:
        return [_copied(inner) for inner in value]
    raise _NoTelling
