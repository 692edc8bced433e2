"""Values that need care. Of those that are loaded, the keys of dicts: no item must be lost without a word.

Keys that were not equal when they were stored may be equal now. To look at those of every dict takes long. So it is
done only once an instance was made that has lost some of what told it from others: whoever makes one says so
(`notice`), and the whole value is loaded again, with care.
"""

from collections.abc import Collection
from contextvars import ContextVar
from typing import Any

from signoff.checkpoint.serde.unread import Unread, is_showing
from signoff.errors import Undecodable

__all__ = ["NeedsCare", "looking_at_keys", "notice", "with_each_key"]

_looks: ContextVar[bool] = ContextVar("looks", default=False)


class NeedsCare(Exception):
    """A value cannot be packed or loaded the quick way. A signal, never an error: it passes what handles those."""


def notice(cls: type, lost: Collection[Any]) -> None:
    """Say that an instance is made without what was stored of it: as a key, it may equal another one by now."""
    told_apart: Any = cls.__hash__  # None, if they cannot be keys; object's, if each is like no other
    if lost and told_apart not in (None, object.__hash__) and not _looks.get():
        raise NeedsCare


class looking_at_keys:  # noqa: N801 - it reads as a verb
    """A context in which somebody looks at the keys."""

    def __enter__(self) -> None:
        self._token = _looks.set(True)

    def __exit__(self, *error: object) -> None:
        _looks.reset(self._token)


def with_each_key(pairs: list[tuple[Any, Any]]) -> Any:
    """The dict of these items, with all of them."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    error = Undecodable(
        "Keys of a stored dict that were not equal are equal now, and items would be lost: the class of the keys has "
        "changed since. Give it back the fields that told them apart, or go on with the code that stored it."
    )
    if not is_showing():
        raise error
    return Unread("dict", pairs, error)
