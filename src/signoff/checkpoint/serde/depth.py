"""Whether packed bytes are nested deeper than a limit, asked of msgpack's own parser.

A walk over the value in Python would take longer than packing it. The parser in C skips over bytes without
making values of them and stops where its stack ends; so the bytes are put behind as many open lists as
leave room for just the limit.
"""

from bisect import bisect_left
from functools import cache

from msgpack import StackError, Unpacker

__all__ = ["may_be_too_deep"]

_OPEN_LIST = b"\x91"
_NOT_OPENING = bytes(byte for byte in range(256) if not (0x80 <= byte <= 0x9F or 0xDC <= byte <= 0xDF))
"""All bytes that are not the beginning of a list or a dict."""

_SHORT = 4096
_LARGEST_STACK = 1 << 16


def may_be_too_deep(data: bytes, limit: int) -> bool:
    """Whether lists and dicts are nested deeper than this; without msgpack's C code, if they might be."""
    if len(data) < _SHORT and len(data.translate(None, _NOT_OPENING)) <= limit:
        return False
    stack = _stack_size()
    return stack is None or _overflows(_OPEN_LIST * (stack - limit), data)


@cache
def _stack_size() -> int | None:
    """How many open lists the parser can remember; None if it is the one in Python, which calls itself."""
    if Unpacker.__module__ == "msgpack.fallback":
        return None
    return bisect_left(range(_LARGEST_STACK), True, key=lambda size: _overflows(_OPEN_LIST * size, b"\xc0")) - 1


def _overflows(open_lists: bytes, data: bytes) -> bool:
    size = len(open_lists) + len(data)
    unpacker = Unpacker(read_size=size, max_buffer_size=size)
    unpacker.feed(open_lists)
    unpacker.feed(data)
    try:
        unpacker.skip()
    except StackError:
        return True
    return False
