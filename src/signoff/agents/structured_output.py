"""Answers in a given form: by a tool that the model calls with the answer, or by what its provider offers."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from types import UnionType
from typing import Any, Generic, Union, get_args, get_origin

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import StructuredTool
from typing_extensions import TypeVar, is_typeddict

from signoff._annotations import refuse_async
from signoff._elsewhere import told_of_langchains
from signoff.errors import InvalidInput, SignoffError
from signoff.forms import adapter_of, published, refusal
from signoff.pregel.typing import is_pydantic

__all__ = [
    "AutoStrategy",
    "MultipleStructuredOutputsError",
    "ProviderStrategy",
    "ResponseFormat",
    "StructuredOutputError",
    "StructuredOutputValidationError",
    "ToolStrategy",
]

SchemaT = TypeVar("SchemaT", default=Any)
HandleErrors = bool | str | type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], str]


class StructuredOutputError(SignoffError):
    """The model did not answer in the given form."""

    ai_message: AIMessage


class MultipleStructuredOutputsError(StructuredOutputError):
    """The model gave several answers where one is wanted."""

    def __init__(self, tool_names: list[str], ai_message: AIMessage) -> None:
        self.tool_names = tool_names
        self.ai_message = ai_message
        super().__init__(f"The model gave {len(tool_names)} answers ({', '.join(tool_names)}) where one is wanted.")


class StructuredOutputValidationError(StructuredOutputError):
    """The model's answer does not have the given form."""

    def __init__(self, tool_name: str, source: Exception, ai_message: AIMessage) -> None:
        self.tool_name = tool_name
        self.source = source
        self.ai_message = ai_message
        super().__init__(f"The answer does not have the form {tool_name}: {source}")


class SchemaSpec:
    """One form: its name, its JSON Schema, and how to read it."""

    def __init__(self, schema: Any, *, name: str | None = None, strict: bool | None = None) -> None:
        if not _has_fields(schema):
            raise InvalidInput(
                f"An answer cannot have the form {schema!r}: it has no named fields. Give a pydantic model, a "
                "dataclass, a TypedDict, or a JSON Schema of an object as a dict. Of several, give a union, which "
                "ToolStrategy and AutoStrategy take."
            )
        if isinstance(schema, dict):
            _check_schema(schema)
        self.schema = schema
        self.strict = strict
        self.json_schema = schema if isinstance(schema, dict) else adapter_of(schema).json_schema()
        self.name = name or _name(schema)
        self.description = self.json_schema.get("description", "")

    def read(self, value: Any) -> Any:
        """The answer as the type of the form. What is raised, be it by a check of the user's, says what is wrong."""
        if not isinstance(self.schema, dict):
            return adapter_of(self.schema).validate_python(value)
        if (wrong := refusal(self.schema, value)) is not None:
            raise ValueError(wrong)
        return value

    @property
    def tool(self) -> StructuredTool:
        """The form as a tool that a model may call."""
        schema = self.schema if is_pydantic(self.schema) else self.json_schema
        return StructuredTool(name=self.name, description=self.description, args_schema=schema)


def _check_schema(schema: dict[str, Any]) -> None:
    """Refuse a dict that is no JSON Schema: later the model would be told, which cannot mend it."""
    try:
        published(schema)
    except InvalidInput as error:
        raise InvalidInput(f"An answer cannot have the form {schema!r}: {error}") from error


def _name(schema: Any) -> str:
    return str(schema.get("title", "response")) if isinstance(schema, dict) else schema.__name__


def _has_fields(schema: Any) -> bool:
    is_class = is_pydantic(schema) or (isinstance(schema, type) and is_dataclass(schema)) or is_typeddict(schema)
    return is_class or isinstance(schema, dict)


@dataclass(init=False)
class ToolStrategy(Generic[SchemaT]):
    """The model answers by calling a tool that has the form of the answer; a union is several such tools."""

    schema: Any
    schema_specs: list[SchemaSpec]
    tool_message_content: str | None
    handle_errors: HandleErrors

    def __init__(
        self, schema: Any, *, tool_message_content: str | None = None, handle_errors: HandleErrors = True
    ) -> None:
        self.schema = schema
        forms = list(_members(schema))
        self.schema_specs = [SchemaSpec(form, name=name) for form, name in zip(forms, _names(forms), strict=True)]
        self.tool_message_content = tool_message_content
        self.handle_errors = handle_errors
        refuse_async("handle_errors", handle_errors, InvalidInput)

    @property
    def names(self) -> set[str]:
        return {spec.name for spec in self.schema_specs}


def _members(schema: Any) -> Iterator[Any]:
    if get_origin(schema) in (Union, UnionType):
        yield from get_args(schema)
    elif isinstance(schema, dict) and "oneOf" in schema:
        shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        yield from ({**shared, **form} for form in schema["oneOf"])
    else:
        yield schema


def _names(forms: Sequence[Any]) -> Iterator[str | None]:
    """What the forms are called: a JSON Schema may have no title, and then its place tells it from the others."""
    for place, form in enumerate(forms, 1):
        yield f"response_{place}" if len(forms) > 1 and isinstance(form, dict) and "title" not in form else None


@dataclass(init=False)
class ProviderStrategy(Generic[SchemaT]):
    """The model's provider makes sure of the form."""

    schema: Any
    schema_spec: SchemaSpec

    def __init__(self, schema: Any, *, strict: bool | None = None) -> None:
        self.schema = schema
        self.schema_spec = SchemaSpec(schema, strict=strict)

    @property
    def settings(self) -> dict[str, Any]:
        """What is bound to the model."""
        about: dict[str, Any] = {"name": self.schema_spec.name, "schema": self.schema_spec.json_schema}
        if self.schema_spec.strict is not None:
            about["strict"] = self.schema_spec.strict
        return {"response_format": {"type": "json_schema", "json_schema": about}}


@dataclass
class AutoStrategy(Generic[SchemaT]):
    """The provider's way where the model says that it has one, else the tool; of several forms always the tools."""

    schema: Any

    def __post_init__(self) -> None:
        self._by_tool = ToolStrategy[Any](self.schema)

    def settled(self, model: Any, tools: Sequence[Any]) -> ToolStrategy[Any] | ProviderStrategy[Any]:
        """The way for a model with these tools."""
        is_provided = len(self._by_tool.schema_specs) == 1 and _knows_forms(model, has_tools=bool(tools))
        return self._by_provider if is_provided else self._by_tool

    @cached_property
    def _by_provider(self) -> ProviderStrategy[Any]:
        return ProviderStrategy(self.schema)


def _knows_forms(model: Any, *, has_tools: bool) -> bool:
    """Whether the provider of a model says that it makes sure of forms; older ones of Google's only without tools."""
    profile = getattr(model, "profile", None) or {}
    names = (getattr(model, key, None) for key in ("model_name", "model", "model_id"))
    name = next((name.lower() for name in names if isinstance(name, str)), "")
    is_either = "gemini" in name and "gemini-3" not in name
    return bool(profile.get("structured_output")) and not (has_tools and is_either)


ResponseFormat = ToolStrategy[SchemaT] | ProviderStrategy[SchemaT] | AutoStrategy[SchemaT]


def strategy_of(response_format: Any) -> ResponseFormat | None:
    """A bare schema is one for AutoStrategy."""
    if response_format is None or isinstance(response_format, ToolStrategy | ProviderStrategy | AutoStrategy):
        return response_format
    if not (isinstance(response_format, type | dict) or get_origin(response_format) is not None):
        theirs = told_of_langchains(response_format, __name__)
        told = theirs or f"{response_format!r}. Give a class, or a JSON Schema as a dict."
        raise InvalidInput(f"response_format is {told}")
    return AutoStrategy(response_format)


def schema_of(strategy: ResponseFormat | None) -> Any:
    """The class of the answer, if it is one or a union of some."""
    schema = None if strategy is None else strategy.schema
    return None if isinstance(schema, dict) else schema


def settled(wanted: Any, model: Any, tools: Sequence[Any]) -> ToolStrategy[Any] | ProviderStrategy[Any] | None:
    """The strategy for a model with these tools; middleware may want a bare schema."""
    strategy = strategy_of(wanted)
    return strategy.settled(model, tools) if isinstance(strategy, AutoStrategy) else strategy


@dataclass(frozen=True, slots=True)
class Answered:
    """The structured answer in a message of the model, and the tool messages that belong to it."""

    response: Any
    messages: list[ToolMessage]


def answer_in(said: AIMessage, strategy: ToolStrategy[Any] | ProviderStrategy[Any] | None) -> Answered:
    """Read the structured answer in what the model said; a wrong one is told to the model, or raised."""
    if isinstance(strategy, ProviderStrategy):
        return _provided(said, strategy)
    if strategy is None:
        return Answered(None, [])
    calls = [call for call in said.tool_calls if call["name"] in strategy.names]
    if not calls:
        return Answered(None, [])
    try:
        return _called(said, calls, strategy)
    except StructuredOutputError as error:
        text = _told(error, strategy.handle_errors)
        return Answered(None, [_message(call, text) for call in calls])


def may_ask(strategy: Any) -> bool:
    """Whether a function of the user's says what the model is told of a wrong answer: it may ask a person first."""
    setting = strategy.handle_errors if isinstance(strategy, ToolStrategy) else None
    return callable(setting) and not isinstance(setting, type)


def _called(said: AIMessage, calls: list[ToolCall], strategy: ToolStrategy[Any]) -> Answered:
    if len(calls) > 1:
        raise MultipleStructuredOutputsError([call["name"] for call in calls], said)
    (call,) = calls
    spec = next(spec for spec in strategy.schema_specs if spec.name == call["name"])
    try:
        response = spec.read(call["args"])
    except Exception as error:
        raise StructuredOutputValidationError(spec.name, error, said) from error
    return Answered(response, [_message(call, strategy.tool_message_content or f"The answer is: {response}")])


def _message(call: ToolCall, text: str) -> ToolMessage:
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"])


def _provided(said: AIMessage, strategy: ProviderStrategy[Any]) -> Answered:
    if said.tool_calls:
        return Answered(None, [])
    try:
        return Answered(strategy.schema_spec.read(json.loads(said.text)), [])
    except Exception as error:
        raise StructuredOutputValidationError(strategy.schema_spec.name, error, said) from error


def _told(error: StructuredOutputError, setting: HandleErrors) -> str:
    """What the model is told of an error; one that is not for it is raised."""
    if isinstance(setting, str):
        return setting
    if isinstance(setting, type | tuple):
        if not isinstance(error, setting) and not isinstance(getattr(error, "source", None), setting):
            raise error
    elif callable(setting):
        return setting(error)
    elif not setting:
        raise error
    return f"{error}\nAnswer again, in the given form."
