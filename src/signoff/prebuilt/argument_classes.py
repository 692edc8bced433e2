"""Classes that describe the arguments of a tool: models of pydantic, and of pydantic.v1, which LangChain takes, too."""

from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.utils.pydantic import get_fields, is_basemodel_subclass
from pydantic import ValidationError
from pydantic.v1 import ValidationError as OldValidationError

__all__ = [
    "Misfit",
    "defaults_of",
    "details_of",
    "field_names",
    "is_model",
    "json_of",
    "json_schema_of",
    "keeps_others",
    "made_of",
]

Misfit = (ValidationError, OldValidationError)
"""What a class raises if arguments do not fit it."""


def is_model(given: Any) -> bool:
    """Whether something is a class that describes arguments."""
    return is_basemodel_subclass(given)


def field_names(model: Any) -> Collection[str]:
    """The arguments that a class names."""
    return get_fields(model).keys()


def defaults_of(model: Any) -> dict[str, Any]:
    """What the arguments that a class names are where nothing is said."""
    return {name: field.default for name, field in get_fields(model).items()}


def json_schema_of(model: Any) -> dict[str, Any]:
    """A class as JSON Schema."""
    schema: dict[str, Any] = model.model_json_schema() if _is_new(model) else model.schema()
    return schema


def keeps_others(model: Any) -> bool:
    """Whether a class keeps arguments that it does not name."""
    extra = getattr(model, "model_config", {}).get("extra") if _is_new(model) else model.__config__.extra
    return bool(extra == "allow")


def made_of(model: Any, args: Mapping[str, Any]) -> Any:
    """What a class makes of arguments; it raises a Misfit if they do not fit."""
    return model.model_validate(dict(args)) if _is_new(model) else model.parse_obj(dict(args))


def json_of(made: Any) -> str:
    """What a class has made of arguments, as JSON."""
    return str(made.model_dump_json() if _is_new(made) else made.json())


def details_of(error: Any) -> list[Any]:
    """What is wrong with arguments, one after the other."""
    return list(error.errors(include_url=False) if isinstance(error, ValidationError) else error.errors())


def _is_new(model: Any) -> bool:
    return hasattr(model, "model_validate")
