"""Plans for Enums, NamedTuples, dataclasses and plain classes."""

import dataclasses
from enum import Enum, Flag
from functools import cached_property, reduce
from operator import attrgetter, or_
from typing import Any

from signoff.checkpoint.serde.care import notice
from signoff.checkpoint.serde.kinds import Plan
from signoff.checkpoint.serde.refusals import expect, not_stored, outgrown
from signoff.errors import NotStorable

__all__ = ["attribute_plan", "enum_plan", "fields_in", "named_tuple_plan", "shown_fields"]

_UNSET: Any = object()
"""In the place of an attribute that an instance does not have."""


def enum_plan(cls: Any) -> Plan:
    """Members by name, so that a reordered `auto()` cannot turn one into another."""
    if issubclass(cls, Flag):
        return _flag_plan(cls)
    members: dict[str, Enum] = cls._member_map_

    def take(member: Any) -> str:
        name: str = member._name_
        if members.get(name) is not member:
            raise NotStorable(f"{member!r} is not one of the members that {cls.__qualname__} was defined with")
        return name

    def make(name: Any) -> Enum:
        member = members[name] if name in members else _no_member(cls, name)
        if member._name_ != name:  # it has become another name for that one
            notice(cls, [name])
        return member

    return Plan(take, make)


def _flag_plan(cls: Any) -> Plan:
    """The names of the members that are set, and the bits that have none."""
    members: dict[str, Any] = cls._member_map_

    def take(member: Any) -> list[Any]:
        named = list(cls._iter_member_(member._value_))
        rest = member._value_ & ~_bits(named)
        return [*(one._name_ for one in named), rest] if rest else [one._name_ for one in named]

    def make(parts: Any) -> Any:
        if type(parts) is not list:  # bits alone, or a member of what was an Enum
            parts = [parts]
        found = [part if type(part) is int else members.get(part) or _no_member(cls, part) for part in parts]
        return cls(reduce(or_, [getattr(one, "_value_", one) for one in found], 0))

    return Plan(take, make)


def _bits(members: list[Any]) -> int:
    return reduce(or_, [member._value_ for member in members], 0)


def _no_member(cls: Any, name: Any) -> Any:
    raise outgrown(cls, f"it has no member {name!r}")


def named_tuple_plan(cls: Any) -> Plan:
    """The items by name, so that reordered ones stay themselves; items that the class got since are its defaults."""
    fields: tuple[str, ...] = cls._fields
    defaults: dict[str, Any] = cls._field_defaults

    def take(obj: Any) -> dict[str, Any]:
        if getattr(obj, "__dict__", None):
            raise NotStorable(f"this {cls.__qualname__} has attributes besides its items: {sorted(obj.__dict__)}")
        return dict(zip(fields, obj, strict=True))

    def make(state: Any) -> Any:
        stored = fields_in(state)
        notice(cls, stored.keys() - fields)
        items = {**defaults, **stored}
        if missing := [name for name in fields if name not in items]:
            raise not_stored(cls, missing[0])
        return tuple.__new__(cls, [items[name] for name in fields])

    return Plan(take, make)


def fields_in(state: Any) -> dict[Any, Any]:
    """The fields of an instance, and what it had beside them, whatever kind of class it was stored as.

    A class may have turned from a dataclass into a NamedTuple or a pydantic model since, or back.
    """
    if type(state) is not list:
        return expect(state, dict)  # type: ignore[no-any-return]
    fields, *others = state
    beside = others[1] if len(others) == 3 else others[0]  # of a pydantic model, its extra fields
    return {**expect(fields, dict), **expect(beside or {}, dict)}


def shown_fields(state: Any) -> Any:
    """What was stored of an instance, as far as can be told without its class."""
    try:
        return fields_in(state)
    except (ValueError, IndexError):
        return state


def attribute_plan(cls: type) -> Plan:
    """Fields by name, and whatever other attributes an instance has beside them."""
    shape = _Shape(cls)
    return Plan(shape.take, shape.make)


class _Shape:
    """Which attributes the instances of a class have.

    An instance whose attributes are exactly its fields is stored as one dict, the common case; one with
    others, as [fields, others]; one with fields that were never set, as [fields, others, names of these]. Told
    apart so that a field removed from the class since is dropped and not set.
    """

    def __init__(self, cls: type) -> None:
        slots = _slots(cls)
        self.cls = cls
        self.has_dict = bool(cls.__dictoffset__)
        self.is_open = self.has_dict and not dataclasses.is_dataclass(cls)
        self.defaults = _field_defaults(cls) if dataclasses.is_dataclass(cls) else {}
        self.fields = list(self.defaults) or slots
        self.names = frozenset(self.fields)
        self.other_slots = frozenset(slots) - self.names
        self.in_v1 = _fields_in_v1(cls)
        self.ignored = _caches(cls) | {"__orig_class__"}
        in_dict = self.has_dict and not any(_has_setter(cls, name) for name in self.fields)
        self.is_simple = in_dict and not self.other_slots and dataclasses.is_dataclass(cls)
        is_slotted = not self.has_dict and len(self.fields) > 1 and self.names == frozenset(slots)
        self.in_slots = attrgetter(*self.fields) if is_slotted else None

    def take(self, obj: Any) -> Any:
        if self.is_simple and obj.__dict__.keys() == self.names:
            return obj.__dict__
        if self.in_slots is not None:
            try:
                return dict(zip(self.fields, self.in_slots(obj), strict=True))
            except AttributeError:
                pass  # a field was never set
        values = ((name, getattr(obj, name, _UNSET)) for name in self.fields)
        fields = {name: value for name, value in values if value is not _UNSET}
        others = self._others(obj)
        if len(fields) < len(self.fields):
            return [fields, others, sorted(self.names - fields.keys())]
        return [fields, others] if others else fields

    def _others(self, obj: Any) -> dict[str, Any]:
        skipped = self.names | self.ignored
        in_dict = obj.__dict__ if self.has_dict else {}
        others = {name: value for name, value in in_dict.items() if name not in skipped}
        others.update({name: getattr(obj, name) for name in self.other_slots if hasattr(obj, name)})
        return others

    def make(self, state: Any) -> Any:
        obj: Any = object.__new__(self.cls)
        if self.is_simple and type(state) is dict and state.keys() == self.names:
            obj.__dict__.update(state)
            return obj
        if self.in_slots is not None and type(state) is dict and state.keys() == self.names:
            for name, value in state.items():
                object.__setattr__(obj, name, value)
            return obj
        fields, others, unset = self._parts(state)
        notice(self.cls, fields.keys() - self.names - others.keys())
        self._set_fields(obj, fields, unset)
        self._set_others(obj, others)
        return obj

    def _parts(self, state: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """The fields, the other attributes, and the names of fields that were never set."""
        found = fields_in(state)
        is_own = type(state) is list and len(state) < 4  # else all are fields, or it was a pydantic model
        others = found if self.is_open else state[1] if is_own else {}
        unset = expect(state[2], list) if is_own and len(state) == 3 else []
        if self.in_v1 is not None:
            others = self._complete_v1(others)
        return found, {name: value for name, value in others.items() if name not in self.names}, unset

    def _complete_v1(self, stored: dict[str, Any]) -> dict[str, Any]:
        """The fields of a pydantic 1 model as it is now, and extra ones if it takes them."""
        fields: dict[str, Any] = self.in_v1 or {}
        if missing := [name for name, field in fields.items() if name not in stored and field.required]:
            raise not_stored(self.cls, missing[0])
        takes_extra = str(getattr(self.cls.__config__.extra, "value", "")) == "allow"  # type: ignore[attr-defined]
        kept = {name: value for name, value in stored.items() if name in fields or name in self.names or takes_extra}
        return {**{name: field.get_default() for name, field in fields.items() if name not in stored}, **kept}

    def _set_fields(self, obj: Any, fields: dict[str, Any], unset: list[str]) -> None:
        for name in self.fields:
            if name in fields or name not in unset:
                object.__setattr__(obj, name, fields[name] if name in fields else self._default(name))

    def _default(self, name: str) -> Any:
        """What a field that the class got since the value was stored starts with."""
        field = self.defaults.get(name)
        if field is not None and field.default is not dataclasses.MISSING:
            return field.default
        if field is not None and field.default_factory is not dataclasses.MISSING:
            return field.default_factory()
        raise not_stored(self.cls, name)

    def _set_others(self, obj: Any, others: dict[str, Any]) -> None:
        for name, value in others.items():
            if name in self.other_slots:
                object.__setattr__(obj, name, value)
            elif self.has_dict and type(name) is str:
                obj.__dict__[name] = value
            else:
                raise outgrown(self.cls, f"it has no attribute {name!r}")


def _field_defaults(cls: Any) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(cls)}


def _fields_in_v1(cls: Any) -> dict[str, Any] | None:
    """The fields of a pydantic 1 model, which is registered by hand like any class; None if it is none."""
    is_v1 = hasattr(cls, "__config__") and hasattr(cls, "__fields_set__") and hasattr(cls, "__fields__")
    return dict(cls.__fields__) if is_v1 else None


def _slots(cls: type) -> list[str]:
    """The slots of a class and its bases, as they are named on the instance."""
    found: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        slots = base.__dict__.get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                found[_mangled(base, name)] = None
    return list(found)


def _mangled(cls: type, name: str) -> str:
    private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if private else name


def _caches(cls: type) -> frozenset[str]:
    """Names of cached properties: they are computed again when asked."""
    return frozenset(
        name for base in cls.__mro__ for name, value in base.__dict__.items() if isinstance(value, cached_property)
    )


def _has_setter(cls: type, name: str) -> bool:
    return hasattr(getattr(cls, name, None), "__set__")
