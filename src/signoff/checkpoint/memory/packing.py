"""Packing: values that a program could change later are encoded, or taken apart; what it cannot change is kept."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import is_
from typing import Any

from signoff._words.commands import Send
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Commit
from signoff.checkpoint.encoding import encoded_all, encoded_values, encoded_writes
from signoff.checkpoint.log.entries import MANY
from signoff.checkpoint.memory.packed import ASKED, DICT, LIST, PLAIN_LIST, QUESTION, SEND, SENDS, KeptSend, Packed
from signoff.constants import INTERRUPT, RESUME, START, TASKS

__all__ = ["Packing", "is_plain", "refuse"]

_as_packed: Callable[[tuple[Any, Any]], Packed] = partial(tuple.__new__, Packed)
"""In half the time that the class takes: there are hundreds in a step that sends, or asks, as much."""

_OTHER: Any = object()
"""For what cannot be taken apart into what is plain."""

_LEVELS, _WIDTH = 3, 16
"""How deep lists and dicts are nested, and how long they are, that are taken apart sooner than they are encoded."""


def is_plain(plain: frozenset[type], commit: Commit) -> bool:
    """Whether nothing has to be packed in a moment, in what tasks wrote, and in what is filed. So it is with most."""
    moment, filing = commit.moment, commit.filing
    if moment is None and commit.has_checkpoint:
        return False
    for filed in filing.asked if filing is not None else ():
        if not _is_plain_question(plain, filed.interrupt):
            return False
    for value in moment.changed.values() if moment is not None else ():
        if type(value) not in plain:
            return False
    for _, writes, _ in commit.writes:
        for channel, value in writes:
            if type(value) not in plain and not _stays(plain, channel, value):
                return False
    return True


def _stays(plain: frozenset[type], channel: str, value: Any) -> bool:
    """Whether a value is some questions, or answers, in which nothing has to be packed."""
    if channel == INTERRUPT and type(value) is tuple:
        # not all(...): a generator takes longer than the few that there are
        for question in value:  # noqa: SIM110
            if not _is_plain_question(plain, question):
                return False
        return True
    if channel == RESUME and type(value) is dict:
        for answer in value.values():
            if type(answer) is not dict or "value" not in answer or type(answer["value"]) not in plain:
                return False
        return bool(plain)
    return False


def _is_plain_question(plain: frozenset[type], question: Any) -> bool:
    return type(question) is Interrupt and question.response_schema is None and type(question.value) in plain


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
        return self.plain.issuperset(map(type, items))

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
        is_known = type(interrupt) is not Interrupt or id(interrupt) in self._known
        if is_known or interrupt.response_schema is not None:
            return self.encode(interrupt)
        asked = self._apart(interrupt.value)
        if asked is interrupt.value:
            return interrupt
        if asked is not _OTHER:
            self.know(interrupt, _as_packed((QUESTION, (asked, interrupt.id, interrupt.key, interrupt.origin))))
        return self.encode(interrupt)

    def _kept(self, channel: str, value: Any) -> Any:
        """What is in a value, if there is nothing that has to be encoded; None if there is."""
        kind = type(value)
        if channel == INTERRUPT and kind is tuple:
            return self._asked(value)
        if channel == RESUME and kind is dict:
            return self._answered(value)
        if kind is list:
            return self._sends(value) if channel == TASKS else self._listed(value)
        if kind is dict and channel == START:
            return _as_packed((DICT, (tuple(value), tuple([self._given(one) for one in value.values()]))))
        if kind is dict:
            apart = self._apart(value)
            return apart if apart is not _OTHER else None
        if kind is Send:
            arg = self._apart(value.arg)
            return _as_packed((SEND, (value.node, arg, value.timeout))) if arg is not _OTHER else None
        return None

    def _apart(self, value: Any, levels: int = _LEVELS) -> Any:
        """What is plain as it is; a dict or a list as its parts, if these are, too: else `_OTHER`."""
        plain, kind = self.plain, type(value)
        if kind in plain:
            return value
        if (kind is not dict and kind is not list) or not levels or not plain or len(value) > _WIDTH:
            return _OTHER
        parts, tag = tuple(value.values() if kind is dict else value), PLAIN_LIST
        for part in parts:
            if type(part) not in plain:
                parts, tag = tuple([self._apart(one, levels - 1) for one in parts]), LIST
                if _OTHER in parts:
                    return _OTHER
                break
        if kind is list:
            return _as_packed((tag, parts))
        for name in value:
            if type(name) not in plain:
                return _OTHER
        return _as_packed((DICT, (tuple(value), parts)))

    def _given(self, value: Any) -> Any:
        """A part of what a run is given. The items of a list go into another one, so each is packed by itself."""
        if type(value) in self.plain:
            return value
        if type(value) is not list or not 0 < len(value) < MANY:
            apart = self._apart(value)
            return apart if apart is not _OTHER else self.encode(value)
        items = [item if type(item) in self.plain else self.encode(item) for item in value]
        return Packed(LIST, tuple(items))

    def _answered(self, answers: dict[str, Any]) -> Any:
        """Answers by question, if their values are plain, or can be taken apart. The rest of them no program has."""
        values = [self._apart(one["value"]) for one in answers.values() if type(one) is dict and "value" in one]
        if len(values) < len(answers) or _OTHER in values:
            return None
        if all(map(is_, values, [one["value"] for one in answers.values()])):
            return answers if self.plain else None
        both = zip(answers.values(), values, strict=True)
        parts = [(tuple(one), tuple({**one, "value": value}.values())) for one, value in both]
        return Packed(DICT, (tuple(answers), tuple([Packed(DICT, part) for part in parts])))

    def _sends(self, sends: list[Any]) -> Packed | None:
        kept = [self._send(send) for send in sends]
        if None not in kept:
            return Packed(SENDS, kept)
        return self.encode([send.put_together() if type(send) is KeptSend else send for send in sends])

    def _send(self, send: Any) -> Send | KeptSend | None:
        if type(send) is KeptSend:
            return send
        arg = self._apart(send.arg) if type(send) is Send else _OTHER
        if arg is _OTHER:
            return None
        is_plain = arg is send.arg
        return Send(send.node, arg, timeout=send.timeout) if is_plain else KeptSend(send.node, arg, send.timeout)

    def _asked(self, questions: tuple[Any, ...]) -> Any:
        packed = tuple([self.question(one) for one in questions])
        return questions if all(map(is_, packed, questions)) else Packed(ASKED, packed)

    def _listed(self, value: list[Any]) -> Packed | None:
        items, tag = [], PLAIN_LIST
        for item in value:
            if type(item) not in self.plain:
                if id(item) not in self._known:
                    return None
                item, tag = self._known[id(item)][1], LIST
            items.append(item)
        return _as_packed((tag, tuple(items)))


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
