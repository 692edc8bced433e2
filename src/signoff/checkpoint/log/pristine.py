"""Whether a program has changed objects in place.

What is plain (texts, numbers, lists and dicts of them) and LangChain's messages can be watched; of anything else there
is no telling. Looking is a few calls into C, since it happens at the beginning of every run.
"""

import sys
from collections.abc import Iterable
from gc import get_referents
from itertools import chain, pairwise, repeat
from operator import is_
from typing import Any

from signoff.constants import ATOMS

__all__ = ["Watch", "messages"]

PLAIN = frozenset({dict, list})

_TELLING = frozenset({type(None), str, bytes})
"""What equals nothing but its like. A number may equal one of another kind, and so may two lists that have them."""

MAX_DEPTH = 200
"""What is deeper cannot be stored, or contains itself."""

_BOUNDARY = (object(),)
"""Stands between containers that have something in them: what moves from one to the next is seen."""


class Watch:
    """Tells whether objects are still as they were when it began to watch them."""

    __slots__ = ("_containers", "_contents", "_exact", "_keyed", "_keys", "_seen", "can_tell")

    def __init__(self, elements: Iterable[Any]) -> None:
        self.can_tell = True
        self._containers: list[Any] = []
        """Every dict and list in the objects, and the dicts that messages keep their fields in."""
        self._contents: list[Any] = []
        """What the containers referred to. Kept alive, so that nothing else gets the identity of any of it."""
        self._exact: list[int] = []
        """Where in it is something that must be the same object: it could be equal and yet another value."""
        self._keyed: list[dict[Any, Any]] = []
        """The dicts that are not a message's own: their keys can change, too."""
        self._keys: list[Any] = []
        self._seen: set[int] = set()
        """The identities of all that could be changed."""
        self.add(elements)

    def add(self, elements: Iterable[Any]) -> None:
        """Watch more objects, and all that is in them, level by level."""
        items = list(elements)
        for _ in range(MAX_DEPTH if self.can_tell else 0):
            kinds = set(map(type, items)) - ATOMS
            if not kinds:
                return
            if not kinds <= PLAIN | messages():
                break
            items = self._look_into([item for item in items if type(item) not in ATOMS])
        self.can_tell = False

    @property
    def is_untouched(self) -> bool:
        """Whether everything is as it was. A text that equals the old one is the same."""
        if not self.can_tell:
            return False
        contents = get_referents(*self._containers)
        try:
            if contents != self._contents or list(chain.from_iterable(self._keyed)) != self._keys:
                return False
        except Exception:  # somebody has put something there that cannot be compared
            return False
        return all(map(is_, [contents[at] for at in self._exact], [self._contents[at] for at in self._exact]))

    def _look_into(self, found: list[Any]) -> list[Any]:
        """Note what is in containers and messages, and return it."""
        known = len(self._seen)
        self._seen.update(map(id, found))
        if len(self._seen) < known + len(found):
            # One object in two places: whoever changes it changes both, and what is stored comes back as two.
            self.can_tell = False
        kinds = set(map(type, found))
        plain = found if kinds <= PLAIN else [one for one in found if type(one) in PLAIN]
        containers = plain if not any(plain) else _bounded(plain)
        if len(plain) < len(found):
            containers = [*self._containers_of([one for one in found if type(one) not in PLAIN]), *containers]
        contents = get_referents(*containers)
        before = len(self._contents)
        self._exact += [
            at
            for at, one in enumerate(contents, before)
            if type(one) not in _TELLING and (type(one) not in PLAIN or one)
        ]
        self._containers += containers
        self._contents += contents
        keyed = [one for one in plain if one and type(one) is dict] if dict in kinds else []
        self._keyed += keyed
        self._add_keys(keyed)
        return [item for item in contents if item is not _BOUNDARY[0]]

    def _add_keys(self, keyed: list[dict[Any, Any]]) -> None:
        keys = list(chain.from_iterable(keyed))
        self.can_tell = self.can_tell and _TELLING.issuperset(map(type, keys))
        self._keys += keys

    def _containers_of(self, said: list[Any]) -> list[Any]:
        """What messages keep their fields in: pydantic changes it in place, whatever is set on a message."""
        self.can_tell = self.can_tell and all(message.__pydantic_private__ is None for message in said)
        return [part for message in said for part in (message.__pydantic_extra__, message.__dict__)]


def _bounded(plain: list[Any]) -> list[Any]:
    """Containers with a boundary before and after each that has something in it."""
    if all(plain):
        return [*chain.from_iterable(zip(repeat(_BOUNDARY), plain)), _BOUNDARY]
    containers: list[Any] = []
    for before, one in pairwise([None, *plain]):
        containers += (_BOUNDARY, one) if one or before else (one,)
    return [*containers, _BOUNDARY]


def messages() -> frozenset[type]:
    """LangChain's classes of messages, if they are loaded: if not, there are no such objects."""
    global _known
    module = sys.modules.get("langchain_core.messages")
    if not _known and module is not None:
        from signoff.checkpoint.serde.langchain import MESSAGES

        _known = frozenset(getattr(module, name) for name in MESSAGES if hasattr(module, name))
    return _known


_known: frozenset[type] = frozenset()
