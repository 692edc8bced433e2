"""Lists that grow: a checkpoint adds what is new, and shares the rest with those before.

What a stored list was made of, as the program has it, is remembered: an object that is still there, and that nobody
wrote, is not encoded again. The next run gets these objects, too, unless somebody has touched them.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from signoff.checkpoint.log.entries import BULKY, LONG, MANY
from signoff.checkpoint.log.growth import Tracked, written_in
from signoff.checkpoint.memory.lineages import appended, blobs_of, rearranged
from signoff.checkpoint.memory.packed import Packed, in_items, is_in_items, unpacked, unpacked_for_run
from signoff.checkpoint.memory.packing import Packing

__all__ = ["Lists"]

FEW = 64
"""So many plain items are kept as they are, in every checkpoint: that is one pointer each."""

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
            self._growing.pop(name, None)  # if a signal cuts this off, the list is packed anew
            growing.grow(packing, name, value, writes, is_told=is_told)
            self._growing[name] = growing
        else:
            whole = _packed_whole(packing, name, value, before, writes)
            if whole is not None:
                return whole
            growing = self._growing[name] = _Growing(value, _stored_whole(packing, value))
        packing.know(value, growing.stored)
        return growing.stored

    def unpack(self, serde: Any, name: str, stored: Any) -> Any:
        """A value as it was, for a run."""
        if not is_in_items(stored):
            return unpacked_for_run(serde, stored)
        growing = self._growing.get(name)
        if growing is None or growing.stored is not stored or not growing.is_untouched:
            growing = self._growing[name] = _Growing(unpacked(serde, stored), stored)
        return growing.elements[:]


class _Growing(Tracked):
    """A list as the program has it, and as it is stored."""

    __slots__ = ("stored",)

    def __init__(self, value: Iterable[Any], stored: Packed) -> None:
        super().__init__(value, stored=partial(blobs_of, stored.data))
        self.stored = stored

    def grow(self, packing: Packing, name: str, value: list[Any], writes: Records, *, is_told: bool) -> None:
        """Follow the list to what a step has made of it."""
        before, spans = len(self.elements), self.stored.data
        encode: Any = packing.encode_all
        match self.edited(value, written_in(name, writes), encode, is_told=is_told).parts:
            case [(0, end), list(news)] if end == before:
                self.stored = in_items(appended(spans, news))
            case parts:
                self.stored = in_items(rearranged(spans, parts))


def _packed_whole(packing: Packing, name: str, value: list[Any], before: Any, writes: Records) -> Packed | None:
    """A list that is not worth keeping item by item: some plain items, or a few that were written all at once.

    And many that come where there were none: most such lists are given to a run, and stay as they are.
    """
    if len(value) >= MANY and before is None:
        return packing.encode(value)
    if len(value) < FEW and packing.is_plain(value):
        return packing.pack(name, value)  # type: ignore[no-any-return]
    if len(value) < LONG and any(one is value for _, parts, _ in writes for _, one in parts):
        packed: Packed = packing.pack(name, value)
        return packed if len(packed.data) <= BULKY or len(value) == 1 else None
    return None


def _stored_whole(packing: Packing, value: list[Any]) -> Packed:
    return in_items(appended((), packing.encode_all(value)))
