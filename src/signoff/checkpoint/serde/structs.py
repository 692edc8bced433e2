"""Plans for Enums, NamedTuples, dataclasses and plain classes."""

import dataclasses
from enum import Enum, Flag
from functools import cached_property
from typing import Any

from signoff.checkpoint.serde.kinds import Plan, expect, outgrown
from signoff.errors import NotStorable

__all__ = ["attribute_plan", "enum_plan", "named_tuple_plan"]


def enum_plan(cls: Any) -> Plan:
    """Members by name, so that a reordered `auto()` cannot turn one into another; flags by their bits."""
    if issubclass(cls, Flag):
        return Plan(lambda member: member._value_, cls)
    members: dict[str, Enum] = cls._member_map_

    def take(member: Any) -> str:
        name: str = member._name_
        if members.get(name) is not member:
            raise NotStorable(f"{member!r} is not one of the members that {cls.__qualname__} was defined with")
        return name

    def make(name: Any) -> Enum:
        try:
            return members[name]
        except KeyError:
            raise outgrown(cls, f"it has no member {name!r}") from None

    return Plan(take, make)


def named_tuple_plan(cls: Any) -> Plan:
    """The items in order; items that the class got since are its defaults."""
    fields: tuple[str, ...] = cls._fields
    defaults: dict[str, Any] = cls._field_defaults

    def take(obj: Any) -> list[Any]:
        if getattr(obj, "__dict__", None):
            raise NotStorable(f"this {cls.__qualname__} has attributes besides its items: {sorted(obj.__dict__)}")
        return list(obj)

    def make(items: Any) -> Any:
        if len(expect(items, list)) > len(fields):
            raise outgrown(cls, f"{len(items)} items were stored, and it has {len(fields)}")
        new = fields[len(items) :]
        if not defaults.keys() >= set(new):
            raise outgrown(cls, f"{cls.__qualname__}.{new[0]} was not stored and has no default")
        items += [defaults[name] for name in new]
        return tuple.__new__(cls, items)

    return Plan(take, make)


def attribute_plan(cls: type) -> Plan:
    """Fields by name, and whatever other attributes an instance has beside them."""
    shape = _Shape(cls)
    return Plan(shape.take, shape.make)


class _Shape:
    """Which attributes the instances of a class have.

    An instance whose attributes are exactly its fields is stored as one dict, the common case; one with
    others, as [fields, others]. Told apart so that a field removed from the class since is dropped and not
    set.
    """

    def __init__(self, cls: type) -> None:
        slots = _slots(cls)
        self.cls = cls
        self.has_dict = bool(cls.__dictoffset__)
        self.defaults = _field_defaults(cls) if dataclasses.is_dataclass(cls) else {}
        self.fields = list(self.defaults) or slots
        self.names = frozenset(self.fields)
        self.other_slots = frozenset(slots) - self.names
        self.ignored = _caches(cls) | {"__orig_class__"}
        in_dict = self.has_dict and not any(_has_setter(cls, name) for name in self.fields)
        self.is_simple = in_dict and not self.other_slots and dataclasses.is_dataclass(cls)

    def take(self, obj: Any) -> Any:
        if self.is_simple and obj.__dict__.keys() == self.names:
            return obj.__dict__
        fields = {name: getattr(obj, name) for name in self.fields}
        others = self._others(obj)
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
        fields, others = state if type(state) is list else (state, {})
        self._set_fields(obj, expect(fields, dict))
        self._set_others(obj, expect(others, dict))
        return obj

    def _set_fields(self, obj: Any, fields: dict[str, Any]) -> None:
        for name in self.fields:
            object.__setattr__(obj, name, fields[name] if name in fields else self._default(name))

    def _default(self, name: str) -> Any:
        """What a field that the class got since the value was stored starts with."""
        field = self.defaults.get(name)
        if field is not None and field.default is not dataclasses.MISSING:
            return field.default
        if field is not None and field.default_factory is not dataclasses.MISSING:
            return field.default_factory()
        raise outgrown(self.cls, f"{self.cls.__qualname__}.{name} was not stored and has no default")

    def _set_others(self, obj: Any, others: dict[str, Any]) -> None:
        for name, value in others.items():
            if name in self.other_slots:
                object.__setattr__(obj, name, value)
            elif self.has_dict and type(name) is str:
                obj.__dict__[name] = value
            else:
                raise ValueError(f"{self.cls.__qualname__} has no attribute {name!r}")


def _field_defaults(cls: Any) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(cls)}


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
