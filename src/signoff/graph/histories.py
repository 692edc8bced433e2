"""Lists that grow: what is known about one is learned once, and then only about what is new in it.

A list is known by its objects. One that was read anew, or cut, is looked at as a whole.
"""

from collections.abc import Sequence
from operator import attrgetter, is_
from typing import Any

__all__ = ["Histories", "History"]

MOST_KNOWN = 32
"""How many lists are known at a time."""

_id_of = attrgetter("id")


class History:
    """A list of messages as it was seen last."""

    __slots__ = ("ids", "messages", "places")

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.ids: set[Any] = set()
        self.places: set[int] = set()
        """Which objects the messages are."""

    def learn(self, new: Sequence[Any]) -> None:
        """See more of the list."""
        self.messages += new
        self.ids.update(map(_id_of, new))
        self.places.update(map(id, new))


class Histories:
    """The lists that were seen last. Safe to share between threads: at worst, too much is taken to be in a list."""

    def __init__(self) -> None:
        self._known: dict[int, History] = {}
        """By the first message, which lives as long as it stands here, so that its place is nobody else's."""

    def of(self, messages: Sequence[Any]) -> History:
        """What is known of a list."""
        if not messages:
            return History()
        first = id(messages[0])
        history = self._known.pop(first, None)
        if history is None or not _is_longer(messages, history.messages):
            history = History()
        history.learn(messages[len(history.messages) :])
        self._known[first] = history
        if len(self._known) > MOST_KNOWN:
            self._known.pop(next(iter(self._known)), None)
        return history


def _is_longer(messages: Sequence[Any], known: Sequence[Any]) -> bool:
    return len(known) <= len(messages) and all(map(is_, known, messages))
