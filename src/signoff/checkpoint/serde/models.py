"""The plan for pydantic models, which are taken apart the way pydantic pickles them."""

from functools import cached_property
from typing import Any

from signoff.checkpoint.serde.care import notice
from signoff.checkpoint.serde.kinds import Plan
from signoff.checkpoint.serde.refusals import expect, not_stored
from signoff.checkpoint.serde.structs import fields_in
from signoff.errors import NotStorable

__all__ = ["model_plan"]

_set = object.__setattr__


def model_plan(cls: type) -> Plan:
    """Fields by name, which of them were set, extra fields and private attributes."""
    shape = _Shape(cls)
    return Plan(shape.take, shape.make)


class _Shape:
    """What the instances of a model consist of.

    A model with all its fields set and nothing beside them is stored as one dict; any other as
    [fields, names that were set, extra fields, private attributes].
    """

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.fields: dict[str, Any] = cls.__pydantic_fields__
        self.names = frozenset(self.fields)
        self.is_root = cls.__pydantic_root_model__
        self.takes_extra = cls.model_config.get("extra") == "allow"
        self.privates: dict[str, Any] = cls.__private_attributes__

    def take(self, obj: Any) -> Any:
        fields = self._fields_of(obj)
        chosen, extra, private = obj.__pydantic_fields_set__, obj.__pydantic_extra__, obj.__pydantic_private__
        if chosen == self.names and not extra and private is None:
            return fields
        if private:
            private = {name: value for name, value in private.items() if not _is_undefined(value)}
        return [fields, sorted(chosen), extra, private]

    def _fields_of(self, obj: Any) -> dict[str, Any]:
        fields: dict[str, Any] = obj.__dict__
        if fields.keys() == self.names:
            return fields
        if missing := self.names - fields.keys():
            raise NotStorable(f"this {self.cls.__qualname__} has no value for {sorted(missing)}")
        others = fields.keys() - self.names
        if lost := [name for name in others if not isinstance(getattr(self.cls, name, None), cached_property)]:
            raise NotStorable(f"this {self.cls.__qualname__} has attributes besides its fields: {sorted(lost)}")
        return {name: fields[name] for name in self.fields}

    def make(self, state: Any) -> Any:
        _, chosen, extra, private = state if type(state) is list and len(state) == 4 else (None, None, None, None)
        obj = object.__new__(self.cls)
        stored, extra = fields_in(state), self._extra(extra)
        if stored.keys() != self.names:
            notice(self.cls, stored.keys() - self.names - (extra or {}).keys())
        fields = self._complete(stored)
        # Everything that pydantic keeps of an instance, without validating it again.
        _set(obj, "__dict__", fields)
        _set(obj, "__pydantic_fields_set__", set(self.names) if chosen is None else self._chosen(chosen, extra or {}))
        if not self.is_root:  # which has neither of these
            _set(obj, "__pydantic_extra__", extra)
            _set(obj, "__pydantic_private__", self._private(private))
        return obj

    def _chosen(self, chosen: Any, extra: dict[str, Any]) -> set[str]:
        return set(self.names | extra.keys()).intersection(expect(chosen, list))

    def _complete(self, stored: dict[str, Any]) -> dict[str, Any]:
        """The stored fields in the order of the class; one that it got since starts with its default."""
        if stored.keys() == self.names:
            return stored
        fields: dict[str, Any] = {}
        for name, field in self.fields.items():
            fields[name] = stored[name] if name in stored else self._default(name, field, fields)
        return fields

    def _default(self, name: str, field: Any, known: dict[str, Any]) -> Any:
        if field.is_required():
            raise not_stored(self.cls, name)
        return field.get_default(call_default_factory=True, validated_data=known)

    def _extra(self, extra: Any) -> dict[str, Any] | None:
        if extra is None:
            return {} if self.takes_extra else None
        return {name: value for name, value in _with_str_keys(extra).items() if name not in self.names}

    def _private(self, private: Any) -> dict[str, Any] | None:
        if not self.privates:
            return None
        values = {name: attribute.get_default() for name, attribute in self.privates.items()}
        values.update(_with_str_keys(private or {}))
        return {name: value for name, value in values.items() if not _is_undefined(value)}


def _with_str_keys(names: Any) -> dict[str, Any]:
    if not all(type(name) is str for name in expect(names, dict)):
        raise ValueError("attributes have names")
    return names  # type: ignore[no-any-return]


def _is_undefined(value: Any) -> bool:
    """Whether this is pydantic's mark for a private attribute that was never given a value."""
    return type(value).__name__ == "PydanticUndefinedType"
