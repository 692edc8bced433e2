"""Encoded values, put together as one encoded list, and taken apart again: without decoding any of them."""

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from msgpack import Unpacker

from signoff.checkpoint.serde.blocks import is_block, packed_block, split_block
from signoff.checkpoint.serde.wire import FORMAT, list_head, list_start

__all__ = ["Form", "form_of", "joined", "split"]

MANY = 16
"""So many items are a long list; if they are messages, it is a block of them."""


class Form(Enum):
    """How an encoded list is written."""

    SHORT = 0
    LONG = 1
    BLOCK = 2


def form_of(data: bytes) -> Form:
    """How a list is written; ValueError if it is none."""
    if is_block(data):
        return Form.BLOCK
    return Form.SHORT if list_start(data)[0] < MANY else Form.LONG


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
