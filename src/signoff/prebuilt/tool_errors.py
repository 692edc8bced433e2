"""What goes wrong in a tool call, and which of it the model is told."""

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException

from signoff._annotations import refuse_async
from signoff._reprs import repr_of
from signoff.errors import InvalidInput, SignoffError
from signoff.prebuilt.argument_classes import details_of

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = [
    "INVALID_TOOL_NAME_ERROR_TEMPLATE",
    "TOOL_CALL_ERROR_TEMPLATE",
    "TOOL_EXECUTION_ERROR_TEMPLATE",
    "TOOL_INVOCATION_ERROR_TEMPLATE",
    "HandleToolErrors",
    "ToolInvocationError",
]

TOOL_CALL_ERROR_TEMPLATE = "The tool failed: {error}\nCorrect the call, or go another way."
"""What the model is told of an error; `{error}` is its repr."""

INVALID_TOOL_NAME_ERROR_TEMPLATE = "There is no tool {requested_tool}. The tools are: {available_tools}."
"""What the model is told when it calls a tool that does not exist."""

TOOL_EXECUTION_ERROR_TEMPLATE = "The tool {tool_name} failed with the arguments {tool_kwargs}: {error}"
"""The same as TOOL_CALL_ERROR_TEMPLATE, for handlers that want to name the call."""

TOOL_INVOCATION_ERROR_TEMPLATE = (
    "The tool {tool_name} was not run: the arguments {tool_kwargs} do not fit.\n{error}\nCorrect them and try again."
)
"""What the model is told when the arguments do not fit the tool's schema."""

HandleToolErrors = bool | str | Callable[..., str] | type[Exception] | tuple[type[Exception], ...]
"""True: tell the model of every error. A text: tell it that. Types: of these errors. A function: what it returns,
for the errors in the annotation of its parameter. False: of none; the run fails."""

Content = str | list[str | dict[str, Any]]
"""What a message says: a text, or blocks."""


class ToolInvocationError(ToolException, SignoffError):
    """A tool was called with arguments that do not fit its schema."""

    def __init__(
        self,
        tool_name: str,
        source: ValueError,
        tool_kwargs: dict[str, Any],
        filtered_errors: "list[ErrorDetails] | None" = None,
    ) -> None:
        self.tool_name = tool_name
        self.tool_kwargs = tool_kwargs
        self.source = source
        self.filtered_errors = filtered_errors
        shown = details_of(source) if filtered_errors is None else filtered_errors
        self.message = TOOL_INVOCATION_ERROR_TEMPLATE.format(
            tool_name=tool_name, tool_kwargs=tool_kwargs, error=listed(shown, "\n")
        )
        super().__init__(self.message)


def listed(details: "Iterable[ErrorDetails]", between: str = "; ") -> str:
    """What is wrong with arguments, one after the other."""
    return between.join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)


def misfit(name: str, error: ValueError, args: Mapping[str, Any], hidden: set[str]) -> ToolInvocationError:
    """The error for arguments that do not fit, without what the model neither sees nor can change."""
    shown = [detail for detail in details_of(error) if not detail["loc"] or detail["loc"][0] not in hidden]
    return ToolInvocationError(name, error, dict(args), shown)


def tell_misfits(error: Exception) -> str:
    """The default: the model is told that its arguments do not fit; any other error ends the run."""
    if isinstance(error, ToolInvocationError):
        return error.message
    raise error


tell_misfits.__annotations__["error"] = ToolInvocationError


class ErrorHandler:
    """Which errors become messages, and what these say."""

    def __init__(self, setting: HandleToolErrors) -> None:
        self.setting = setting
        self.types = _handled_types(setting)
        self.may_ask = callable(setting) and not isinstance(setting, type) and setting is not tell_misfits
        """Whether a function of the user's says it, which may ask a person first."""

    def text_for(self, error: Exception) -> str | None:
        """What the model is told; None if the error is not for it."""
        if not isinstance(error, self.types):
            return None
        if isinstance(self.setting, str):
            return self.setting
        if callable(self.setting) and not isinstance(self.setting, type):
            return self.setting(error)
        return TOOL_CALL_ERROR_TEMPLATE.format(error=repr_of(error))


def _handled_types(setting: Any) -> tuple[type[BaseException], ...]:
    """The errors that a setting is for. A pause may be among them, but is never seen here: it is no Exception."""
    match setting:
        case False:
            return ()
        case True | str():
            return (Exception,)
        case type() if issubclass(setting, BaseException):
            return (setting,)
        case tuple() if all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in setting):
            return setting
    refuse_async("handle_tool_errors", setting, InvalidInput)
    if callable(setting):
        return _annotated_types(setting)
    raise InvalidInput(
        f"handle_tool_errors is {setting!r}. Give it True, False, a text, an exception class, a tuple of these, or a "
        "function from the error to a text."
    )


def _annotated_types(handler: Any) -> tuple[type[BaseException], ...]:
    """The errors in the annotation of a handler's parameter; all, where there is none."""
    function = handler if hasattr(handler, "__code__") or hasattr(handler, "__func__") else type(handler).__call__
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        return (Exception,)
    hint = next((hint for name, hint in hints.items() if name != "return"), Exception)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if all(isinstance(member, type) and issubclass(member, BaseException) for member in members):
        return members
    raise InvalidInput(
        f"The handler {handler!r} takes {hint!r}, which is no exception class. Annotate its parameter with the "
        "errors that it handles, or not at all."
    )


def error_message(call: Mapping[str, Any], told: Content) -> ToolMessage:
    """The tool message of a call that failed, or was not made."""
    return ToolMessage(told, name=call["name"], tool_call_id=call["id"], status="error")


def unknown_tool(call: Mapping[str, Any], known: Sequence[str]) -> ToolMessage:
    """The tool message of a call whose tool does not exist."""
    if not known:
        return error_message(call, f"There is no tool {call['name']}: you have none.")
    names = {"requested_tool": call["name"], "available_tools": ", ".join(known)}
    return error_message(call, INVALID_TOOL_NAME_ERROR_TEMPLATE.format(**names))
