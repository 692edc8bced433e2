"""How LangChain's messages are written: by far the most frequent typed values, so as short as possible.

A message is [number of its class, fields that were set], if the others have their defaults, as they mostly
have. Any other is [number, all fields, names of those that were set, extra fields, private attributes].

The classes are a fixed table. They are the only thing of LangChain that loading may import, and it imports
exactly `langchain_core.messages`.
"""

import sys
from collections import deque
from importlib import import_module
from itertools import repeat
from operator import contains, or_
from typing import Any, Final

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.kinds import expect
from signoff.checkpoint.serde.models import set_state
from signoff.checkpoint.serde.wire import Encode, Load, Pack, ext
from signoff.errors import NotStorable, Undecodable

__all__ = ["MESSAGES", "decode_message", "encoder_for", "messages_of"]

MODULE: Final = "langchain_core.messages"

MESSAGES: Final = (
    "AIMessage", "HumanMessage", "SystemMessage", "ToolMessage", "FunctionMessage", "ChatMessage",
    "RemoveMessage", "AIMessageChunk", "HumanMessageChunk", "SystemMessageChunk", "ToolMessageChunk",
    "FunctionMessageChunk", "ChatMessageChunk", "BaseMessage", "BaseMessageChunk",
)  # fmt: skip
"""By number. New ones are added at the end; none is ever moved."""


def encoder_for(cls: type) -> Encode | None:
    """How to write instances of this class, if it is one of the table."""
    messages = sys.modules.get(MODULE)
    if cls.__name__ not in MESSAGES or getattr(messages, cls.__name__, None) is not cls:
        return None
    return _shape(MESSAGES.index(cls.__name__)).encode


def decode_message(payload: bytes, load: Load) -> Any:
    """The message of a payload."""
    return messages_of([load(payload)])[0]


def messages_of(payloads: list[Any]) -> list[Any]:
    """The messages of many payloads, unpacked. Histories are long, so those of one class are made together."""
    groups: dict[Any, list[Any]] = {}
    for number, kept, *state in payloads:
        groups.setdefault(None if state else number, []).append((number, kept, *state) if state else kept)
    made = {number: iter(_made(number, group)) for number, group in groups.items()}
    return [next(made[payload[0] if len(payload) == 2 else None]) for payload in payloads]


def _made(number: Any, group: list[Any]) -> list[Any]:
    if number is not None:
        return (_SHAPES.get(number) or _shape(number)).make_short(group)
    return [_shape(number).make(*state) for number, *state in group]


_SHAPES: dict[int, "_Shape"] = {}


def _shape(number: int) -> "_Shape":
    if not 0 <= expect(number, int) < len(MESSAGES):
        raise ValueError(f"there is no class of messages with the number {number}")
    if number not in _SHAPES:
        _SHAPES[number] = _Shape(number, _message_class(MESSAGES[number]))
    return _SHAPES[number]


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
        self.required = [name for name, default in self.blank.items() if default is _NO_DEFAULT]
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

    def make_short(self, many: list[Any]) -> list[Any]:
        """Messages of which only the fields are told that were set. Almost every line is a loop in C."""
        if set(map(type, many)) != {dict} or not all(all(map(contains, many, repeat(name))) for name in self.required):
            raise ValueError(f"a {self.cls.__name__} is a dict with {self.required}")
        fields = list(map(or_, repeat(self.blank), many))
        if set(map(len, fields)) != {len(self.blank)}:
            raise ValueError(f"a {self.cls.__name__} has only {sorted(self.names)}")
        for name, make in self.containers:
            for kept, own in zip(many, fields, strict=True):
                if name not in kept:
                    own[name] = make()
        made = list(map(_new, repeat(self.cls, len(many))))
        extras: list[Any] = [{} for _ in many]
        for fill, states in zip(self.fill, (fields, map(set, many), extras, repeat(None)), strict=True):
            deque(map(fill, made, states), maxlen=0)
        return made

    def make(self, kept: Any, chosen: Any = None, extra: Any = None, private: Any = None) -> Any:
        message = object.__new__(self.cls)
        names = set(kept) if chosen is None else {expect(name, str) for name in expect(chosen, list)}
        set_state(message, self._complete(expect(kept, dict)), names, _attributes(extra) or {}, _attributes(private))
        return message

    def _complete(self, kept: dict[str, Any]) -> dict[str, Any]:
        return self.make_short([kept])[0].__dict__  # type: ignore[no-any-return]


def _slot(cls: type, name: str) -> Any:
    """What keeps one part of a message's state."""
    return next(vars(base)[name] for base in reversed(cls.__mro__) if name in vars(base))


def _attributes(state: Any) -> Any:
    if state is not None and not all(type(name) is str for name in expect(state, dict)):
        raise ValueError("attributes have names")
    return state
