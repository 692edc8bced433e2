"""Packed: values as they are kept, encoded or taken apart, and how they become again what they were."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from signoff._words.commands import Send
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import PendingWrite
from signoff.checkpoint.encoding import channel_in_words, decoded
from signoff.checkpoint.memory.lineages import Spans, blobs_of
from signoff.checkpoint.questions import Question, read_interrupt
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.errors import Undecodable

__all__ = [
    "ASKED",
    "DICT",
    "KeptSend",
    "LIST",
    "PLAIN_LIST",
    "Packed",
    "QUESTION",
    "SEND",
    "SENDS",
    "in_items",
    "is_in_items",
    "parts_of",
    "whose",
    "unpacked",
    "unpacked_for_run",
    "unpacked_question",
    "unpacked_writes",
]


class Packed(NamedTuple):
    """A value that was encoded, or taken apart."""

    tag: Any
    """What the serializer says, or one of those below."""
    data: Any


# Numbers, so that no serializer has them as tags.
SEND = 0
"""A Send whose argument is plain, or taken apart: what is in it."""
SENDS = 1
"""Several, as copies that no program has: a run may have them, since it hands on only what is in them."""
LIST = 2
"""A short list: each of its items is plain, or packed."""
PLAIN_LIST = 7
"""One whose items are all plain."""
DICT = 3
"""The keys of a dict, all of them plain, and its values, each of them plain, or packed."""
ASKED = 4
"""Questions, each of them packed if it has to be."""
ITEMS = 5
"""A list that is made of slices of lineages."""
QUESTION = 6
"""A question whose value is taken apart: what is in it."""


def in_items(spans: Spans) -> Packed:
    """A list that is kept item by item."""
    return Packed(ITEMS, spans)


def is_in_items(value: Any) -> bool:
    """Whether a value is a list that is kept item by item."""
    return type(value) is Packed and value.tag == ITEMS


def unpacked(serde: Any, value: Any) -> Any:
    """A value as it was."""
    if type(value) is not Packed:
        return value
    tag, data = value
    if tag == PLAIN_LIST:
        return [*data]
    if type(tag) is str:
        return decoded(serde, value)
    if tag == LIST:
        return [unpacked(serde, item) if type(item) is Packed else item for item in data]
    if tag == SENDS:
        return [Send(send.node, send.arg, timeout=send.timeout) for send in data]
    if tag == SEND:
        return Send(data[0], unpacked(serde, data[1]), timeout=data[2])
    if tag == QUESTION:
        asked, id, key, origin = data
        return Interrupt(unpacked(serde, asked), id, key=key, origin=origin)
    if tag == DICT:
        return {name: unpacked(serde, one) if type(one) is Packed else one for name, one in zip(*data, strict=True)}
    if tag == ASKED:
        return tuple([unpacked(serde, question) for question in data])
    return _unpacked_items(serde, data)


def unpacked_for_run(serde: Any, value: Any) -> Any:
    """A value as it was, for the engine."""
    if type(value) is Packed and value.tag == SENDS:
        return list(value.data)
    return unpacked(serde, value)


class KeptSend:
    """A Send whose argument is taken apart. A run has it in the place of the Send: of many that wait, few run."""

    __slots__ = ("_arg", "node", "timeout")

    def __init__(self, node: str, arg: Packed, timeout: Any) -> None:
        self.node = node
        self._arg = arg
        self.timeout = timeout

    @property
    def arg(self) -> Any:
        """The argument, put together: nobody else has it."""
        return unpacked(None, self._arg)

    def put_together(self) -> Send:
        """The Send."""
        return Send(self.node, self.arg, timeout=self.timeout)


def _unpacked_items(serde: Any, spans: Spans) -> list[Any]:
    blobs = blobs_of(spans)
    return serde.loads_all(blobs) if type(serde) is JsonPlusSerializer else [decoded(serde, blob) for blob in blobs]


def parts_of(value: Any) -> Iterator[Any]:
    """What a stored value consists of, for whoever counts the bytes: of a list that grew, the lineages under it."""
    if type(value) is not Packed:
        yield value
    elif value.tag == ITEMS:
        yield from (lineage for lineage, _, _ in value.data)
    elif value.tag in (LIST, PLAIN_LIST, ASKED):
        yield value.data
        yield from (part for item in value.data for part in parts_of(item))
    elif value.tag == DICT:
        yield from (part for one in value.data[1] for part in parts_of(one))
    elif value.tag == QUESTION:
        yield from parts_of(value.data[0])
    else:
        yield value.data


def unpacked_writes(serde: Any, writes: Iterable[PendingWrite]) -> list[PendingWrite]:
    """What tasks wrote, as it was."""
    return [(write[0], write[1], unpacked(serde, write[2])) if type(write[2]) is Packed else write for write in writes]


def unpacked_question(serde: Any, question: Question, packed: Any) -> Question:
    """A question with what it asks."""
    asked = read_interrupt(question.id, question.thread_id, lambda: unpacked(serde, packed))
    return replace(question, interrupt=asked)


def whose(serde: Any, values: Mapping[str, Any], writes: Iterable[PendingWrite]) -> str:
    """The key whose value is refused."""
    for name, value in [*values.items(), *(write[1:] for write in writes)]:
        try:
            unpacked(serde, value)
        except Undecodable:
            return channel_in_words(name)
    return ""
