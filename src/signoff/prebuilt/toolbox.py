"""The tools of a node or an agent: made of what is given, and each name is one tool's."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain_core.tools import BaseTool, Tool
from langchain_core.tools import tool as as_tool

from signoff._annotations import name_in
from signoff.errors import InvalidInput
from signoff.prebuilt.argument_classes import defaults_of, keeps_others
from signoff.prebuilt.injection import function_of

__all__ = [
    "argument_defaults",
    "by_name",
    "call_schema",
    "check_list",
    "joined",
    "made_tool",
    "made_tools",
    "takes_others",
]


def check_list(tools: Any) -> None:
    """Refuse one tool where a list of them is wanted."""
    if callable(tools) or isinstance(tools, BaseTool | str) or not isinstance(tools, Iterable):
        raise InvalidInput(f"Give a list of tools, [...], and not {tools!r}.")


def made_tool(tool: BaseTool | Callable[..., Any]) -> BaseTool:
    """A tool as it is, or made of a function."""
    if isinstance(tool, BaseTool):
        return tool
    if not callable(tool):
        raise InvalidInput(f"{tool!r} is no tool. Give the node functions with docstrings, or LangChain tools.")
    try:
        return as_tool(tool)
    except ValueError as error:
        raise InvalidInput(f"{(name_in(tool) or tool)!r} cannot be a tool: {error}") from error


def by_name(tools: Sequence[BaseTool | Callable[..., Any]]) -> dict[str, BaseTool]:
    """Tools by their names. Two of one name are refused: what is decided about one would let the other run."""
    known: dict[str, BaseTool] = {}
    given: dict[str, Any] = {}
    for one in tools:
        tool = made_tool(one)
        if tool.name not in known:
            known[tool.name], given[tool.name] = tool, one
        elif not _is_same(one, given[tool.name]):
            raise _two_of_one_name(known[tool.name], tool)
    return known


def made_tools(given: Sequence[Any]) -> list[Any]:
    """The tools, each once; dicts, which are tools of the model's provider, as they are."""
    return joined(given, ())


def joined(own: Sequence[Any], brought: Sequence[Any]) -> list[Any]:
    """All tools of an agent, those of middleware first; one of its own takes the place of one of the same name."""
    mine, theirs = by_name(_without_dicts(own)), by_name(_without_dicts(brought))
    others = [tool for name, tool in theirs.items() if name not in mine]
    return [*others, *mine.values(), *(tool for tool in (*own, *brought) if isinstance(tool, dict))]


def call_schema(tool: BaseTool) -> Any:
    """What the model may call a tool with: a pydantic class, or a JSON Schema as the tools of MCP servers have."""
    is_single = isinstance(tool, Tool) and tool.args_schema is None
    return ONE_TEXT if is_single else tool.tool_call_schema


ONE_TEXT = {
    "type": "object",
    "properties": {"__arg1": {"title": "__arg1", "type": "string"}},
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": True,
}
"""What a tool of the oldest kind takes: one argument, whatever its name."""


def argument_defaults(tool: BaseTool) -> dict[str, Any]:
    """What the arguments that the model is told of are where it says nothing."""
    schema = call_schema(tool)
    if not isinstance(schema, dict):
        return defaults_of(schema)
    said = schema.get("properties", {})
    return {name: one.get("default") if isinstance(one, dict) else None for name, one in said.items()}


def takes_others(tool: BaseTool) -> bool:
    """Whether a tool is given arguments that its schema does not name; most classes drop them."""
    schema = call_schema(tool)
    if isinstance(schema, dict):
        return bool(schema.get("additionalProperties"))
    return tool.args_schema is not None and keeps_others(tool.args_schema)


def _without_dicts(tools: Sequence[Any]) -> list[Any]:
    return [tool for tool in tools if not isinstance(tool, dict)]


def _is_same(one: Any, other: Any) -> bool:
    """Whether the very same was given twice. A method is another object each time that it is asked for."""
    return one is other or (not isinstance(one, BaseTool) and bool(one == other))


def _two_of_one_name(one: BaseTool, other: BaseTool) -> InvalidInput:
    return InvalidInput(
        f"Two tools have the name {one.name!r}, so only one could be called: {_origin(one)} and {_origin(other)}. "
        'Leave one of them out, or give it another name: @tool("another_name").'
    )


def _origin(tool: BaseTool) -> str:
    """Where a tool comes from, and what it says of itself."""
    function = function_of(tool)
    place = f"{function.__module__}.{function.__qualname__}" if hasattr(function, "__qualname__") else repr(function)
    about, _, _ = tool.description.strip().partition("\n")
    return f"{place} ({about[:60]!r})"
