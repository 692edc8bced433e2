"""Packing: values that a program could change later are encoded; what it cannot change is kept as it is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import is_
from typing import Any, NamedTuple

from signoff._words.commands import Send
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Commit, PendingWrite
from signoff.checkpoint.encoding import Blob, decoded, encoded_all, encoded_values, encoded_writes, with_place
from signoff.checkpoint.log.entries import MANY
from signoff.checkpoint.memory.lineages import Spans, blobs_of
from signoff.checkpoint.questions import Question, read_interrupt
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.constants import INTERRUPT, RESUME, START, TASKS
from signoff.errors import Undecodable

__all__ = [
    "Packed",
    "Packing",
    "in_items",
    "is_in_items",
    "is_plain",
    "parts_of",
    "placed",
    "refuse",
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


_as_packed: Callable[[Blob], Packed] = partial(tuple.__new__, Packed)

# Numbers, so that no serializer has them as tags.
_SEND = 0
"""A Send whose argument is plain: what is in it."""
_SENDS = 1
"""Several, as copies that no program has: a run may have them, since it hands on only what is in them."""
_LIST = 2
"""A short list: each of its items is plain, or packed."""
_DICT = 3
"""The keys of a dict, all of them plain, and its values, each of them plain, or packed."""
_ASKED = 4
"""Questions, each of them packed if it has to be."""
_ITEMS = 5
"""A list that is made of slices of lineages."""


def is_plain(plain: frozenset[type], commit: Commit) -> bool:
    """Whether nothing has to be packed in a moment, in what tasks wrote, or in both. So it is with most steps."""
    moment = commit.moment
    if commit.filing is not None or (moment is None and commit.has_checkpoint):
        return False
    for value in moment.changed.values() if moment is not None else ():
        if type(value) not in plain:
            return False
    for _, writes, _ in commit.writes:
        for _, value in writes:
            if type(value) not in plain:
                return False
    return True


class Packing:
    """Packs commits that are stored together. An object that stands in them several times is encoded once.

    plain: the types of what need not be encoded.
    """

    __slots__ = ("_known", "plain", "serde")

    def __init__(self, serde: Any, plain: frozenset[type]) -> None:
        self.serde = serde
        self.plain = plain
        self._known: dict[int, tuple[Any, Packed]] = {}
        """What is packed already, by the identity of the objects. They are kept alive, so that no other gets it."""

    def is_plain(self, items: Iterable[Any]) -> bool:
        """Whether none of the items has to be encoded."""
        return all(type(item) in self.plain for item in items)

    def know(self, value: Any, packed: Packed) -> None:
        """Remember how an object was packed."""
        self._known[id(value)] = value, packed

    def encode(self, value: Any) -> Packed:
        """A value, encoded."""
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, Packed(*self.serde.dumps_typed(value))
        return known[1]

    def encode_all(self, values: Sequence[Any]) -> list[Packed]:
        """Values, each encoded by itself."""
        known, ids = self._known, list(map(id, values))
        new = [value for value, id in zip(values, ids, strict=True) if id not in known]
        if new:
            packed = map(_as_packed, encoded_all(self.serde, new))
            known.update(zip(map(id, new), zip(new, packed, strict=True), strict=True))
        return [known[id][1] for id in ids]

    def pack(self, channel: str, value: Any) -> Any:
        """The value of a channel, or what a task wrote to it."""
        if type(value) in self.plain:
            return value
        kept = None if id(value) in self._known else self._kept(channel, value)
        return self.encode(value) if kept is None else kept

    def record(self, record: Any) -> Any:
        """What a task wrote, (id, writes, path), with its values packed; itself, if all of them are plain."""
        task_id, writes, path = record
        for _, value in writes:
            if type(value) not in self.plain:
                return task_id, [(channel, self.pack(channel, value)) for channel, value in writes], path
        return record

    def question(self, interrupt: Any) -> Any:
        """A question. Only what was asked, and the form of the answer, could be changed by the program."""
        is_ours = type(interrupt) is Interrupt and interrupt.response_schema is None
        return interrupt if is_ours and type(interrupt.value) in self.plain else self.encode(interrupt)

    def _kept(self, channel: str, value: Any) -> Any:
        """What is in a value, if there is nothing that has to be encoded; None if there is."""
        plain, kind = self.plain, type(value)
        if channel == INTERRUPT and kind is tuple:
            return self._asked(value)
        if channel == RESUME and kind is dict:
            is_kept = plain and all(type(one) is dict and type(one.get("value")) in plain for one in value.values())
            return value if is_kept else None
        if kind is list:
            return self._sends(value) if channel == TASKS else self._listed(value)
        if kind is dict and channel == START:
            return Packed(_DICT, (tuple(value), tuple([self._given(one) for one in value.values()])))
        if kind is dict and plain and self.is_plain(value) and self.is_plain(value.values()):
            return Packed(_DICT, (tuple(value), tuple(value.values())))
        if kind is Send and type(value.arg) in plain:
            return Packed(_SEND, (value.node, value.arg, value.timeout))
        return None

    def _given(self, value: Any) -> Any:
        """A part of what a run is given. The items of a list go into another one, so each is packed by itself."""
        if type(value) in self.plain:
            return value
        if type(value) is not list or not 0 < len(value) < MANY:
            return self.encode(value)
        items = [item if type(item) in self.plain else self.encode(item) for item in value]
        return Packed(_LIST, tuple(items))

    def _sends(self, sends: list[Any]) -> Packed | None:
        if all(type(send) is Send and type(send.arg) in self.plain for send in sends):
            return Packed(_SENDS, _copied(sends))
        return None

    def _asked(self, questions: tuple[Any, ...]) -> Any:
        packed = tuple([self.question(one) for one in questions])
        return questions if all(map(is_, packed, questions)) else Packed(_ASKED, packed)

    def _listed(self, value: list[Any]) -> Packed | None:
        items = []
        for item in value:
            if type(item) not in self.plain:
                if id(item) not in self._known:
                    return None
                item = self._known[id(item)][1]
            items.append(item)
        return Packed(_LIST, tuple(items))


def in_items(spans: Spans) -> Packed:
    """A list that is kept item by item."""
    return Packed(_ITEMS, spans)


def is_in_items(value: Any) -> bool:
    """Whether a value is a list that is kept item by item."""
    return type(value) is Packed and value.tag == _ITEMS


def unpacked(serde: Any, value: Any) -> Any:
    """A value as it was."""
    if type(value) is not Packed:
        return value
    tag, data = value
    if type(tag) is str:
        return decoded(serde, value)
    if tag == _LIST:
        return [unpacked(serde, item) if type(item) is Packed else item for item in data]
    if tag == _SENDS:
        return _copied(data)
    if tag == _SEND:
        return Send(data[0], data[1], timeout=data[2])
    if tag == _DICT:
        return {name: unpacked(serde, one) if type(one) is Packed else one for name, one in zip(*data, strict=True)}
    if tag == _ASKED:
        return tuple([unpacked(serde, question) for question in data])
    return _unpacked_items(serde, data)


def unpacked_for_run(serde: Any, value: Any) -> Any:
    """A value as it was, for the engine."""
    if type(value) is Packed and value.tag == _SENDS:
        return list(value.data)
    return unpacked(serde, value)


def _copied(sends: Iterable[Send]) -> list[Send]:
    return [Send(send.node, send.arg, timeout=send.timeout) for send in sends]


def _unpacked_items(serde: Any, spans: Spans) -> list[Any]:
    blobs = blobs_of(spans)
    return serde.loads_all(blobs) if type(serde) is JsonPlusSerializer else [decoded(serde, blob) for blob in blobs]


def parts_of(value: Any) -> Iterator[Any]:
    """What a stored value consists of, for whoever counts the bytes."""
    if type(value) is not Packed:
        yield value
    elif value.tag == _ITEMS:
        yield from (blob[1] for lineage, _, _ in value.data for blob in lineage.items)
    elif value.tag in (_LIST, _ASKED):
        yield value.data
        yield from (part for item in value.data for part in parts_of(item))
    elif value.tag == _DICT:
        yield from (part for one in value.data[1] for part in parts_of(one))
    else:
        yield value.data


def unpacked_writes(serde: Any, writes: Iterable[PendingWrite]) -> list[PendingWrite]:
    """What tasks wrote, as it was."""
    return [(write[0], write[1], unpacked(serde, write[2])) if type(write[2]) is Packed else write for write in writes]


def unpacked_question(serde: Any, question: Question, packed: Any) -> Question:
    """A question with what it asks."""
    asked = read_interrupt(question.id, question.thread_id, lambda: unpacked(serde, packed))
    return replace(question, interrupt=asked)


def placed(
    serde: Any, error: Undecodable, thread_id: str, values: Mapping[str, Any], writes: Iterable[PendingWrite]
) -> Undecodable:
    """The refusal of a value again, with the thread and the key that it was read for."""
    for name, value in [*values.items(), *(write[1:] for write in writes)]:
        try:
            unpacked(serde, value)
        except Undecodable:
            return with_place(error, thread_id, name)
    return error


def refuse(serde: Any, commit: Commit) -> None:
    """Raise the refusal of a value again, with its channel in the path."""
    for _, writes, _ in commit.writes:
        encoded_writes(serde, writes)
    if commit.moment is not None:
        values = {name: value for name, value in commit.moment.changed.items() if type(value) is not Packed}
        serde.dumps_typed({START: values.pop(START, None)})
        encoded_values(serde, values, values)
    elif commit.checkpoint is not None:
        encoded_values(serde, commit.checkpoint["channel_values"], commit.checkpoint["channel_values"])
