"""JSON Schemas of what a graph takes and gives, through pydantic, which is loaded only here."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NotRequired, Required, get_args, get_origin

from typing_extensions import ReadOnly

from signoff.errors import InvalidInput


def model_of(name: str, fields: Mapping[str, tuple[Any, Any]]) -> Any:
    """A pydantic model with these fields, each with its type and its default (`...` for none)."""
    pydantic = _pydantic()
    config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    return pydantic.create_model(name, __config__=config, **fields)


def root_model_of(name: str, type_: Any) -> Any:
    """A pydantic model of one bare value."""
    pydantic = _pydantic()
    return pydantic.create_model(name, __base__=pydantic.RootModel[type_])


def _pydantic() -> Any:
    try:
        import pydantic
    except ImportError as error:
        raise InvalidInput("A JSON Schema needs pydantic: pip install pydantic.") from error
    return pydantic


def fields_of(type_: Any, hints: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields of a type with their defaults."""
    required = getattr(type_, "__required_keys__", None)
    defaults = {}
    if dataclasses.is_dataclass(type_):
        defaults = {field.name: _default(field) for field in dataclasses.fields(type_)}
    return {
        key: (_unqualified(hint), defaults.get(key, ... if required is None or key in required else None))
        for key, hint in hints.items()
    }


def _unqualified(hint: Any) -> Any:
    """A hint without what a TypedDict says about its key."""
    while get_origin(hint) in (Required, NotRequired, ReadOnly):
        (hint,) = get_args(hint)
    return hint


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return ...
