"""Whether a program has changed objects in place.

What is plain (texts, numbers, lists and dicts of them) and LangChain's messages can be watched; of anything else there
is no telling. Looking is one call into C, since it happens at the beginning of every run.
"""

import sys
from collections.abc import Iterable
from gc import get_referents
from typing import Any

__all__ = ["ATOMS", "Watch", "messages"]

ATOMS = frozenset({type(None), bool, int, float, str, bytes})
"""What cannot be changed."""


class Watch:
    """Tells whether objects are still as they were when it began to watch them."""

    __slots__ = ("_containers", "_contents", "_keyed", "_keys", "can_tell")

    def __init__(self, elements: Iterable[Any]) -> None:
        self.can_tell = True
        self._containers: list[Any] = []
        """Every dict and list in the objects, and the dicts that messages keep their fields in."""
        self._contents: list[Any] = []
        """What the containers referred to. Kept alive, so that nothing else gets the identity of any of it."""
        self._keyed: list[dict[Any, Any]] = []
        """The dicts that are not a message's own: their keys can change, too."""
        self._keys: list[list[Any]] = []
        self.add(elements)

    def add(self, elements: Iterable[Any]) -> None:
        """Watch more objects."""
        if self.can_tell:
            start, at = len(self._containers), len(self._keyed)
            self.can_tell = all(map(self._find, elements))
            self._contents += get_referents(*self._containers[start:])
            self._keys += map(list, self._keyed[at:])

    @property
    def is_untouched(self) -> bool:
        """Whether everything is as it was. Something new that equals the old is the same."""
        return (
            self.can_tell
            and get_referents(*self._containers) == self._contents
            and list(map(list, self._keyed)) == self._keys
        )

    def _find(self, value: Any) -> bool:
        """Note the containers in a value; False if there is no telling."""
        kind = type(value)
        if kind in ATOMS:
            return True
        if kind in messages():
            # pydantic changes both of them in place, whatever is set on the message.
            fields = value.__dict__
            self._containers += (fields, value.__pydantic_extra__)
            inner = [one for one in fields.values() if type(one) not in ATOMS]
            return value.__pydantic_private__ is None and all(map(self._find, inner))
        if kind is not dict and kind is not list:
            return False
        self._containers.append(value)
        if value and kind is dict:
            self._keyed.append(value)
        return all(map(self._find, value.values() if kind is dict else value))


def messages() -> frozenset[type]:
    """LangChain's classes of messages, if they are loaded: if not, there are no such objects."""
    global _known
    module = sys.modules.get("langchain_core.messages")
    if not _known and module is not None:
        from signoff.checkpoint.serde.langchain import MESSAGES

        _known = frozenset(getattr(module, name) for name in MESSAGES if hasattr(module, name))
    return _known


_known: frozenset[type] = frozenset()
