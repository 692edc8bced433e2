"""Values that cannot be made any more, for whoever only looks.

A run gets all of its state, or `Undecodable`. A person who looks at a thread is better served with the rest of it: in
the place of a value whose class is not registered, or has changed too much, stands an `Unread`.
"""

from collections.abc import Iterable, Mapping, Set
from contextvars import ContextVar, Token
from typing import Any

from signoff.errors import Undecodable

__all__ = ["Unread", "is_showing", "showing", "unread_in"]

_shows: ContextVar[bool] = ContextVar("shows", default=False)


class Unread:
    """What is shown of a stored value whose class cannot be made here. It cannot be stored again."""

    __slots__ = ("fields", "type_name", "why")

    def __init__(self, type_name: str, fields: Any, why: Undecodable) -> None:
        self.type_name = type_name
        """The class it had, as `module:qualname`, or by the name it was registered with."""
        self.fields = fields
        """What was stored of it: mostly its fields by name."""
        self.why = why
        """Why it cannot be read, and what to do."""

    def __repr__(self) -> str:
        name = self.type_name.rpartition(":")[2].rpartition(".")[2]
        if type(self.fields) is not dict:
            return f"<unread {name}: {self.fields!r}>"
        return f"<unread {name}: {', '.join(f'{field}={value!r}' for field, value in self.fields.items())}>"


def unread_in(value: Any) -> Unread | None:
    """The first `Unread` that is somewhere in a value."""
    if type(value) is Unread:
        return value
    found = map(unread_in, _parts(value))
    return next((one for one in found if one is not None), None)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | Set):
        return value
    if isinstance(value, type):
        return ()
    names = getattr(type(value), "__slots__", ())
    slots = [getattr(value, name, None) for name in ([names] if isinstance(names, str) else names)]
    return [*slots, *getattr(value, "__dict__", {}).values()]


class showing:  # noqa: N801 - it reads as a verb
    """A context in which a value that cannot be made is an `Unread`."""

    __slots__ = ("_shows", "_token")

    def __init__(self, shows: bool = True) -> None:
        self._shows = shows

    def __enter__(self) -> None:
        self._token: Token[bool] = _shows.set(self._shows)

    def __exit__(self, *error: object) -> None:
        _shows.reset(self._token)


def is_showing() -> bool:
    """Whether whoever reads only looks."""
    return _shows.get()
