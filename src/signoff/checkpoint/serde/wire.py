"""The wire format: msgpack, where every value that is not plain is an extension with one of our codes.

Plain values (None, bool, int up to 64 bits, float, str, bytes, list, dict) are msgpack's own and never
leave C. Everything else is `ext(code, payload)`; the payload is raw bytes or msgpack again. Our codes are
negative: 0 to 127 belong to applications, and an `ExtType` that a program stores must come back as that and
as nothing else.

Codes are for ever: one that was released is never given to another type.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from msgpack import ExtType

__all__ = ["Decode", "Encode", "Load", "Pack", "ext", "list_head", "list_start", "payload_of"]

Bytes = TypeVar("Bytes", bytes, memoryview)

Pack = Callable[[Any], bytes]
PackAll = Callable[[Sequence[Any]], list[bytes]]
"""Packs a value that stands one level deeper."""

Load = Callable[[bytes | memoryview], Any]
"""Unpacks a payload that stands one level deeper."""

Encode = Callable[[Any, Pack], Any]
"""From a value to its extension."""

Decode = Callable[[bytes, Load], Any]
"""From the payload of an extension to the value; may raise anything, never runs foreign code."""

SURROGATES: Final = "surrogatepass"
"""How halves of surrogate pairs are encoded and decoded: as if they were characters."""

FORMAT: Final = b"\xc1"
"""The first byte of all we write. msgpack never uses it, so that foreign bytes are told apart."""

# -1 is msgpack's own Timestamp.
TUPLE: Final = -2
STRUCT: Final = -3
MESSAGE: Final = -4
EXCEPTION: Final = -5
SET: Final = -6
FROZENSET: Final = -7
DEQUE: Final = -8
ORDERED_DICT: Final = -9
DEFAULT_DICT: Final = -10
COUNTER: Final = -11
BIG_INT: Final = -12
BYTEARRAY: Final = -13
COMPLEX: Final = -14
DECIMAL: Final = -15
FRACTION: Final = -16
UUID_: Final = -17
DATETIME: Final = -18
ZONED_DATETIME: Final = -19
DATE: Final = -20
TIME: Final = -21
ZONED_TIME: Final = -22
TIMEDELTA: Final = -23
TIMEZONE: Final = -24
ZONE_INFO: Final = -25
RANGE: Final = -26
SLICE: Final = -27
PATTERN: Final = -28
PURE_POSIX_PATH: Final = -29
PURE_WINDOWS_PATH: Final = -30
POSIX_PATH: Final = -31
WINDOWS_PATH: Final = -32
IPV4_ADDRESS: Final = -33
IPV4_NETWORK: Final = -34
IPV4_INTERFACE: Final = -35
IPV6_ADDRESS: Final = -36
IPV6_NETWORK: Final = -37
IPV6_INTERFACE: Final = -38
MISSING_: Final = -39
NUMPY_ARRAY: Final = -40
NUMPY_SCALAR: Final = -41
GENERIC_MODEL: Final = -42
MESSAGES: Final = -43

_new: Any = tuple.__new__


def ext(code: int, payload: bytes) -> ExtType:
    """An extension; ExtType's own constructor is slower and refuses our codes."""
    return _new(ExtType, (code, payload))


def list_head(length: int) -> bytes:
    """What stands before the packed items of a list."""
    if length < 16:
        return bytes([0x90 | length])
    return b"\xdc" + length.to_bytes(2, "big") if length < 1 << 16 else b"\xdd" + length.to_bytes(4, "big")


def list_start(data: bytes) -> tuple[int, int]:
    """How many items an encoded list has, and where the first one begins; ValueError if it is none."""
    first = data[1] if data[:1] == FORMAT else 0
    if first & 0xF0 == 0x90:
        return first & 0x0F, 2
    end = {0xDC: 4, 0xDD: 6}.get(first, 0)
    if not 0 < end <= len(data):
        raise ValueError("it is no list")
    return int.from_bytes(data[2:end], "big"), end


_PAYLOAD_AT = {0xC7: 3, 0xC8: 4, 0xC9: 6, **dict.fromkeys(range(0xD4, 0xD9), 2)}
"""Where the payload of an extension begins behind its code, by its first byte."""


def payload_of(code: int, data: Bytes) -> Bytes:
    """The payload of a value that is an extension with this code; KeyError or ValueError if it is not."""
    start = _PAYLOAD_AT[data[1]] + 1
    if data[start - 1] != code & 0xFF or data[:1] != FORMAT:
        raise ValueError("it is another extension")
    return data[start:]
