"""Lists that grow: a checkpoint adds what is new, and shares the rest with those before.

What a stored list was made of, as the program has it, is remembered: an object that is still there, and that nobody
wrote, is not encoded again. The next run gets these objects, too, unless somebody has touched them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.checkpoint.log.entries import BULKY, LONG
from signoff.checkpoint.log.growth import Tracked, Written, written_in
from signoff.checkpoint.memory.lineages import blobs_of, spans_of
from signoff.checkpoint.memory.packing import Packed, Packing, in_items, is_in_items, unpacked

__all__ = ["Lists"]

Records = Iterable[tuple[Any, Sequence[tuple[str, Any]], Any]]
"""(task id, writes, path) each."""


class Lists:
    """The lists of one thread and namespace that the last run had. A thread that is folded does without them."""

    __slots__ = ("_growing",)

    def __init__(self) -> None:
        self._growing: dict[str, _Growing] = {}

    def pack(
        self, packing: Packing, name: str, value: list[Any], before: Any, writes: Records, *, is_told: bool
    ) -> Packed:
        """Pack the list that a step has left in a channel.

        before: the value of the channel before the step, as it is stored.
        is_told: whether the writes are all that the step wrote.
        """
        growing = self._growing.get(name)
        if growing is not None and growing.stored is before:
            growing.grow(packing, name, value, writes, is_told=is_told)
        else:
            short = _packed_short(packing, name, value, writes)
            if short is not None:
                return short
            growing = self._growing[name] = _Growing(value, _stored_whole(packing, value))
        packing.know(value, growing.stored)
        return growing.stored

    def unpack(self, serde: Any, name: str, stored: Any) -> Any:
        """A value as it was, for a run."""
        if not is_in_items(stored):
            return unpacked(serde, stored)
        growing = self._growing.get(name)
        if growing is None or growing.stored is not stored or not growing.is_untouched:
            growing = self._growing[name] = _Growing(unpacked(serde, stored), stored)
        return growing.elements[:]


class _Growing(Tracked):
    """A list as the program has it, and as it is stored."""

    __slots__ = ("stored",)

    def __init__(self, value: Iterable[Any], stored: Packed) -> None:
        super().__init__(value, blobs_of(stored.data))
        self.stored = stored

    def grow(self, packing: Packing, name: str, value: list[Any], writes: Records, *, is_told: bool) -> None:
        """Follow the list to what a step has made of it."""
        written = written_in(name, writes)
        if not (is_told and self._has_all(name, value, writes)) and not self.is_untouched:
            # Whoever changed an item may have meant it: a reducer, perhaps, that puts what was written into it.
            everything = set(map(id, value))
            written = Written(everything, everything)
        edit = self.edited(value, written, packing.encode)
        self.stored = in_items(spans_of(edit.parts, self.stored.data))

    def _become(self, value: list[Any], spans: Any) -> None:
        watch = self._watch
        super()._become(value, spans)
        if watch is not None and not watch.is_untouched:
            self._watch = None  # what somebody has changed, and not written, is stored as it was: nobody may have it

    def _has_all(self, name: str, value: list[Any], writes: Records) -> bool:
        """Whether everything that was written to the channel stands in the list, as it is."""
        wrote = [one for _, parts, _ in writes for channel, one in parts if channel == name]
        items = {id(item) for one in wrote for item in (one if isinstance(one, list | tuple) else (one,))}
        is_new = items.issubset(map(id, value[len(self.elements) :]))
        return bool(wrote) and (is_new or items.issubset(map(id, value)))


def _packed_short(packing: Packing, name: str, value: list[Any], writes: Records) -> Packed | None:
    """A list that is not worth keeping item by item: a few plain items, or some that were written all at once."""
    if len(value) >= LONG:
        return None
    if packing.is_plain(value) or any(one is value for _, parts, _ in writes for _, one in parts):
        packed: Packed = packing.pack(name, value)
        return packed if len(packed.data) <= BULKY or len(value) == 1 else None
    return None


def _stored_whole(packing: Packing, value: list[Any]) -> Packed:
    return in_items(spans_of([[packing.encode(item) for item in value]]))
