"""Who reads and writes values of which class: the built-in tables first, then the registry.

The names below are all that loading may import: our own types, LangChain's messages and NumPy.
"""

from functools import cache
from typing import Any, Final

from signoff.checkpoint.serde import blocks, builtin, generics, langchain, wire
from signoff.checkpoint.serde.exceptions import decode_exception, encode_exception
from signoff.checkpoint.serde.registry import Entry, Registry, name_of
from signoff.checkpoint.serde.wire import Decode, Encode, Load, Pack, ext
from signoff.errors import Undecodable

__all__ = ["decoders_for", "encoder_for"]

OWN_TYPES: Final = ("Command", "Interrupt", "Overwrite", "Send", "TimeoutPolicy")
"""Of `signoff.types`: what nodes return and tasks leave behind."""

_OWN_MODULE: Final = "signoff.types"


def encoder_for(cls: type, registry: Registry) -> Encode | None:
    """How instances of exactly this class are written; None if they cannot be."""
    return _foreign_encoder(cls) or _registered_encoder(cls, registry)


def _foreign_encoder(cls: type) -> Encode | None:
    package = cls.__module__.partition(".")[0]
    if package == "langchain_core":
        return langchain.encoder_for(cls)
    if package == "numpy":
        from signoff.checkpoint.serde import numpy

        return numpy.encoder_for(cls)
    return None


def _registered_encoder(cls: type, registry: Registry) -> Encode | None:
    entry = registry.find_class(cls)
    if entry is None and cls.__module__ == _OWN_MODULE:
        entry = _own_types().find_class(cls)
    if entry is not None and entry.kind != "exception":
        return _struct_encoder(entry)
    if issubclass(cls, BaseException):
        name = entry.name if entry is not None else name_of(cls)
        return lambda error, pack: encode_exception(error, name, pack)
    return generics.encoder_for(cls, registry)


def _struct_encoder(entry: Entry) -> Encode:
    """[name, state], with the name packed once and for all."""
    take, name = entry.plan.take, entry.name.encode()
    head = b"\x92\xdb" + len(name).to_bytes(4, "big") + name if len(name) > 255 else _short_head(name)

    def encode(obj: Any, pack: Pack) -> Any:
        return ext(wire.STRUCT, head + pack(take(obj)))

    return encode


def _short_head(name: bytes) -> bytes:
    return b"\x92\xd9" + bytes([len(name)]) + name


def decoders_for(registry: Registry) -> dict[int, Decode]:
    """How the payload of each of our codes is read."""

    def find(name: str) -> Entry | None:
        if (entry := registry.find_name(name)) is None and name.startswith(f"{_OWN_MODULE}:"):
            return _own_types().find_name(name)
        return entry

    def find_class(name: str) -> type | None:
        entry = find(name)
        return entry.cls if entry else None

    return builtin.DECODERS | {
        wire.STRUCT: lambda payload, load: _make(find, load(payload)),
        wire.EXCEPTION: lambda payload, load: decode_exception(payload, load, find_class),
        wire.GENERIC_MODEL: lambda payload, load: generics.decode_model(payload, load, find_class),
        wire.MESSAGE: blocks.decode_message,
        wire.MESSAGES: blocks.decode_block,
        wire.NUMPY_ARRAY: lambda payload, load: _decode_numpy(wire.NUMPY_ARRAY, payload, load),
        wire.NUMPY_SCALAR: lambda payload, load: _decode_numpy(wire.NUMPY_SCALAR, payload, load),
    }


def _make(find: Any, parts: Any) -> Any:
    name, state = parts
    entry = find(name)
    if entry is None:
        raise unknown_class(name)
    obj = entry.plan.make(state)
    if type(obj) is not entry.cls:
        raise ValueError(f"decode() of {name} returned {type(obj).__qualname__}")
    return obj


def unknown_class(name: Any) -> Undecodable:
    """The refusal of a class that nobody registered."""
    short = str(name).rpartition(":")[2].rpartition(".")[2][:100]
    return Undecodable(
        f"The value has an instance of {str(name)[:200]!r}, which is not registered here. Call "
        f"`register({short})` (from signoff.checkpoint.serde import register) before loading, or name the "
        "class in the state's schema. If it was renamed or moved, call `register(..., name=...)` with this name."
    )


def _decode_numpy(code: int, payload: bytes, load: Load) -> Any:
    try:
        from signoff.checkpoint.serde import numpy
    except ImportError as error:
        raise Undecodable("The value has NumPy arrays, and NumPy is not installed here. Install numpy.") from error
    return numpy.DECODERS[code](payload, load)


@cache
def _own_types() -> Registry:
    # Not at the top: `signoff.types` may be what is being imported.
    from signoff import types

    registry = Registry()
    for name in OWN_TYPES:
        registry.register(getattr(types, name))
    return registry
