"""Prefixes: what all keys of a saver, a store or a cache begin with."""

from signoff.errors import InvalidInput

__all__ = ["checked_prefix"]


def checked_prefix(prefix: str) -> str:
    """The prefix as it is, if it can stand in braces in front of a key."""
    if not isinstance(prefix, str) or not prefix or not {"{", "}"}.isdisjoint(prefix):
        raise InvalidInput(f"prefix={prefix!r}: give a text to begin all keys with, without braces.")
    if any("\ud800" <= letter <= "\udfff" for letter in prefix):
        raise InvalidInput(f"prefix={prefix!r} is not valid text: it has half of a surrogate pair.")
    return prefix
