"""How the types of the standard library are written: one line each in the table at the end.

A type is either *packed* (taken apart into plain values), *raw* (its own bytes) or *text* (its own string
form). Making a value from a payload may raise anything; the codec turns that into `Undecodable`.
"""

import re
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any
from uuid import UUID

from signoff.checkpoint.serde import clock, wire
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.wire import SURROGATES, Decode, Encode, Pack, ext, list_head
from signoff.constants import MISSING, Missing
from signoff.errors import NotStorable

__all__ = ["DECODERS", "ENCODERS"]

ENCODERS: dict[type, Encode] = dict(clock.ENCODERS)
"""By exact type: a subclass may have more to it than its base."""

DECODERS: dict[int, Decode] = dict(clock.DECODERS)
"""By code."""

_FACTORIES: dict[str, type] = {
    kind.__name__: kind
    for kind in (bool, bytearray, bytes, complex, dict, float, frozenset, int, list, set, str, tuple)
}
_FACTORIES |= {kind.__name__: kind for kind in (Counter, Decimal, OrderedDict, deque)}

_SORTABLE = frozenset({bytes, int, str})

_PATTERN_FLAGS = re.A | re.I | re.L | re.M | re.S | re.U | re.X
"""Without DEBUG: loading a pattern must not print."""

_FRACTION_BITS = 1 << 17
"""Making a fraction looks for a common divisor, which takes quadratic time."""


def _encode_set(code: int) -> Encode:
    """In order, since equal sets should have equal bytes: that of the items, else that of their bytes."""

    def encode(obj: Any, pack: Pack) -> Any:
        kinds = set(map(type, obj))
        if len(kinds) == 1 and kinds <= _SORTABLE:
            return ext(code, pack(sorted(obj)))
        return ext(code, list_head(len(obj)) + b"".join(sorted(map(pack, obj))))

    return encode


def _take_default_dict(obj: defaultdict[Any, Any]) -> list[Any]:
    factory: Any = obj.default_factory
    name: Any = getattr(factory, "__name__", None)
    if factory is not None and _FACTORIES.get(name) is not factory:
        raise NotStorable(
            f"a defaultdict whose factory is {factory!r}. Use a built-in type as the factory, or a plain dict"
        )
    return [name, dict(obj)]


def _make_default_dict(state: Any) -> defaultdict[Any, Any]:
    name, items = state
    return defaultdict(None if name is None else _FACTORIES[name], expect(items, dict))


def _make_counter(items: Any) -> Counter[Any]:
    counter: Counter[Any] = Counter()
    dict.update(counter, expect(items, dict))  # Counter.update would add
    return counter


def _make_deque(state: Any) -> deque[Any]:
    maxlen, items = state
    return deque(expect(items, list), maxlen)


def _take_int(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def _make_int(payload: bytes) -> int:
    return int.from_bytes(payload, "big", signed=True)


def _take_fraction(value: Fraction) -> list[int]:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _FRACTION_BITS:
        raise NotStorable(f"a Fraction of more than {_FRACTION_BITS} bits")
    return [value.numerator, value.denominator]


def _make_fraction(state: Any) -> Fraction:
    numerator, denominator = (expect(part, int) for part in state)
    if max(numerator.bit_length(), denominator.bit_length()) > _FRACTION_BITS:
        raise ValueError("a fraction is too long")
    return Fraction(numerator, denominator)


def _take_pattern(pattern: re.Pattern[Any]) -> list[Any]:
    if pattern.flags & ~_PATTERN_FLAGS:
        raise NotStorable("a regular expression with re.DEBUG. Compile it without")
    return [pattern.pattern, pattern.flags]


def _make_pattern(state: Any) -> re.Pattern[Any]:
    pattern, flags = state
    if type(pattern) not in (str, bytes) or expect(flags, int) & ~_PATTERN_FLAGS:
        raise ValueError("not a pattern")
    return re.compile(pattern, flags)


def _set_of(kind: Any, items: Any) -> Any:
    found = kind(expect(items, list))
    if len(found) < len(items):
        raise ValueError("items of a set that were not equal are equal now; does their class compare fewer fields?")
    return found


ENCODERS[set] = _encode_set(wire.SET)
ENCODERS[frozenset] = _encode_set(wire.FROZENSET)
DECODERS[wire.SET] = lambda payload, load: _set_of(set, load(payload))
DECODERS[wire.FROZENSET] = lambda payload, load: _set_of(frozenset, load(payload))


def _packed(code: int, kind: type, take: Callable[[Any], Any], make: Callable[[Any], Any]) -> None:
    ENCODERS[kind] = lambda obj, pack: ext(code, pack(take(obj)))
    DECODERS[code] = lambda payload, load: make(load(payload))


def _raw(code: int, kind: type, take: Callable[[Any], bytes], make: Callable[[bytes], Any]) -> None:
    ENCODERS[kind] = lambda obj, pack: ext(code, take(obj))
    DECODERS[code] = lambda payload, load: make(payload)


def _text(code: int, kind: type) -> None:
    _raw(
        code,
        kind,
        lambda obj: str(obj).encode("utf-8", SURROGATES),
        lambda payload: kind(payload.decode("utf-8", SURROGATES)),
    )


_packed(wire.TUPLE, tuple, list, lambda items: tuple(expect(items, list)))
_packed(wire.DEQUE, deque, lambda obj: [obj.maxlen, list(obj)], _make_deque)
_packed(wire.ORDERED_DICT, OrderedDict, dict, lambda items: OrderedDict(expect(items, dict)))
_packed(wire.DEFAULT_DICT, defaultdict, _take_default_dict, _make_default_dict)
_packed(wire.COUNTER, Counter, dict, _make_counter)
_packed(wire.FRACTION, Fraction, _take_fraction, _make_fraction)
_packed(wire.RANGE, range, lambda obj: [obj.start, obj.stop, obj.step], lambda parts: range(*parts))
_packed(wire.SLICE, slice, lambda obj: [obj.start, obj.stop, obj.step], lambda parts: slice(*parts))
_packed(wire.PATTERN, re.Pattern, _take_pattern, _make_pattern)
_raw(wire.BIG_INT, int, _take_int, _make_int)
_raw(wire.BYTEARRAY, bytearray, bytes, bytearray)
_raw(
    wire.COMPLEX,
    complex,
    lambda obj: struct.pack(">dd", obj.real, obj.imag),
    lambda payload: complex(*struct.unpack(">dd", payload)),
)
_raw(wire.UUID_, UUID, lambda obj: obj.bytes, lambda payload: UUID(bytes=payload))
_raw(wire.MISSING_, Missing, lambda obj: b"", lambda payload: MISSING)
_text(wire.DECIMAL, Decimal)
_text(wire.PURE_POSIX_PATH, PurePosixPath)
_text(wire.PURE_WINDOWS_PATH, PureWindowsPath)
_text(wire.POSIX_PATH, PosixPath)
_text(wire.WINDOWS_PATH, WindowsPath)
_text(wire.IPV4_ADDRESS, IPv4Address)
_text(wire.IPV4_NETWORK, IPv4Network)
_text(wire.IPV4_INTERFACE, IPv4Interface)
_text(wire.IPV6_ADDRESS, IPv6Address)
_text(wire.IPV6_NETWORK, IPv6Network)
_text(wire.IPV6_INTERFACE, IPv6Interface)
