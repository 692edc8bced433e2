"""The type variables of graphs, for classes that are written for any state or context."""

from typing import NoReturn

from typing_extensions import TypeVar

from signoff._elsewhere import OF_TYPING, tell_where

__all__ = ["ContextT", "InputT", "OutputT", "StateT", "StateT_co", "StateT_contra"]

StateT = TypeVar("StateT")
StateT_co = TypeVar("StateT_co", covariant=True)
StateT_contra = TypeVar("StateT_contra", contravariant=True)
ContextT = TypeVar("ContextT", default=None)
InputT = TypeVar("InputT", default=StateT)
OutputT = TypeVar("OutputT", default=StateT)


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_TYPING)
