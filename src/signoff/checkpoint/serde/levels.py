"""The levels of nesting: one packer and one loader for each depth that typed values can have.

Packing is done the quick way first. That way C msgpack writes a bytearray as bytes, cannot write half a
surrogate pair, and nests deeper than the rest of Python likes: if the packed bytes show that one of these may be
so, and it is, the whole value is packed again the careful way. Whole values, not levels, since a level that packs
itself twice packs the one below four times.
"""

from collections.abc import Callable, Mapping, Sequence
from gc import get_referents
from typing import Any

from msgpack import ExtType, Packer, Timestamp, Unpacker, unpackb

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.care import NeedsCare
from signoff.checkpoint.serde.depth import may_be_too_deep
from signoff.checkpoint.serde.wire import SURROGATES, Decode, Encode, Load, Pack, PackAll, ext, list_head
from signoff.constants import ATOMS
from signoff.errors import NotStorable, Undecodable

__all__ = ["MAX_DEPTH", "MAX_TYPED_DEPTH", "PLAIN", "TooDeep", "careful_packer", "loader", "quick_packers"]

MAX_DEPTH = 200
"""How deep lists and dicts may be nested in one another."""

MAX_TYPED_DEPTH = 100
"""How deep typed values (tuples, messages, dataclasses, ...) may be nested in one another."""

PLAIN = frozenset({type(None), bool, int, float, str, bytes, list, dict, ExtType, Timestamp})
"""What C msgpack packs by itself and gives back equal."""

_FLATTENED = frozenset({bytearray, memoryview})
"""What C msgpack packs by itself and gives back as something else."""

_CONTAINERS = frozenset({list, dict})
_UNTYPED = ATOMS | _CONTAINERS

_BYTES_8, _BYTES_16, _BYTES_32 = 0xC4, 0xC5, 0xC6
"""How msgpack marks bytes, by the width of their length."""

_BUFFER = 4096
_POOLED = 1 << 20
"""A packer that has grown larger than this is let go."""

_ON_THE_STACK = 3
"""How many levels are unpacked by `unpackb`, which is quicker but takes 45 KB of the C stack each time."""


class TooDeep(NotStorable):
    """A value is nested too deep, or contains itself."""


def quick_packers(encoders: Mapping[type, Encode]) -> tuple[Pack, PackAll]:
    """Pack most values, one or many, and raise NeedsCare for some of those that they cannot."""
    deeper = _tower(_quick_level, encoders)
    return _quick_level(encoders, deeper), _quick_level_of_many(encoders, deeper)


def careful_packer(encoders: Mapping[type, Encode]) -> Pack:
    """Packs every value that can be stored."""
    return _careful_level(encoders, _tower(_careful_level, encoders))


def _tower(level: Callable[[Mapping[type, Encode], Pack], Pack], encoders: Mapping[type, Encode]) -> Pack:
    """What packs whatever is inside of a typed value."""
    pack: Pack = _refuse_to_pack
    for _ in range(MAX_TYPED_DEPTH):
        pack = level(encoders, pack)
    return pack


def _refuse_to_pack(obj: Any) -> bytes:
    raise TooDeep(f"it is nested more than {MAX_TYPED_DEPTH} typed values deep, or contains itself")


def _quick_level(encoders: Mapping[type, Encode], deeper: Pack) -> Pack:
    idle: list[Packer] = []  # a packer cannot be used while it is packing: other threads take other ones

    def default(obj: Any) -> Any:
        return encoders[type(obj)](obj, deeper)

    def pack(obj: Any) -> bytes:
        try:
            packer = idle.pop()
        except IndexError:
            packer = Packer(default=default, strict_types=True, buf_size=_BUFFER)
        try:
            data: bytes = packer.pack(obj)
        except UnicodeEncodeError as error:
            raise NeedsCare from error
        if len(data) < _POOLED:
            idle.append(packer)
        if _BYTES_8 in data or (len(data) > MAX_DEPTH and _needs_a_look(data)):
            _check([obj])
        return data

    return pack


def _quick_level_of_many(encoders: Mapping[type, Encode], deeper: Pack) -> PackAll:
    def default(obj: Any) -> Any:
        return encoders[type(obj)](obj, deeper)

    def pack_all(items: Sequence[Any]) -> list[bytes]:
        packer = Packer(default=default, strict_types=True, buf_size=_BUFFER)
        try:
            packed = list(map(packer.pack, items))
        except UnicodeEncodeError as error:
            raise NeedsCare from error
        data = b"".join([list_head(len(packed)), *packed])
        if _BYTES_8 in data or _needs_a_look(data, MAX_DEPTH + 1):
            _check(list(items))
        return packed

    return pack_all


def _needs_a_look(data: bytes, depth: int = MAX_DEPTH) -> bool:
    return _BYTES_16 in data or _BYTES_32 in data or may_be_too_deep(data, depth)


def _check(items: list[Any]) -> None:
    """Raise NeedsCare if the plain containers of values hold what would be flattened, or are too deep.

    Whole levels at a time, so that most of the work is done by loops in C.
    """
    for _ in range(MAX_DEPTH + 1):
        kinds = set(map(type, items))
        if not kinds.isdisjoint(_FLATTENED):
            raise NeedsCare
        if kinds.isdisjoint(_CONTAINERS):
            return
        # Atoms refer to nothing, so that they need not be taken out.
        containers = items if kinds <= _UNTYPED else [item for item in items if type(item) in _CONTAINERS]
        items = get_referents(*containers)
    raise NeedsCare


def _careful_level(encoders: Mapping[type, Encode], deeper: Pack) -> Pack:
    def default(obj: Any) -> Any:
        return encoders[type(obj)](obj, deeper)

    def pack(obj: Any) -> bytes:
        packer = Packer(default=default, strict_types=True, unicode_errors=SURROGATES, buf_size=_BUFFER)
        data: bytes = packer.pack(_marked(obj, MAX_DEPTH))
        return data

    return pack


def _marked(obj: Any, levels: int) -> Any:
    """A copy of the plain containers, with what would be flattened as extensions."""
    kind = type(obj)
    if kind in _CONTAINERS and not levels:
        raise TooDeep(f"it is nested more than {MAX_DEPTH} levels deep, or contains itself")
    if kind is list:
        return [_marked(item, levels - 1) for item in obj]
    if kind is dict:
        return {_marked(key, levels - 1): _marked(value, levels - 1) for key, value in obj.items()}
    if kind is bytearray:
        return ext(wire.BYTEARRAY, bytes(obj))
    if kind is memoryview:
        raise NotStorable("a memoryview. Store bytes(...) of it")
    return obj


def loader(decoders: Mapping[int, Decode], as_dict: Callable[[list[Any]], Any] | None = None) -> Load:
    """The outermost level of loading.

    as_dict: what makes the dicts, if not C msgpack.
    """
    load: Load = _refuse_to_load
    for level in range(MAX_TYPED_DEPTH, -1, -1):
        load = _load_level(decoders, load, as_dict, on_the_stack=level < _ON_THE_STACK)
    return load


def _refuse_to_load(data: bytes | memoryview) -> Any:
    raise Undecodable(f"Stored bytes are nested more than {MAX_TYPED_DEPTH} typed values deep.")


def _load_level(decoders: Mapping[int, Decode], deeper: Load, as_dict: Any, on_the_stack: bool) -> Load:
    def hook(code: int, payload: bytes) -> Any:
        try:
            decode = decoders[code]
        except KeyError:
            return _foreign(code, payload)
        return decode(payload, deeper)

    def load(data: bytes | memoryview) -> Any:
        return unpackb(data, ext_hook=hook, object_pairs_hook=as_dict, strict_map_key=False, unicode_errors=SURROGATES)

    def load_on_the_heap(data: bytes | memoryview) -> Any:
        size = len(data) or 1
        unpacker = Unpacker(
            ext_hook=hook,
            object_pairs_hook=as_dict,
            strict_map_key=False,
            unicode_errors=SURROGATES,
            read_size=size,
            max_buffer_size=size,
        )
        unpacker.feed(data)
        value = unpacker.unpack()
        if unpacker.tell() != len(data):
            raise ValueError("there is more than one value")
        return value

    return load if on_the_stack else load_on_the_heap


def _foreign(code: int, payload: bytes) -> Any:
    if code < 0:
        raise Undecodable(f"Stored bytes have a type that this version does not know (code {code}). Update signoff.")
    return ExtType(code, payload)
