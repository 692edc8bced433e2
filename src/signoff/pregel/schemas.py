"""JSON Schemas of what a graph takes and gives, through pydantic, which is loaded only here."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

from typing_extensions import is_typeddict

from signoff.errors import InvalidInput
from signoff.pregel.typing import unqualified


def model_of(name: str, fields: Mapping[str, tuple[Any, Any]]) -> Any:
    """A pydantic model with these fields, each with its type and its default (`...` for none)."""
    pydantic = _pydantic()
    config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    return pydantic.create_model(name, __config__=config, **fields)


def root_model_of(name: str, type_: Any, default: Any = ...) -> Any:
    """A pydantic model of one bare value; a model itself stays what it is."""
    pydantic = _pydantic()
    if isinstance(type_, type) and issubclass(type_, pydantic.BaseModel):
        return type_
    return pydantic.create_model(name, __base__=pydantic.RootModel[type_], root=(type_, default))


def _pydantic() -> Any:
    try:
        import pydantic
    except ImportError as error:
        raise InvalidInput("A JSON Schema needs pydantic: pip install pydantic.") from error
    return pydantic


def fields_of(type_: Any, hints: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields of a type with their defaults (`...` for none)."""
    if is_typeddict(type_):
        absent = _pydantic().Field(default_factory=type(None))  # a factory, so that JSON Schemas show no default
        required = type_.__required_keys__
        return {key: (_without_qualifiers(hint), ... if key in required else absent) for key, hint in hints.items()}
    defaults = {field.name: field for field in dataclasses.fields(type_)} if dataclasses.is_dataclass(type_) else {}
    return {key: (_without_qualifiers(hint), _described(defaults.get(key), hint)) for key, hint in hints.items()}


def _without_qualifiers(hint: Any) -> Any:
    """A hint without what a TypedDict says about its key, and without that inside of Annotated."""
    hint = unqualified(hint)
    if get_origin(hint) is not Annotated:
        return hint
    inner, *notes = get_args(hint)
    return Annotated[_without_qualifiers(inner), *notes]


def _described(field: "dataclasses.Field[Any] | None", hint: Any) -> Any:
    """The default of a field, with what its metadata says about it."""
    said = {key: field.metadata[key] for key in ("title", "description") if key in field.metadata} if field else {}
    default = _default(field, hint)
    return _pydantic().Field(default, **said) if said else default


def _default(field: "dataclasses.Field[Any] | None", hint: Any) -> Any:
    """The default of a field. What may be None is not asked for."""
    if field is not None and field.default is not dataclasses.MISSING:
        return field.default
    if field is not None and field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if _may_be_none(hint) else ...


def _may_be_none(hint: Any) -> bool:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return type(None) in get_args(inner)
