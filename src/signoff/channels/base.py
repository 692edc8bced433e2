"""A channel is the rule of one key of the state: how writes are merged into its value.

Channels hold no value themselves. The engine keeps the values and asks the rule, so that a state is a plain
dict, and a rule can be shared by every run of a graph.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any, ClassVar

from signoff.constants import MISSING
from signoff.errors import InvalidUpdateError

__all__ = ["BaseChannel"]


class BaseChannel(ABC):
    """The rule of one key. `MISSING` stands for "no value"."""

    __slots__ = ("key", "typ")

    is_saved: ClassVar[bool] = True
    """Whether the value belongs into checkpoints."""

    is_fleeting: ClassVar[bool] = False
    """Whether the value is forgotten at the end of a step that does not write it."""

    is_plain: ClassVar[bool] = True
    """Whether the stored value is what readers see; else they see `get(stored)`."""

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)
    """So that what is annotated for LangGraph can be read: `Topic[str]`."""

    meddles: ClassVar[bool] = True
    """Whether folding may change, in place, items of a list that is stored; false for those that are known not to."""

    def __init__(self, typ: Any = Any, key: str = "") -> None:
        self.typ = typ
        self.key = key

    @abstractmethod
    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        """The value after all writes of a step, in their fixed order."""

    def initial(self) -> Any:
        """The value before the first write."""
        return MISSING

    def completer(self) -> Callable[[Any], Any] | None:
        """What completes a write as soon as it is written, where there is something to complete."""
        return None

    def get(self, stored: Any) -> Any:
        """What a reader sees of the stored value."""
        return stored

    def consume(self, stored: Any) -> Any:
        """The value after a task that it triggered has run."""
        return stored

    def finish(self, stored: Any) -> Any:
        """The value once nothing else is due: deferred triggers fire now."""
        return stored

    def agrees_with(self, other: "BaseChannel") -> bool:
        """Whether a key may have both rules, each in one of the schemas of a graph."""
        return self == other

    # Of annotations that are equal Python keeps one for the whole program: so rules are only if all of them is.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _parts(self) == _parts(other)

    def __hash__(self) -> int:
        return hash((type(self), self.key))


def _parts(channel: BaseChannel) -> Any:
    """How a rule was made: all that it has but the key that it is for."""
    state: Any = object.__getstate__(channel)
    others, slots = state
    return others, {name: value for name, value in slots.items() if name != "key"}


class Guarded(BaseChannel):
    """A rule that merges nothing: one write a step, or with `guard=False` the last of any number."""

    __slots__ = ("guard",)

    meddles = False

    def __init__(self, typ: Any = Any, guard: bool = True, key: str = "") -> None:
        super().__init__(typ, key)
        self.guard = guard

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        if self.guard and len(writes) != 1:
            raise InvalidUpdateError(
                f"Key {self.key!r} can take one value per step and got {len(writes)}. Write it from one node only, or "
                f"make it {type(self).__name__}(type, guard=False) to keep the last."
            )
        return writes[-1]
