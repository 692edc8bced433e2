"""What the programs about prebuilt parts share: the names of both libraries, and conversations as plain data."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from langchain_core.messages import BaseMessage

from prebuilt.models import call, calls

from .library import App, Library

USER = {"messages": [("user", "hi")]}


@contextmanager
def quietly() -> Iterator[None]:
    """LangGraph says of some names that they have moved; that is not what is compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def name(lib: Library, names: str) -> Any:
    """A name of the prebuilt modules: `ToolNode`, or `tool_node.ToolCallRequest`."""
    module, _, attribute = names.rpartition(".")
    with quietly():
        return getattr(import_module(f"{lib.root}.prebuilt{'.' + module if module else ''}"), attribute)


def agent(lib: Library, *args: Any, **options: Any) -> App:
    """A react agent to watch."""
    with quietly():
        return lib.watch(name(lib, "create_react_agent")(*args, **options))


def saved_agent(lib: Library, *args: Any, **options: Any) -> App:
    """A react agent with a saver."""
    return agent(lib, *args, checkpointer=lib.saver(), **options)


class Node:
    """A tool node that is called outside of a graph, as unit tests do."""

    def __init__(self, lib: Library, tools: Sequence[Any], **options: Any) -> None:
        self.lib = lib
        self.node = name(lib, "ToolNode")(tools, **options)

    def __call__(self, input: Any, **runtime: Any) -> Any:
        config = {"configurable": {"__pregel_runtime": self.lib.Runtime(**runtime)}}
        invoke = self.node.ainvoke if self.lib.is_async else self.node.invoke
        return said(self.lib.call(invoke, input, config))

    def fails(self, input: Any, **runtime: Any) -> str:
        """What kind of error it raises."""
        try:
            return f"did not fail, but returned {self(input, **runtime)}"
        except Exception as error:
            return next(cls.__name__ for cls in type(error).__mro__ if cls.__name__ in _KINDS)


_KINDS = ("ToolInvocationError", "ValueError", "KeyError", "TypeError", "Boom", "Exception")


def said(value: Any) -> Any:
    """Messages as who says what; the words about an error are each library's own."""
    if isinstance(value, BaseMessage):
        return _message(value)
    if isinstance(value, dict):
        return {key: said(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [said(item) for item in value]
    if type(value).__name__ == "Command":
        return {"command": {part: said(getattr(value, part)) for part in ("graph", "update", "goto")}}
    if type(value).__name__ == "Send":
        return {"send": (value.node, said(value.arg))}
    return value


def _message(message: Any) -> tuple[Any, ...]:
    is_error = getattr(message, "status", None) == "error"
    wanted = [(call["name"], call["args"], call["id"]) for call in getattr(message, "tool_calls", ())]
    answered = getattr(message, "tool_call_id", None)
    return (message.type, message.name, "<error>" if is_error else message.content, wanted, answered)


def questions(result: Any) -> list[Any]:
    """What a result asks."""
    return [question.value for question in result.get("__interrupt__", ())]


__all__ = ["USER", "Node", "agent", "call", "calls", "name", "questions", "quietly", "said", "saved_agent"]
