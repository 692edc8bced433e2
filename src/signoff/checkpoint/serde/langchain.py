"""How LangChain's messages are written: by far the most frequent typed values, so as short as possible.

A message is [number of its class, fields that were set], if the others have their defaults, as they mostly
have. Any other is [number, all fields, names of those that were set, extra fields, private attributes]. Many are
made together, see `blocks.py`.

The classes are a fixed table. They are the only thing of LangChain that loading may import, and it imports
exactly `langchain_core.messages`.
"""

import sys
from collections import deque
from collections.abc import Iterable, Sequence, Set
from importlib import import_module
from itertools import repeat
from typing import Any, Final

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.wire import Encode, Pack, ext
from signoff.errors import NotStorable, Undecodable

__all__ = ["MESSAGES", "encoder_for", "shape_of"]

MODULE: Final = "langchain_core.messages"

MESSAGES: Final = (
    "AIMessage", "HumanMessage", "SystemMessage", "ToolMessage", "FunctionMessage", "ChatMessage",
    "RemoveMessage", "AIMessageChunk", "HumanMessageChunk", "SystemMessageChunk", "ToolMessageChunk",
    "FunctionMessageChunk", "ChatMessageChunk", "BaseMessage", "BaseMessageChunk",
)  # fmt: skip
"""By number. New ones are added at the end; none is ever moved."""

_TEXT: Final = "TextAccessor"
"""What `message.text` is: a str that can also be called, as it once had to be. It is stored as the str it equals."""


def encoder_for(cls: type) -> Encode | None:
    """How to write instances of this class, if it is one of the table, or what the text of a message is."""
    if cls.__name__ == _TEXT and issubclass(cls, str):
        return lambda text, pack: str(text)
    messages = sys.modules.get(MODULE)
    if cls.__name__ not in MESSAGES or getattr(messages, cls.__name__, None) is not cls:
        return None
    return shape_of(MESSAGES.index(cls.__name__)).encode


_SHAPES: dict[int, "_Shape"] = {}


def shape_of(number: int) -> "_Shape":
    """What there is to know of the class with this number."""
    shape = _SHAPES.get(expect(number, int))
    if shape is None:
        if not 0 <= number < len(MESSAGES):
            raise ValueError(f"there is no class of messages with the number {number}")
        shape = _SHAPES[number] = _Shape(number, _message_class(MESSAGES[number]))
    return shape


def _message_class(name: str) -> Any:
    try:
        return getattr(import_module(MODULE), name)
    except (ImportError, AttributeError) as error:
        raise Undecodable(
            f"The value has a LangChain {name}, and {MODULE} has none here. Install langchain-core, at least "
            "the version that the value was stored with."
        ) from error


_NO_DEFAULT = object()
_new = object.__new__

_STATE = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
"""All that pydantic keeps of an instance."""


def _default(field: Any) -> Any:
    """What a field is when nobody sets it, if that is a constant, a new list or a new dict."""
    if field.is_required() or field.default_factory not in (None, list, dict):
        return _NO_DEFAULT
    return field.default_factory() if field.default_factory else field.default


class _Shape:
    """The fields of one class of messages and what they are when nobody sets them."""

    def __init__(self, number: int, cls: Any) -> None:
        fields: dict[str, Any] = cls.model_fields
        self.cls = cls
        self.head, self.long_head = bytes([0x92, number]), bytes([0x95, number])
        self.names = frozenset(fields)
        self.blank = {name: _default(field) for name, field in fields.items()}
        self.required = {name for name, default in self.blank.items() if default is _NO_DEFAULT}
        self.containers = [(name, type(own)) for name, own in self.blank.items() if type(own) in (list, dict)]
        self.fill = [_slot(cls, name).__set__ for name in _STATE]

    def encode(self, obj: Any, pack: Pack) -> Any:
        fields, chosen = obj.__dict__, obj.__pydantic_fields_set__
        # In the order of the class, since a set has another order in each process.
        kept = {name: value for name, value in fields.items() if name in chosen}
        if (
            len(kept) == len(chosen)
            and not obj.__pydantic_extra__
            and obj.__pydantic_private__ is None
            and self.blank | kept == fields
        ):
            return ext(wire.MESSAGE, self.head + pack(kept))
        return self._encode_long(obj, pack)

    def _encode_long(self, obj: Any, pack: Pack) -> Any:
        if obj.__dict__.keys() != self.names:
            odd = sorted(obj.__dict__.keys() ^ self.names)
            raise NotStorable(f"this {self.cls.__name__} has attributes besides its fields, or lacks some: {odd}")
        chosen = sorted(obj.__pydantic_fields_set__)
        rest = pack([obj.__dict__, chosen, obj.__pydantic_extra__, obj.__pydantic_private__])
        return ext(wire.MESSAGE, self.long_head + rest[1:])

    def make_all(self, names: Sequence[Any], count: int, columns: Iterable[Iterable[Any]]) -> list[Any]:
        """Messages of which only these fields were set, told field by field. Almost every line is a loop in C."""
        if len(set(names)) < len(names):
            raise ValueError(f"a field of {self.cls.__name__} is told twice")
        self._check(set(names))
        fields = list(map(dict.copy, repeat(self.blank, count)))
        for name, column in zip(names, columns, strict=True):
            for own, value in zip(fields, column, strict=True):
                own[name] = value
        for name, kind in self.containers:
            if name not in names:
                _give_own(fields, name, kind)
        made, chosen = list(map(_new, repeat(self.cls, count))), set(names)
        states: tuple[Iterable[Any], ...] = (
            fields,
            map(set.copy, repeat(chosen, count)),
            [{} for _ in fields],
            repeat(None),
        )
        for fill, state in zip(self.fill, states, strict=True):
            deque(map(fill, made, state), maxlen=0)
        return made

    def _check(self, names: Set[Any]) -> None:
        if not self.required <= names <= self.names:
            raise ValueError(f"a {self.cls.__name__} has {sorted(self.required)}, and only {sorted(self.names)}")

    def make_one(self, kept: Any) -> Any:
        """A message of which only these fields were set."""
        self._check(expect(kept, dict).keys())
        fields = self.blank | kept
        for name, kind in self.containers:
            if name not in kept:
                fields[name] = kind()
        return self._filled(fields, set(kept), {}, None)

    def make(self, state: Any) -> Any:
        """A message of which all is told."""
        kept, chosen, extra, private = expect(state, list)
        names = {expect(name, str) for name in expect(chosen, list)}
        return self._filled(self.make_one(kept).__dict__, names, _attributes(extra) or {}, _attributes(private))

    def _filled(self, fields: dict[str, Any], chosen: set[str], extra: Any, private: Any) -> Any:
        message = _new(self.cls)
        fill_fields, fill_chosen, fill_extra, fill_private = self.fill
        fill_fields(message, fields)
        fill_chosen(message, chosen)
        fill_extra(message, extra)
        fill_private(message, private)
        return message


def _give_own(many: list[dict[str, Any]], name: str, kind: type) -> None:
    """Give each message a new dict or list. To write it out is much quicker than to call for it."""
    if kind is dict:
        for fields in many:
            fields[name] = {}
    else:
        for fields in many:
            fields[name] = []


def _slot(cls: type, name: str) -> Any:
    """What keeps one part of a message's state."""
    return next(vars(base)[name] for base in reversed(cls.__mro__) if name in vars(base))


def _attributes(state: Any) -> Any:
    if state is not None and not all(type(name) is str for name in expect(state, dict)):
        raise ValueError("attributes have names")
    return state
