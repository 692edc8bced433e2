"""What a saver remembers of the newest checkpoints: to store the next one, and to read them again, without looking.

Only a shortcut. Each checkpoint has a seal, a number by chance that is another one if it is stored again: whether what
is remembered is still so, the database is asked by it.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from signoff._forks import free, watch
from signoff._locks import Lock
from signoff.checkpoint.log.growth import Tracked
from signoff.checkpoint.log.known import Known

__all__ = ["Memory", "Track"]

SIZE = 1024
"""How many threads and namespaces are remembered."""

MOST_ITEMS = 100_000
"""How many items of their lists: those are kept alive."""

MOST_BYTES = 128 * 1024 * 1024
"""How much these take where they are stored, and here about twice. A single thread may have more."""

Where = tuple[str, str]
"""A thread and a namespace."""


class Track(NamedTuple):
    """The lists of a checkpoint that was prepared, or read, as the program has them."""

    id: str
    seal: int
    lists: Mapping[str, Tracked]
    is_warm: bool = True
    """Whether only runs have seen the objects, so that the next run may have them, too."""

    @property
    def items(self) -> int:
        return sum([len(tracked.elements) for tracked in self.lists.values()])

    @property
    def size(self) -> int:
        return sum([tracked.size for tracked in self.lists.values()])


class Memory:
    """The last checkpoint that was stored or read in each thread and namespace, and the last one prepared."""

    def __init__(self) -> None:
        self._known: dict[Where, Known] = {}
        self._ahead: dict[Where, Known] = {}
        """Checkpoints that are on their way to the database."""
        self._tracks: OrderedDict[Where, Track] = OrderedDict()
        self._items = self._bytes = 0
        self._lock = free(Lock())
        watch(self)

    def known(self, where: Where, id: str | None) -> Known | None:
        """What is known of a checkpoint, if it is the last one seen at its place; of any, if none is named."""
        known = self._known.get(where)
        return known if known is not None and id in (None, known.id) else None

    def newest(self, where: Where, id: str | None) -> Known | None:
        """What is known of a checkpoint that is stored or on its way, for one that has no lists."""
        if where in self._tracks:
            return None
        known = self._ahead.get(where)
        if known is None or known.id != id:
            known = self._known.get(where)
        return known if known is not None and known.id == id else None

    def go_ahead(self, where: Where, known: Known) -> None:
        """Remember a checkpoint that is on its way to the database."""
        self._ahead[where] = known

    def learn(self, news: Mapping[Where, Known]) -> None:
        """Remember checkpoints that were stored or read; places that were seen first long ago are forgotten."""
        known, ahead = self._known, self._ahead
        for where, one in news.items():
            known[where] = one
            if ahead and ahead.get(where) is one:
                ahead.pop(where, None)  # unless somebody else has, in this moment
        if len(known) > SIZE:
            with self._lock:
                for place in list(known)[: len(known) - SIZE * 7 // 8]:
                    del known[place]

    def forget(self) -> None:
        """Remember nothing: rows were removed or rewritten."""
        with self._lock:
            self._known.clear()
            self._ahead.clear()
            self._tracks.clear()
            self._items = self._bytes = 0

    def after_fork(self) -> None:
        """In a forked child: what threads of the parent were about to note is half there."""
        self.forget()

    def take_track(self, where: Where, id: str | None) -> Track | None:
        """The lists of a checkpoint, to be changed: nobody else gets them, until they are put back."""
        if where not in self._tracks:
            return None
        with self._lock:
            track = self._tracks.get(where)
            if track is None or track.id != id:
                return None
            self._drop(where)
            return track

    def put_track(self, where: Where, track: Track) -> None:
        """Remember the lists of a checkpoint."""
        with self._lock:
            self._drop(where)
            if not track.lists or track.items > MOST_ITEMS:
                return
            self._tracks[where] = track
            self._items, self._bytes = self._items + track.items, self._bytes + track.size
            while len(self._tracks) > 1 and self._is_too_much:
                self._drop(next(iter(self._tracks)))

    def offer_track(self, where: Where, track: Track) -> None:
        """Remember the lists of a checkpoint that was read, unless there are newer ones.

        Those that a run has read take the place of others that it did not get.
        """
        known = self._tracks.get(where)
        if known is None or known.id < track.id or (known.id == track.id and known.seal != track.seal):
            self.put_track(where, track)
        elif known.id == track.id and track.is_warm:
            lists = {**known.lists, **track.lists} if known.is_warm else track.lists
            self.put_track(where, Track(track.id, track.seal, lists))

    def lose_track(self, where: Where) -> None:
        """Forget the lists of a checkpoint that could not be stored, and what was to come after it."""
        with self._lock:
            self._ahead.pop(where, None)
            self._drop(where)

    def warm(self, where: Where, id: str | None) -> tuple[Known, Mapping[str, Any]] | None:
        """What can be handed out again of a checkpoint: all that is known of it, and lists that nobody touched."""
        known = self.known(where, id)
        if known is None:
            return None
        if where not in self._tracks:
            return known, {}
        with self._lock:
            track = self._tracks.get(where)
            if track is None or track.seal != known.seal or not track.is_warm:
                return known, {}
            return known, {name: one.elements[:] for name, one in track.lists.items() if one.is_untouched}

    @property
    def _is_too_much(self) -> bool:
        return self._items > MOST_ITEMS or self._bytes > MOST_BYTES or len(self._tracks) > SIZE

    def _drop(self, where: Where) -> None:
        track = self._tracks.pop(where, None)
        if track is not None:
            self._items, self._bytes = self._items - track.items, self._bytes - track.size
