"""What is known of a stored checkpoint, so that the next one can be stored without a look at it."""

from typing import Any

from signoff.checkpoint.log.body import NOTHING, Changes, folded_in

__all__ = ["Known"]

SHALLOW = 2
"""How near its snapshot a checkpoint has to be to see if the next one leaves anything of it: that takes little work."""


class Known:
    """A stored checkpoint. All that it holds is put together when somebody asks: most steps need not know."""

    __slots__ = ("_below", "_changes", "_held", "depth", "id", "parts", "seal")

    depth: int
    parts: Any
    """What is kept apart of it, as it was fetched, if that is little: a reader need not ask for it again."""

    def __init__(self, id: str, depth: int, seal: int, changes: Changes, below: "Known | None" = None) -> None:
        """
        depth: how far it is from its snapshot, unless it is one.
        changes: what it changes in the one that it was made of; all that it holds, without one.
        """
        if below is not None and below.depth <= SHALLOW and _has_all(changes, below.held):
            depth, below = 0, None  # it stands on nothing, and takes no more bytes
        self.id = id
        self.depth = depth
        self.seal = seal
        self.parts = None
        self._changes: Changes | None = changes
        self._below = below
        self._held: Changes | None = None if below is not None else changes

    @property
    def held(self) -> Changes:
        """All that it holds."""
        if self._held is None:
            self._held = self._put_together()
            self._changes = self._below = None
        return self._held

    def _put_together(self) -> Changes:
        later: list[Changes] = []
        known: Known | None = self
        while known is not None and known._held is None:
            # Another thread may have put it together by now; then what is below is forgotten.
            changes, below = known._changes, known._below
            if changes is not None and below is not None:
                later.append(changes)
                known = below
        return folded_in(known._held if known is not None and known._held is not None else NOTHING, reversed(later))


def _has_all(changes: Changes, held: Changes) -> bool:
    """Whether changes leave nothing as it was: of many steps, the channels that hold something are those they write."""
    versions, values, unversioned, gone = changes
    return held.values.keys() <= {*values, *gone} and held.versions.keys() <= {*versions, *unversioned}
