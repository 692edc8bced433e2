"""What a step did to a list, found without encoding or comparing what was there before.

The saver remembers which objects a list of the newest checkpoint consists of. An object that is still in the list is
not encoded again, unless the step wrote it: a node may have changed a message and returned it. What was written
is encoded and compared, by its digest, with what is stored.
"""

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from itertools import count
from operator import is_
from typing import Any, NamedTuple

from signoff.checkpoint.encoding import Blob
from signoff.checkpoint.log.pristine import Watch, messages
from signoff.checkpoint.log.values import Part, Spans, digest_of, laid_out
from signoff.constants import ATOMS

__all__ = ["Edit", "MOST_SPANS", "Tracked", "Written", "whole", "written_in"]

MOST_SPANS = 16
"""A list out of more slices is written anew, as one."""

Encode = Callable[[Sequence[Any]], list[Blob]]
"""Values to blobs, each by itself."""

Stored = Callable[[], Iterable[Blob]]


class Written(NamedTuple):
    """What a step wrote to a list, by the identities of the objects: whatever could have been changed."""

    all: Set[int] = frozenset()
    items: Set[int] = frozenset()
    """Without the lists that items were written in."""


class Edit(NamedTuple):
    """A list that is to be stored: slices of the one before, and new items."""

    parts: Sequence[Part]
    fresh: dict[int, int]
    """Where the new items are in the list, by the identity of the objects."""

    @property
    def stands_alone(self) -> bool:
        """Whether nothing of the list before is in it."""
        return not any(isinstance(part, tuple) for part in self.parts)

    @property
    def size(self) -> int:
        """How many bytes the new items take."""
        return sum(_size_of(part) for part in self.parts if isinstance(part, list))


class Tracked:
    """A list of the newest checkpoint: the objects that it consisted of when it was stored or read."""

    __slots__ = ("_blobs", "_digests", "_index", "_kinds", "_spans", "_stored", "_watch", "elements", "size")

    def __init__(
        self,
        elements: Iterable[Any],
        blobs: Sequence[Blob] = (),
        *,
        stored: Stored = tuple,
        size: int = 0,
        is_warm: bool = True,
    ) -> None:
        self.elements = list(elements)
        """Kept alive, so that no other object gets their identity."""
        self.size = size + _size_of(blobs)
        """About how many bytes they take where they are stored."""
        self._kinds: set[type] | None = None
        """Of which classes they are, once somebody asks."""
        self._watch = Watch(self.elements) if is_warm else None
        """Who tells whether the program touches them."""
        self._index: dict[int, int] | None = None
        """Where each object is, once somebody asks."""
        self._stored: Stored | None = stored
        """Who tells how the first of them are stored, until their digests are needed,"""
        self._blobs = list(blobs)
        """and how all others are."""
        self._digests: list[bytes] = []
        self._spans: Spans = ((0, 0, len(self.elements)),)
        """How the list is sliced, with lineages of no meaning: to see when there are too many."""

    @property
    def is_untouched(self) -> bool:
        """Whether the objects are still as they were stored."""
        return self._watch is not None and self._watch.is_untouched

    def edited(self, value: list[Any], written: Written, encode: Encode, *, is_told: bool = True) -> Edit:
        """What a step did to the list, which is this value now.

        is_told: whether it wrote nothing else.
        """
        news = value[len(self.elements) :]
        if not is_told or not _has_all(news, written):
            written = self._doubtful(value, written, is_told=is_told)
        if self._is_longer(value, news, written) and self._places().keys().isdisjoint(written.all):
            return self._appended(news, encode)
        edit = self._rearranged(value, written.all, encode)
        spans, _ = laid_out(self._spans, edit.parts, _numbers(self._spans))
        if len(spans) > MOST_SPANS:
            blobs = encode(value)
            edit, spans = whole(value, blobs), ((0, 0, len(value)),)
            self._digests, self._blobs = [], list(blobs)
        self.size = self.size * (len(value) - len(edit.fresh)) // max(len(self.elements), 1) + edit.size
        self._become(value, spans)
        return edit

    def _doubtful(self, value: list[Any], written: Written, *, is_told: bool) -> Written:
        """What may have been changed in place by a step that has not only written new items."""
        if self.is_untouched:
            known = self._places().keys()  # what was there is as it was, whoever wrote it
            return Written(written.all - known, written.items - known)
        if is_told and _has_all(value, written):
            return written
        # Whoever changed an item may have meant it: a reducer, perhaps, that puts what was written into it.
        everything = set(map(id, value))
        return Written(everything, everything)

    def _is_longer(self, value: list[Any], news: list[Any], written: Written) -> bool:
        """Whether the list begins with the objects that it had."""
        if not messages().issuperset(self._all_kinds()) or not set(map(id, news)).issuperset(written.items):
            return len(value) >= len(self.elements) and all(map(is_, value, self.elements))
        # To compare lists looks at which objects they have first: it takes 2 ns for each. If there is another message
        # that nobody wrote, which equals the one before, what is stored is as good.
        before = len(self.elements)
        self.elements += news
        try:
            return self.elements == value
        except Exception:  # something in a message that cannot be compared
            return False
        finally:
            del self.elements[before:]

    def _appended(self, news: list[Any], encode: Encode) -> Edit:
        before = len(self.elements)
        if not news:
            return Edit([(0, before)], {})
        blobs = encode(news)
        fresh = {id(element): before + at for at, element in enumerate(news)}
        if self._watch is not None:
            self._watch.add(news)
        self._places().update(fresh)
        self.elements += news
        self.size += _size_of(blobs)
        self._all_kinds().update(map(type, news))
        self._blobs += blobs
        lineage, first, end = self._spans[-1]
        self._spans = (*self._spans[:-1], (lineage, first, end + len(news)))
        return Edit([(0, before), blobs], fresh)

    def _rearranged(self, value: list[Any], written: Collection[int], encode: Encode) -> Edit:
        stored = self._known()
        places = {digest: at for at, digest in enumerate(stored)}
        parts: list[Part] = []
        fresh: dict[int, int] = {}
        digests = []
        for at, element in enumerate(value):
            expected = parts[-1][1] if parts and isinstance(parts[-1], tuple) else at
            place = self._place(element, expected, written)
            if place is None:
                (blob,) = encode([element])
                digest = digest_of(blob)
                is_expected = expected < len(stored) and stored[expected] == digest
                place = expected if is_expected else places.get(digest)
            if place is None:
                _add(parts, blob)
                fresh[id(element)] = at
                digests.append(digest)
            else:
                _add_place(parts, place)
                digests.append(stored[place])
        self._digests = digests
        return Edit(parts, fresh)

    def _place(self, element: Any, expected: int, written: Collection[int]) -> int | None:
        """Where an object that nobody wrote is in the list before."""
        if id(element) in written:
            return None
        if expected < len(self.elements) and self.elements[expected] is element:
            return expected
        return self._places().get(id(element))

    def _places(self) -> dict[int, int]:
        if self._index is None:
            self._index = {id(element): at for at, element in enumerate(self.elements)}
        return self._index

    def _all_kinds(self) -> set[type]:
        if self._kinds is None:
            self._kinds = set(map(type, self.elements))
        return self._kinds

    def _known(self) -> list[bytes]:
        """The digests of all items."""
        if self._stored is not None:
            self._digests, self._stored = [digest_of(blob) for blob in self._stored()], None
        self._digests += map(digest_of, self._blobs)
        self._blobs = []
        return self._digests

    def _become(self, value: list[Any], spans: Spans) -> None:
        # What somebody has changed, and not written, is stored as it was: then nobody may have these objects.
        self._watch = Watch(value) if self.is_untouched else None
        self.elements, self._spans = value[:], spans
        self._index = self._kinds = None


def _size_of(blobs: Iterable[Blob]) -> int:
    return sum([len(data) for _, data in blobs])


def _has_all(items: list[Any], written: Written) -> bool:
    """Whether something was written to a list, and all of it is among its items."""
    return bool(written.all) and set(map(id, items)).issuperset(written.items)


def whole(value: Sequence[Any], blobs: list[Blob]) -> Edit:
    """A list that is stored anew."""
    return Edit([blobs], {id(element): at for at, element in enumerate(value)})


def written_in(channel: str, writes: Iterable[tuple[Any, Sequence[tuple[str, Any]], Any]]) -> Written:
    """What tasks wrote to a channel."""
    lists: set[int] = set()
    items: set[int] = set()
    for _, task_writes, _ in writes:
        for name, value in task_writes:
            if name == channel and isinstance(value, list | tuple):
                lists.add(id(value))
                items.update(id(element) for element in value if type(element) not in ATOMS)
            elif name == channel:
                items.add(id(value))
    return Written(lists | items, items)


def _numbers(spans: Spans) -> Callable[[], int]:
    return count(max((lineage for lineage, _, _ in spans), default=0) + 1).__next__


def _add(parts: list[Part], blob: Blob) -> None:
    if parts and isinstance(parts[-1], list):
        parts[-1].append(blob)
    else:
        parts.append([blob])


def _add_place(parts: list[Part], place: int) -> None:
    last = parts[-1] if parts else None
    if isinstance(last, tuple) and last[1] == place:
        parts[-1] = (last[0], place + 1)
    else:
        parts.append((place, place + 1))
