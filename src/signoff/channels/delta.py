"""The channel behind `Annotated[type, DeltaChannel(reducer)]`."""

from collections.abc import Callable, Sequence
from typing import Any

from signoff._annotations import refuse_async
from signoff._copies import own
from signoff.channels.base import BaseChannel
from signoff.channels.binop import empty_value, leaves_items, overwritten
from signoff.channels.last_value import overwriting
from signoff.constants import MISSING
from signoff.errors import InvalidGraph

__all__ = ["DeltaChannel"]


class DeltaChannel(BaseChannel):
    """Merges all writes of a step into the value at once, with a reducer `(value, writes) -> value`.

    Every list is stored by what it grew, whatever its channel: `snapshot_frequency` is for programs that come from
    LangGraph, and says nothing here.
    """

    __slots__ = ("makes_items", "meddles", "reducer", "snapshot_frequency")

    def __init__(
        self,
        reducer: Callable[[Any, Sequence[Any]], Any],
        typ: Any = None,
        *,
        snapshot_frequency: int = 100,
        key: str = "",
    ) -> None:
        super().__init__(typ, key)
        if not callable(reducer):
            raise InvalidGraph(f"DeltaChannel({reducer!r}): give a reducer, a function (value, writes) -> value.")
        if not isinstance(snapshot_frequency, int) or snapshot_frequency <= 0:
            raise InvalidGraph(f"The snapshot_frequency is {snapshot_frequency!r}. Give a whole number above 0.")
        refuse_async("The reducer of a DeltaChannel", reducer, InvalidGraph)
        self.reducer = reducer
        self.snapshot_frequency = snapshot_frequency
        self.meddles = not leaves_items(reducer)  # type: ignore[misc]
        self.makes_items = getattr(reducer, "makes_items", False) is True
        """Whether the reducer makes what it is given into something else, as texts into messages: it says so itself."""

    def agrees_with(self, other: BaseChannel) -> bool:
        """Two keys with one reducer have one rule, however each spells its type."""
        return isinstance(other, DeltaChannel) and self.reducer == other.reducer

    def initial(self) -> Any:
        return empty_value(list if self.typ is None else self.typ)

    def completer(self) -> Callable[[Any], Any] | None:
        return getattr(self.reducer, "completes", None)

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        for write in writes:
            is_overwrite, value = overwriting(write)
            if is_overwrite:
                return self._begun_with(overwritten(self.key, value, writes))
        return self.reducer(self.initial() if stored is MISSING else own(stored), list(writes))

    def _begun_with(self, value: Any) -> Any:
        """The value after an Overwrite: what is in a list becomes what it would have become in a write."""
        if value is None:
            return self.initial()
        is_made = self.makes_items and isinstance(value, list | tuple)
        return self.reducer(self.initial(), [list(value)]) if is_made else value
