"""ValidationNode: checks the arguments of tool calls against their schemas, and runs nothing."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, create_schema_from_function

from signoff._annotations import refuse_async
from signoff.errors import InvalidInput, SignoffError
from signoff.prebuilt._invoking import messages_of
from signoff.prebuilt.argument_classes import is_model, json_of, made_of

__all__ = ["UnknownSchema", "ValidationNode"]

FormatError = Callable[[BaseException, ToolCall, Any], str]
"""From the error, the call and its schema to what the model is told."""


class UnknownSchema(SignoffError, KeyError):
    """A call names a schema that the node does not have."""

    __str__ = Exception.__str__


def _default_format(error: BaseException, call: ToolCall, schema: Any) -> str:
    return f"The arguments of {call['name']} do not fit:\n{error}\nCorrect them and call it again."


class ValidationNode(Runnable[Any, Any]):
    """Answers each call with its arguments as the schema reads them, or with what is wrong with them."""

    def __init__(
        self,
        schemas: Sequence[Any],
        *,
        format_error: FormatError | None = None,
        name: str = "validation",
        tags: list[str] | None = None,
    ) -> None:
        refuse_async("format_error", format_error, InvalidInput)
        self.name = name
        self.tags = tags
        self.schemas_by_name = dict(map(_named_schema, schemas))
        self._format_error = format_error or _default_format

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Check the calls in the last message."""
        messages = messages_of(input)
        if not messages or not isinstance(messages[-1], AIMessage):
            raise InvalidInput("The last message is not of the model (an AIMessage). Run the node after the model.")
        checked = [self._check(call) for call in messages[-1].tool_calls]
        return checked if isinstance(input, list) else {"messages": checked}

    def _check(self, call: ToolCall) -> ToolMessage:
        schema = self._schema(call)
        try:
            valid = made_of(schema, call["args"])
        except ValueError as error:
            told = self._format_error(error, call, schema)
            return ToolMessage(
                told, name=call["name"], tool_call_id=call["id"], additional_kwargs={"is_error": True}, status="error"
            )
        return ToolMessage(json_of(valid), name=call["name"], tool_call_id=call["id"])

    def _schema(self, call: ToolCall) -> Any:
        if call["name"] not in self.schemas_by_name:
            raise UnknownSchema(
                f"The model calls {call['name']!r}, and the node {self.name!r} knows only: "
                f"{', '.join(map(repr, self.schemas_by_name))}. Give it the schema."
            )
        return self.schemas_by_name[call["name"]]


def _named_schema(given: Any) -> tuple[str, Any]:
    if isinstance(given, BaseTool):
        if is_model(given.args_schema):
            return given.name, given.args_schema
        raise InvalidInput(f"The tool {given.name!r} has no pydantic schema to check against. Give it args_schema=.")
    if is_model(given):
        return given.__name__, given
    if callable(given):
        return given.__name__, create_schema_from_function(given.__name__, given)
    raise InvalidInput(f"{given!r} is no schema. Give the node tools, pydantic models or functions.")
