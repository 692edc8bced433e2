"""What a saver remembers of the newest checkpoints, so that the next one need not look at its parent."""

import threading
from collections.abc import Iterable
from typing import NamedTuple

from signoff.checkpoint.delta import Shape

__all__ = ["Known", "Memo"]

SIZE = 1024
"""How many threads and namespaces are remembered."""


class Known(NamedTuple):
    """What is known of a stored checkpoint."""

    id: str
    depth: int
    seal: int
    shape: Shape


class Memo:
    """The last checkpoint that was stored or read in each thread and namespace.

    Only a shortcut: whether the checkpoint is still there, and still the same, the statement that stores a child
    of it asks the database.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Known] = {}
        self._lock = threading.Lock()

    def get(self, thread_id: str, ns: str, id: str) -> Known | None:
        """What is known of a checkpoint, if it is the last one seen at its place."""
        known = self._known.get((thread_id, ns))
        return known if known is not None and known.id == id else None

    def learn(self, news: Iterable[tuple[tuple[str, str], Known]]) -> None:
        """Remember checkpoints; places that were seen first long ago are forgotten."""
        self._known.update(news)
        if len(self._known) > SIZE:
            with self._lock:
                for place in list(self._known)[: SIZE // 8]:
                    del self._known[place]

    def forget(self) -> None:
        """Remember nothing: rows were removed or rewritten."""
        with self._lock:
            self._known.clear()
