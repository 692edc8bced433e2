"""Schemas: from the type of a state to its channels, its readers, and the writes that a value stands for."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, get_args, get_origin

from typing_extensions import is_typeddict

from signoff._annotations import signature_of
from signoff._elsewhere import refuse_their_channel
from signoff.channels import BaseChannel, BinaryOperatorAggregate, LastValue
from signoff.channels.last_value import watch_for_theirs
from signoff.constants import JOIN, RESERVED, TRIGGER
from signoff.engine.program import Values, Write, values_of
from signoff.errors import InvalidGraph
from signoff.managed.base import ManagedValue, is_managed
from signoff.pregel.typing import annotated_names, class_of, field_hints, has_fields, is_pydantic, is_type, meant

ROOT = "__root__"
"""The only key of a state that is not a mapping: `StateGraph(Annotated[list, operator.add])`."""


def is_root(keys: Collection[str]) -> bool:
    """Whether a state with these keys is one bare value and not a mapping. Beside others, the key is one like them."""
    return ROOT in keys and len(keys) == 1


Managed = dict[str, type[ManagedValue]]
Reader = Callable[[Values, int, int], Any]


@dataclass(slots=True, eq=False)
class Schema:
    """What a type says about a state."""

    declared: Any
    type: Any
    """The class, where it is declared with parameters: `State[int]`."""
    channels: dict[str, BaseChannel]
    managed: Managed
    hints: Collection[Any]
    """Where the classes are named that may be in a state: the annotations of its fields, or the type itself."""
    build: Callable[[dict[str, Any]], Any] | None = field(init=False)
    """What makes an object of the type; None where a dict will do."""

    def __post_init__(self) -> None:
        self.build = builder_of(self.type)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the channels, in the order of the type."""
        return tuple(self.channels)

    @property
    def is_root(self) -> bool:
        """Whether the state is one bare value and not a mapping."""
        return is_root(self.channels)

    @property
    def builds(self) -> bool:
        """Whether more than the values of its channels is made for whoever reads it."""
        return bool(self.managed) or self.build is not None

    def reader(self) -> Reader:
        """What makes the input of a node out of the values."""
        if self.is_root:
            return lambda values, step, stop: values.get(ROOT)
        read = partial(_read_managed, self.keys, self.managed) if self.managed else _reader(self.keys)
        build = self.build
        return read if build is None else lambda values, step, stop: build(read(values, step, stop))

    def maker(self) -> Callable[[Any], Any] | None:
        """What makes an object of the type out of what is shown of a state; None where the type has no objects.

        As long as a field is missing that the type requires, it is shown as it is.
        """
        build = self.build
        if build is None or self.is_root:
            return None
        needed = frozenset(_required(self.type))
        return lambda shown: build(values_of(self.keys, shown)) if needed <= shown.keys() else shown


def _reader(keys: Sequence[str]) -> Reader:
    return lambda values, step, stop: values_of(keys, values)


def _read_managed(keys: Sequence[str], managed: Managed, values: Values, step: int, stop: int) -> dict[str, Any]:
    computed = {key: value.get(step, stop) for key, value in managed.items()}
    return {**values_of(keys, values), **computed}


def schema_of_state(type_: Any) -> Schema:
    """The schema of a state; what is no type is refused."""
    if is_type(type_):
        return read_schema(type_)
    raise InvalidGraph(f"The schema is {type_!r}, which is no type. Give a TypedDict, a dataclass or a pydantic model.")


def read_schema(type_: Any) -> Schema:
    """The channels and managed values that a type declares."""
    watch_for_theirs()
    type_ = meant(type_)
    cls = class_of(type_)
    if not has_fields(cls):
        channel = channel_of(ROOT, type_)
        if isinstance(channel, BaseChannel):
            return Schema(type_, type_, {ROOT: channel}, {}, [type_])
        raise InvalidGraph(f"{type_!r} is a managed value; a state needs at least one key of its own.")
    channels: dict[str, BaseChannel] = {}
    managed: Managed = {}
    hints = field_hints(type_)
    for key, hint in hints.items():
        if key in RESERVED or key.startswith((TRIGGER, JOIN)):
            raise InvalidGraph(f"Key {key!r} of {cls.__name__} is reserved. Give it another name.")
        rule = channel_of(key, hint)
        if isinstance(rule, BaseChannel):
            channels[key] = rule
        else:
            managed[key] = rule
    return Schema(type_, cls, channels, managed, hints.values() if is_typeddict(cls) else [type_])


# From an annotation to a rule


def channel_of(key: str, hint: Any) -> BaseChannel | type[ManagedValue]:
    """The rule that an annotation asks for: a reducer, a channel, a managed value, or plainly the last value."""
    hint = meant(hint)
    if get_origin(hint) is not Annotated:
        return LastValue(hint, key)
    typ, *notes = get_args(hint)
    typ = meant(typ)
    for note in reversed(notes):
        rule = _rule_of(key, typ, note)
        if rule is not None:
            return rule
    return LastValue(typ, key)


def _rule_of(key: str, typ: Any, note: Any) -> BaseChannel | type[ManagedValue] | None:
    if is_managed(note):
        return note  # type: ignore[no-any-return]
    if isinstance(note, BaseChannel):
        named = copy(note)
        named.key, named.typ = key, typ if note.typ is None else note.typ
        return named
    if isinstance(note, type) and issubclass(note, BaseChannel):
        return note(typ, key=key)
    if isinstance(note, type) and note.__module__.startswith("langgraph.managed."):
        raise InvalidGraph(f"Key {key!r} is a managed value of LangGraph. Import its type from signoff.managed.")
    refuse_their_channel(key, note, InvalidGraph)
    if callable(note) and not isinstance(note, type) and _is_reducer(key, note):
        return BinaryOperatorAggregate(typ, note, key)
    return None


def _is_reducer(key: str, note: Callable[..., Any]) -> bool:
    try:
        parameters = signature_of(note).parameters.values()
    except ValueError:  # a builtin without a signature, such as operator.add on some versions
        return True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in positional if p.default is p.empty]
    if len(needed) <= 2 and (len(positional) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        return True
    raise InvalidGraph(
        f"The reducer of key {key!r} must take two arguments, the value and the update; "
        f"{getattr(note, '__name__', note)!r} takes {signature_of(note)}."
    )


# From values to an object of the type, and back


def builder_of(type_: Any) -> Callable[[dict[str, Any]], Any] | None:
    """What makes an instance out of a dict; None where the dict itself will do."""
    if is_pydantic(type_) and _has_aliases(type_):
        return validator_of(type_)
    if dataclasses.is_dataclass(type_) and (later := [one.name for one in dataclasses.fields(type_) if not one.init]):
        return partial(_with_fields_set, type_, later)
    if is_pydantic(type_) or dataclasses.is_dataclass(type_):
        return lambda values: type_(**values)
    return None


def _with_fields_set(type_: Any, later: Sequence[str], values: dict[str, Any]) -> Any:
    """An instance of a dataclass that does not take all of its fields when it is made: `field(init=False)`."""
    instance = type_(**{name: value for name, value in values.items() if name not in later})
    for name in later:
        if name in values:
            object.__setattr__(instance, name, values[name])  # of frozen ones, too
    return instance


def validator_of(type_: Any) -> Callable[[dict[str, Any]], Any]:
    """What makes a pydantic object out of a dict whose keys are the names of its fields, or their aliases."""
    return partial(type_.model_validate, by_alias=True, by_name=True) if _has_aliases(type_) else type_.model_validate


def _has_aliases(type_: Any) -> bool:
    return any(field.validation_alias is not None for field in type_.model_fields.values())


def aliases_of(type_: Any) -> dict[str, str]:
    """The fields of a pydantic model by what they are called outside, in JSON say."""
    names = ((field.validation_alias, name) for name, field in type_.model_fields.items())
    return {alias: name for alias, name in names if isinstance(alias, str) and alias not in type_.model_fields}


def _required(type_: Any) -> list[str]:
    """The fields without which no object of a type can be made."""
    if is_pydantic(type_):
        return [name for name, field in type_.model_fields.items() if field.is_required()]
    missing = dataclasses.MISSING
    fields = (field for field in dataclasses.fields(type_) if field.init)
    return [field.name for field in fields if field.default is missing and field.default_factory is missing]


def writes_of_object(value: Any) -> list[Write] | None:
    """The fields of a dataclass or pydantic object as writes; None if it is neither."""
    if is_pydantic(type(value)):
        told = value.model_fields_set
        fields = ((name, getattr(value, name)) for name in type(value).model_fields)
        return [(name, field) for name, field in fields if name in told or field is not None]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, Mapping):
        return list(value.items())
    names = annotated_names(type(value))
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)] if names else None
