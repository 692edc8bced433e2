"""Namespaces: which ones are allowed."""

from functools import lru_cache
from typing import Any, Literal

from signoff.errors import InvalidInput

__all__ = [
    "InvalidNamespaceError",
    "NamespaceMatchType",
    "NamespacePath",
    "as_key",
    "as_namespace",
    "check_key",
    "check_place",
    "check_root",
    "place_of",
    "validate_labels",
    "validate_namespace",
]

NamespacePath = tuple[str | Literal["*"], ...]
"""Labels to match; "*" stands for any one label."""

NamespaceMatchType = Literal["prefix", "suffix"]

RESERVED_ROOTS = frozenset({"langgraph", "signoff"})

_REMEMBERED = 1024
"""How many namespaces are known to be good, so that they are not looked at again."""


class InvalidNamespaceError(InvalidInput):
    """A namespace that nothing can be stored under; nothing was written."""


def validate_namespace(namespace: tuple[str, ...]) -> None:
    """Refuse a namespace that a user must not write to: empty, with bad labels, or with a reserved root."""
    validate_labels(namespace)
    check_root(namespace)


def validate_labels(namespace: tuple[str, ...]) -> None:
    """Refuse a namespace that is not a tuple of texts, each of them neither empty nor with a period in it."""
    try:
        _remembered(namespace)
    except TypeError:  # what has no hash is not remembered
        _validate_labels(namespace)


def as_namespace(labels: Any) -> Any:
    """A list of labels as the tuple that is meant; anything else as it is, for validation to judge."""
    return tuple(labels) if isinstance(labels, list | tuple) else labels


def place_of(namespace: Any, key: object) -> tuple[tuple[str, ...], str]:
    """Where an item is: the namespace and the key that are meant, none of them with a mistake."""
    if type(namespace) is not tuple:
        namespace = as_namespace(namespace)
    if type(key) is not str:
        key = as_key(key)
    check_place(namespace, key)
    return namespace, key


def check_place(namespace: tuple[str, ...], key: str) -> None:
    """Refuse a namespace with bad labels, and a key that is no text."""
    if type(key) is not str or not key.isascii():
        check_key(key)
    validate_labels(namespace)


def as_key(key: object) -> str:
    """The key as text: ids are often numbers or UUIDs. None is a forgotten key, not a name."""
    if key is None:
        raise InvalidInput("The key is None: give the item a key, such as str(uuid.uuid4()).")
    return str(key)


def check_root(namespace: tuple[str, ...]) -> None:
    """Refuse a namespace without labels, or with a first one that is reserved."""
    if not namespace:
        raise InvalidNamespaceError("The namespace is empty: give at least one label, such as ('users',).")
    if namespace[0] in RESERVED_ROOTS:
        raise InvalidNamespaceError(
            f"The namespace {namespace!r} begins with {namespace[0]!r}, which is reserved: "
            "begin it with a label of your own."
        )


def check_key(key: object) -> None:
    """Refuse a key that is no text, or none that a database could store."""
    if not isinstance(key, str):
        raise InvalidInput(f"The key {key!r} is not a string: name items with texts, such as str({key!r}).")
    if not key.isascii() and _has_surrogate(key):
        raise InvalidInput(f"The key {key!r} is not valid text: it has half of a surrogate pair.")


def _validate_labels(namespace: tuple[str, ...]) -> None:
    if not isinstance(namespace, tuple):
        raise InvalidNamespaceError(
            f"A namespace is a tuple of strings, not {_named(namespace)}: write ('users', 'ana')."
        )
    for label in namespace:
        _validate_label(label, namespace)


_remembered = lru_cache(_REMEMBERED)(_validate_labels)


def _validate_label(label: object, namespace: tuple[str, ...]) -> None:
    if not isinstance(label, str):
        raise InvalidNamespaceError(f"The namespace {namespace!r} has {_named(label)} in it: labels are strings.")
    if not label:
        raise InvalidNamespaceError(f"The namespace {namespace!r} has an empty label: leave it out or name it.")
    if "." in label:
        # Stores join labels with periods: ("a.b",) and ("a", "b") would be the same place.
        raise InvalidNamespaceError(
            f"The label {label!r} of the namespace {namespace!r} has a period in it: "
            f"write {tuple(label.split('.'))!r} for levels, or another character."
        )
    if not label.isascii() and _has_surrogate(label):
        raise InvalidNamespaceError(f"The label {label!r} is not valid text: it has half of a surrogate pair.")


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _named(thing: object) -> str:
    return f"{type(thing).__name__} {thing!r}"
