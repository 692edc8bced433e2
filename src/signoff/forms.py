"""Forms: what an answer must look like, published as JSON Schema and checked before the answer is stored."""

import sys
from functools import lru_cache
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict, is_typeddict

from signoff.errors import InvalidAnswer, InvalidInput, MissingExtra

__all__ = ["filled_in", "published", "refusal"]


def published(form: Any) -> dict[str, Any]:
    """The JSON Schema of a form: a pydantic model, TypedDict, dataclass, plain type, or a JSON Schema itself."""
    if isinstance(form, dict):
        _validator(form)
        return form
    try:
        schema: dict[str, Any] = _adapter(form).json_schema()
    except _pydantic().PydanticUserError as error:
        raise InvalidInput(
            f"response_schema={form!r} cannot be published as JSON Schema: {error.message}. Use a pydantic model, "
            "a TypedDict, a dataclass, a plain type, or a JSON Schema."
        ) from error
    return schema


def refusal(schema: dict[str, Any], answer: Any) -> str | None:
    """Why an answer does not fit a published form; None if it does."""
    error = next(iter(_validator(schema).iter_errors(_plain(answer))), None)
    if error is None:
        return None
    place = "".join(f"[{part!r}]" for part in error.absolute_path)
    return f"answer{place}: {error.message}"


def filled_in(form: Any, answer: Any, published: dict[str, Any] | None) -> Any:
    """The answer as the type of the form; what only the type itself can find wrong is refused here.

    An answer to a JSON Schema was checked before, if it is the one that was published with the question.
    """
    if isinstance(form, dict):
        refused = None if form == published else refusal(form, answer)
        if refused is not None:
            raise InvalidAnswer(f"The answer {answer!r} was refused: {refused}. The question is still open.")
        return answer
    try:
        return _adapter(form).validate_python(answer)
    except _pydantic().ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f"[{part!r}]" for part in first["loc"])
        raise InvalidAnswer(
            f"The answer {answer!r} was refused: answer{place}: {first['msg']}. The question is still open."
        ) from error


def _plain(answer: Any) -> Any:
    """An answer as JSON has it."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(answer, fallback=repr)


def _adapter(form: Any) -> Any:
    try:
        return _cached_adapter(form)
    except TypeError:  # a form that cannot be hashed
        return _pydantic().TypeAdapter(_portable(form))


@lru_cache(maxsize=256)
def _cached_adapter(form: Any) -> Any:
    return _pydantic().TypeAdapter(_portable(form))


def _portable(form: Any) -> Any:
    """A form whose TypedDicts pydantic understands: before Python 3.12 those of `typing` know too little."""
    if sys.version_info >= (3, 12):
        return form
    if is_typeddict(form) and type(form).__module__ == "typing":
        hints = {name: _portable(hint) for name, hint in get_type_hints(form, include_extras=True).items()}
        keys = {name: hint if name in form.__required_keys__ else NotRequired[hint] for name, hint in hints.items()}
        return TypedDict(form.__name__, keys)  # type: ignore[operator]
    args = get_args(form)
    portable = tuple(map(_portable, args))
    return form if portable == args else get_origin(form)[portable]


def _pydantic() -> Any:
    try:
        import pydantic
    except ImportError as error:
        raise _missing() from error
    return pydantic


def _validator(schema: dict[str, Any]) -> Any:
    try:
        from jsonschema import SchemaError
        from jsonschema.validators import validator_for
    except ImportError as error:
        raise _missing() from error
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise InvalidInput(f"response_schema is not a JSON Schema: {error.message}.") from error
    return kind(schema)


def _missing() -> MissingExtra:
    return MissingExtra('response_schema needs pydantic and jsonschema. Install them: pip install "signoff[forms]"')
