"""How values become bytes and come back equal: msgpack with a registry of types."""

from signoff.checkpoint.serde.annotations import types_in
from signoff.checkpoint.serde.registry import Registry, register, register_types
from signoff.checkpoint.serde.unread import Unread

__all__ = ["Registry", "Unread", "register", "register_types", "types_in"]
