"""Encoded values, put together as one encoded list, and taken apart again: without decoding any of them."""

from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise

from msgpack import Unpacker

from signoff.checkpoint.serde.blocks import EXTENSIONS, is_block, packed_block, split_block
from signoff.checkpoint.serde.wire import FORMAT, list_head, list_start

__all__ = ["Form", "form_of", "joined", "split"]

MANY = 16
"""So many items are a long list; if they are messages, it is a block of them."""


class Form(Enum):
    """How an encoded list is written."""

    SHORT = auto()
    LONG = auto()
    BLOCK = auto()


_FORMS = {
    **{FORMAT + bytes([head]): Form.SHORT for head in range(0x90, 0x90 + MANY)},
    **{FORMAT + bytes([head]): Form.LONG for head in (0xDC, 0xDD)},
    **{FORMAT + bytes([head]): Form.BLOCK for head in EXTENSIONS},
}
"""By what a list begins with: msgpack's own short lists have less than 16 items, too."""


def form_of(data: bytes) -> Form:
    """How a list is written; KeyError if it is none."""
    return _FORMS[data[:2]]


def joined(many: Sequence[bytes]) -> bytes:
    """Encoded values as one encoded list."""
    block = packed_block(many) if len(many) >= MANY else None
    return block or FORMAT + list_head(len(many)) + b"".join([data[1:] for data in many])


def split(data: bytes) -> list[bytes]:
    """The encoded items of an encoded list; any error means that it is broken."""
    if is_block(data):
        return split_block(data)
    count, start = list_start(data)
    body = data[start:]
    return [FORMAT + body[first:end] for first, end in pairwise(_bounds(body, count))]


def _bounds(body: bytes, count: int) -> list[int]:
    """Where values begin, and where the last one ends."""
    unpacker = Unpacker(max_buffer_size=len(body) or 1)
    unpacker.feed(body)
    bounds = [0]
    for _ in range(count):
        unpacker.skip()
        bounds.append(unpacker.tell())
    if bounds[-1] != len(body):
        raise ValueError("there is more than a list")
    return bounds
