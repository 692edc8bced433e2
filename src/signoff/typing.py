"""The type variables of graphs, for classes that are written for any state or context."""

from typing_extensions import TypeVar

__all__ = ["ContextT", "InputT", "OutputT", "StateT"]

StateT = TypeVar("StateT")
ContextT = TypeVar("ContextT", default=None)
InputT = TypeVar("InputT", default=StateT)
OutputT = TypeVar("OutputT", default=StateT)
