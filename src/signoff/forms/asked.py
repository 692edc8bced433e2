"""What is asked with a question: a type, a JSON Schema, or a form of our own; and an answer as the node is given it."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from signoff._reprs import repr_of
from signoff.errors import InvalidAnswer, InvalidInput
from signoff.forms.classes import adapter_of, has_makers, pydantic
from signoff.forms.schemas import check_asked, refusal


@dataclass(frozen=True, slots=True)
class Form:
    """A form that is its own JSON Schema, with a check of what no schema can say."""

    schema: dict[str, Any]
    check: Callable[[Any], None]
    """Raises a ValueError that says what is wrong with an answer that fits the schema."""


def published(form: Any) -> dict[str, Any]:
    """The JSON Schema of a form: a pydantic model, TypedDict, dataclass, plain type, or a JSON Schema itself."""
    if isinstance(form, Form):
        return form.schema
    if isinstance(form, dict):
        # Only as it is asked: an older program may have asked so, and its question has to be answered.
        check_asked(form)
        return form
    _check_kind(form)
    try:
        schema: dict[str, Any] = adapter_of(form).json_schema()
    except pydantic().PydanticUserError as error:
        raise InvalidInput(
            f"response_schema={form!r} cannot be published as JSON Schema: {error.message}. Use a pydantic model, "
            "a TypedDict, a dataclass, a plain type, or a JSON Schema."
        ) from error
    return schema


def _check_kind(form: Any) -> None:
    """Refuse what is no type, though pydantic may make something of it."""
    if isinstance(form, str):
        raise InvalidInput(f"response_schema={form!r} is a text. Give the type itself, or a JSON Schema as a dict.")
    if isinstance(form, list | tuple | set):
        raise InvalidInput(f'response_schema={form!r} is no type. For one of these, give {{"enum": [...]}}.')
    if isinstance(form, FunctionType | BuiltinFunctionType | MethodType | partial):
        raise InvalidInput(
            f"response_schema={form!r} is a function. Give the type of the answer; what no type can say, check in the "
            "node, and ask again."
        )
    if not isinstance(form, type) and (is_dataclass(form) or isinstance(form, pydantic().BaseModel)):
        raise InvalidInput(f"response_schema={form!r} is an object. Give its class: {type(form).__name__}.")


def filled_in(form: Any, answer: Any, published: dict[str, Any] | None) -> Any:
    """The answer as the type of the form; what only the type itself can find wrong is refused here.

    An answer to a JSON Schema was checked before, if it is the one that was published with the question.
    """
    if isinstance(form, dict | Form):
        if (wrong := _misfit(form, answer, published)) is not None:
            raise _refused(answer, wrong)
        return answer
    adapter = adapter_of(form)
    try:
        return adapter.validate_python(answer)
    except pydantic().ValidationError as error:
        with suppress(ValueError, TypeError):  # a strict form takes a date as a text only where it reads JSON
            return adapter.validate_json(json.dumps(answer))
        first = error.errors(include_url=False)[0]
        place = "".join(f"[{part!r}]" for part in first["loc"])
        raise _refused(answer, f"answer{place}: {first['msg']}") from error
    except Exception as error:  # of a check of the user's: a wrong answer makes it fail, whatever it says of that
        raise _refused(answer, f"answer: {repr_of(error)}") from error


def makes_values(form: Any) -> bool:
    """Whether a form makes what an answer does not say, each time that it is filled in another one: an id, say."""
    return not isinstance(form, dict | Form) and has_makers(form)


def _misfit(form: dict[str, Any] | Form, answer: Any, published: dict[str, Any] | None) -> str | None:
    schema = form.schema if isinstance(form, Form) else form
    wrong = None if schema == published else refusal(schema, answer)
    if wrong is None and isinstance(form, Form):
        try:
            form.check(answer)
        except ValueError as error:
            wrong = f"answer: {error}"
        except Exception as error:
            wrong = f"answer: {repr_of(error)}"
    return wrong


def _refused(answer: Any, why: str) -> InvalidAnswer:
    return InvalidAnswer(f"The answer {repr_of(answer)} was refused: {why}. The question is still open.")
