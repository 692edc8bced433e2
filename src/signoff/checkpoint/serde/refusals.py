"""Refusals: why stored bytes are not made into a value."""

from typing import Any

from signoff.errors import Undecodable

__all__ = ["expect", "not_stored", "outgrown", "unfit", "unknown_class"]


def outgrown(cls: type, why: str) -> Undecodable:
    """The refusal of a value that its class was changed too much for since it was stored."""
    return Undecodable(
        f"A stored {cls.__qualname__} cannot be read: {why}. The class has changed since. Give a new field a default, "
        "leave what is stored in place, or go on with the code that stored it."
    )


def not_stored(cls: type, name: str) -> Undecodable:
    """The refusal of a value that lacks a field which its class has got since."""
    return outgrown(cls, f"{cls.__qualname__}.{name} was not stored and has no default")


def unfit(cls: type, error: Exception) -> Undecodable:
    """The refusal of a value that its class cannot be made of."""
    return outgrown(cls, f"what was stored does not fit it ({type(error).__name__}: {error!s:.200})")


def expect(value: Any, kind: type) -> Any:
    """The value, which must be exactly of this kind."""
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def unknown_class(name: Any) -> Undecodable:
    """The refusal of a class that nobody registered."""
    short = str(name).rpartition(":")[2].rpartition(".")[2][:100]
    return Undecodable(
        f"The value has an instance of {str(name)[:200]!r}, which is not registered here. Call "
        f"`register({short})` (from signoff.checkpoint.serde import register) before loading, or name the "
        "class in the state's schema. If it was renamed or moved, call `register(..., name=...)` with this name."
    )
