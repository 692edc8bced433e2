"""Names: a word is shown, pickled and stored under the name that users import it by."""

from typing import TypeVar

__all__ = ["public"]

T = TypeVar("T")


def public(word: T) -> T:
    """A word that users find in `signoff.types`, wherever it is defined."""
    word.__module__ = "signoff.types"
    return word
