"""JSON Schemas of what a graph takes and gives, through pydantic, which is loaded only here."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from signoff.errors import InvalidInput


def model_of(name: str, fields: Mapping[str, tuple[Any, Any]]) -> Any:
    """A pydantic model with these fields, each with its type and its default (`...` for none)."""
    try:
        from pydantic import ConfigDict, create_model
    except ImportError as error:
        raise InvalidInput("A JSON Schema needs pydantic: pip install pydantic.") from error
    config = ConfigDict(arbitrary_types_allowed=True)
    return create_model(name, __config__=config, **dict(fields))  # type: ignore[call-overload]


def root_model_of(name: str, type_: Any) -> Any:
    """A pydantic model of one bare value."""
    try:
        from pydantic import ConfigDict, RootModel, create_model
    except ImportError as error:
        raise InvalidInput("A JSON Schema needs pydantic: pip install pydantic.") from error
    base: Any = RootModel[type_]
    del ConfigDict
    return create_model(name, __base__=base)


def fields_of(type_: Any, hints: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields of a type with their defaults."""
    required = getattr(type_, "__required_keys__", None)
    defaults = {}
    if dataclasses.is_dataclass(type_):
        defaults = {field.name: _default(field) for field in dataclasses.fields(type_)}
    return {
        key: (hint, defaults.get(key, ... if required is None or key in required else None))
        for key, hint in hints.items()
    }


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return ...
