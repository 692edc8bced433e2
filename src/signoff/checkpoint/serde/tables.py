"""Who reads and writes values of which class: the built-in tables first, then the registry.

The names below are all that loading may import: our own types, LangChain's messages and documents, and NumPy.
"""

from functools import cache
from importlib import import_module
from typing import Any, Final

from signoff.checkpoint.serde import blocks, builtin, generics, langchain, wire
from signoff.checkpoint.serde.care import NeedsCare
from signoff.checkpoint.serde.exceptions import decode_exception, encode_exception
from signoff.checkpoint.serde.own import meant_by
from signoff.checkpoint.serde.refusals import unfit, unknown_class
from signoff.checkpoint.serde.registry import Entry, Registry, name_of
from signoff.checkpoint.serde.structs import shown_fields
from signoff.checkpoint.serde.unread import Unread, is_showing
from signoff.checkpoint.serde.wire import Decode, Encode, Load, Pack, ext
from signoff.errors import Undecodable

__all__ = ["decoders_for", "encoder_for"]

KNOWN: Final = {
    "signoff.types": ("Command", "Interrupt", "Overwrite", "Send", "TimeoutPolicy"),
    "signoff.store.base.items": ("Item", "SearchItem"),
    "langchain_core.documents.base": ("Document",),
}
"""By module, what nobody has to register: what nodes return and tasks leave behind, and what stores and retrievers
hand out, for an answer of theirs is put into the state, or comes with the message of a tool."""

_NAMES: Final = {f"{module}:{name}": module for module, names in KNOWN.items() for name in names}
"""The modules of these, by the names that they are stored under."""


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
    if entry is None and cls.__name__ in KNOWN.get(cls.__module__, ()):
        entry = _known_in(cls.__module__).find_class(cls)
    if entry is not None and entry.kind != "exception":
        if entry.encode is None:
            entry.encode = _struct_encoder(entry)
        return entry.encode
    if issubclass(cls, BaseException):
        name = entry.name if entry is not None else name_of(cls)
        return lambda error, pack: encode_exception(error, name, pack)
    return generics.encoder_for(cls, registry)


def _struct_encoder(entry: Entry) -> Encode:
    """[name, state], with the name packed once and for all."""
    take, name = entry.plan.take, entry.name.encode()
    size = b"\xd9" + bytes([len(name)]) if len(name) < 256 else b"\xdb" + len(name).to_bytes(4, "big")
    head = b"\x92" + size + name

    def encode(obj: Any, pack: Pack) -> Any:
        return ext(wire.STRUCT, head + pack(take(obj)))

    return encode


def decoders_for(registry: Registry) -> dict[int, Decode]:
    """How the payload of each of our codes is read."""
    has_parent = registry.parent is not None

    def find(name: str) -> Entry | None:
        entry = registry.find_name(name)
        if entry is None and name in _NAMES:
            return _known_in(_NAMES[name]).find_name(name)
        if entry is not None and (entry.is_redefined or has_parent):
            return meant_by(entry, registry)
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
    try:
        return _made(find(name), name, state)
    except Undecodable as error:
        if not is_showing():
            raise
        return Unread(str(name), shown_fields(state), error)


def _made(entry: Entry | None, name: Any, state: Any) -> Any:
    if entry is None:
        raise unknown_class(name)
    try:
        obj = entry.plan.make(state)
    except (Undecodable, NeedsCare):
        raise
    except Exception as error:
        raise unfit(entry.cls, error) from error
    if type(obj) is not entry.cls:
        raise ValueError(f"decode() of {name} returned {type(obj).__qualname__}")
    return obj


def _decode_numpy(code: int, payload: bytes, load: Load) -> Any:
    try:
        from signoff.checkpoint.serde import numpy
    except ImportError as error:
        raise Undecodable("The value has NumPy arrays, and NumPy is not installed here. Install numpy.") from error
    return numpy.DECODERS[code](payload, load)


@cache
def _known_in(module: str) -> Registry:
    # Not at the top: the module may be what is being imported, or not be installed.
    try:
        found = import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise Undecodable(
            f"The value has a {KNOWN[module][0]}, and there is no {module}. Install {package}."
        ) from error
    registry = Registry()
    for name in KNOWN[module]:
        registry.register(getattr(found, name))
    return registry
