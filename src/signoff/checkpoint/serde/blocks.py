"""Messages of one list, kept and made together: class by class and field by field.

A block is [order, group, group, ...]. A group is [number of a class, names of the fields that were set, a list of
values for each of them], or, of messages of which all is told, [number, None, list of those]. The order says for
each message, with one byte, which group it is the next one of. What many messages have in common is told once, and
reading does the same thing to all of them at once, in C.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from msgpack import Packer, unpackb

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.langchain import shape_of
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.wire import FORMAT, SURROGATES, Load, ext, list_head, payload_of

__all__ = ["EXTENSIONS", "decode_block", "decode_message", "is_block", "messages_in", "packed_block", "split_block"]

Block = Sequence[Any]

_Key = tuple[Any, ...]
"""A class and its fields: what the messages of a group have in common."""


EXTENSIONS = frozenset((*range(0xC7, 0xCA), *range(0xD4, 0xD9)))
"""What an extension begins with."""


def decode_message(payload: bytes, load: Load) -> Any:
    """The message of a payload."""
    number, kept, *more = load(payload)
    shape = shape_of(number)
    return shape.make([kept, *more]) if more else shape.make_one(kept)


def decode_block(payload: bytes, load: Load) -> list[Any]:
    """The messages of a block."""
    return messages_in([load(payload)])[0]


class _Group:
    """Messages of one kind: how many there are, and the columns of each block."""

    __slots__ = ("columns", "count")

    def __init__(self) -> None:
        self.count = 0
        self.columns: list[tuple[list[Any], ...]] = []


def messages_in(blocks: Iterable[Block]) -> list[list[Any]]:
    """The messages of blocks, unpacked. Groups of the same kind are made together."""
    groups: dict[_Key, _Group] = {}
    orders = [(expect(order, bytes), [_gather(groups, order, at, *group) for at, group in enumerate(rest)])
              for order, *rest in blocks]  # fmt: skip
    made = {key: iter(_made(key, group)) for key, group in groups.items()}
    found = []
    for order, keys in orders:
        following = [made[key] for key in keys]
        found.append([next(following[at]) for at in order])
    return found


def _gather(groups: dict[_Key, _Group], order: bytes, at: int, number: Any, names: Any, *columns: Any) -> _Key:
    """Add a group of a block to those of the same kind."""
    count = order.count(at)
    if {*map(type, columns)} != {list} or {*map(len, columns)} != {count}:
        raise ValueError("a block of messages lacks some, or has too many")
    key = (number, None) if names is None else (number, *expect(names, list))
    known = groups.setdefault(key, _Group())
    known.count += count
    known.columns.append(columns)
    return key


def _made(key: _Key, group: _Group) -> list[Any]:
    number, *names = key
    shape = shape_of(number)
    columns = map(chain.from_iterable, zip(*group.columns, strict=True))
    if names == [None]:
        return [shape.make(state) for state in next(columns)]
    return shape.make_all(names, group.count, columns)


def _as_block(payloads: Iterable[Any]) -> list[Any]:
    groups: dict[_Key, list[Any]] = {}
    places: dict[_Key, int] = {}
    order = []
    for number, kept, *more in payloads:
        key = (number, None) if more else (number, *expect(kept, dict))
        order.append(places.setdefault(key, len(places)))
        groups.setdefault(key, []).append([kept, *more] if more else kept.values())
    return [bytes(order), *(_as_group(key, states) for key, states in groups.items())]


def _as_group(key: _Key, states: list[Any]) -> list[Any]:
    if key[1:] == (None,):
        return [*key, states]
    return [key[0], list(key[1:]), *map(list, zip(*states, strict=True))]


def packed_block(many: Sequence[bytes]) -> bytes | None:
    """Encoded messages, as one encoded block; None if they are not all messages."""
    try:
        payloads = _unpacked(list_head(len(many)) + b"".join([payload_of(wire.MESSAGE, data) for data in many]))
        block = FORMAT + _pack(ext(wire.MESSAGES, _pack(_as_block(payloads))))
        return block if split_block(block) == list(many) else None
    except Exception:
        return None  # at least one of them is something else, or each is of another kind


def is_block(data: bytes) -> bool:
    """Whether these bytes are an encoded block, and not another encoded list."""
    return data[1] in EXTENSIONS


def split_block(data: bytes) -> list[bytes]:
    """The encoded messages of an encoded block."""
    order, *groups = _unpacked(payload_of(wire.MESSAGES, data))
    payloads = [iter(_payloads(*group)) for group in groups]
    return [FORMAT + _pack(ext(wire.MESSAGE, _pack(next(payloads[at])))) for at in order]


def _payloads(number: Any, names: Any, *columns: Any) -> Iterator[list[Any]]:
    if names is None:
        return ([number, *state] for state in columns[0])
    return ([number, dict(zip(names, state, strict=True))] for state in zip(*columns, strict=True))


def _unpacked(data: bytes) -> Any:
    """What is in bytes, with extensions left as they are."""
    return unpackb(data, ext_hook=ext, strict_map_key=False, unicode_errors=SURROGATES)


def _pack(value: Any) -> bytes:
    data: bytes = Packer(strict_types=True, unicode_errors=SURROGATES, buf_size=1024).pack(value)
    return data
