"""Values that the engine computes for a node instead of keeping them in the state."""

from abc import ABC, abstractmethod
from types import GenericAlias
from typing import Any, ClassVar

__all__ = ["ManagedValue", "is_managed"]


class ManagedValue(ABC):
    """A state key whose value comes from the run: subclass it and use `Annotated[type, MyValue]`."""

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    @staticmethod
    @abstractmethod
    def get(step: int, stop: int) -> Any:
        """The value at a step of a run that may go on until `stop`."""


def is_managed(thing: Any) -> bool:
    """Whether an annotation names a managed value."""
    return isinstance(thing, type) and issubclass(thing, ManagedValue)
