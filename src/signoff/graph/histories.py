"""Lists that grow: what is known about one is learned once, and then only about what is new in it.

A list is known by its messages. One that is another, or was cut, is looked at as a whole.
"""

from collections.abc import Sequence
from operator import attrgetter
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

    def begun(self, messages: list[Any]) -> History:
        """What is known of the beginning of a list; nothing if it is another one than before."""
        history = self._known.pop(id(messages[0]), None) if messages else None
        return history if history is not None and _begins_with(messages, history.messages) else History()

    def keep(self, history: History) -> None:
        """Remember what is known of a list."""
        if history.messages:
            self._known[id(history.messages[0])] = history
            if len(self._known) > MOST_KNOWN:
                self._known.pop(next(iter(self._known)), None)


def _begins_with(messages: list[Any], known: list[Any]) -> bool:
    """Whether a list, which is cut for a moment, begins with what is known.

    To compare lists looks at which objects they have first: it takes 2 ns for each, less than to make a slice.
    """
    rest = messages[len(known) :]
    del messages[len(known) :]
    try:
        return messages == known
    except Exception:  # something in a message that cannot be compared
        return False
    finally:
        messages += rest
