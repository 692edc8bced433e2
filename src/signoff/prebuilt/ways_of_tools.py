"""The ways to call a tool: those that its class has of its own, and those that it has not."""

import dis
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, Tool

__all__ = ["has_own", "is_async_only", "way_to"]

_LANGCHAINS = (BaseTool, StructuredTool, Tool)
_OF_CONFIG = ("callbacks", "tags", "metadata", "run_name", "run_id")


def has_own(tool: BaseTool, method: str) -> bool:
    """Whether the class of a tool says itself what a method does."""
    return all(getattr(type(tool), method) is not getattr(one, method) for one in _LANGCHAINS)


def is_async_only(tool: Any) -> bool:
    """Whether something is a tool that only async runs can call."""
    if not isinstance(tool, BaseTool) or has_own(tool, "invoke") or has_own(tool, "run"):
        return False
    if not has_own(tool, "_run"):
        return isinstance(tool, StructuredTool | Tool) and tool.func is None
    return any(has_own(tool, name) for name in ("ainvoke", "arun", "_arun")) and _only_refuses(type(tool)._run)


@lru_cache(maxsize=256)
def _only_refuses(function: Any) -> bool:
    """Whether a function only says that it is not there: it raises NotImplementedError, and never returns."""
    code = getattr(function, "__code__", None)
    if code is None or "NotImplementedError" not in code.co_names:
        return False
    return not any(one.opname.startswith(("RETURN_VALUE", "RETURN_CONST")) for one in dis.get_instructions(code))


def way_to(tool: BaseTool, method: str, input: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """How to run a tool that `run` or `arun` of another one stands around: by its own `invoke` or `ainvoke`, if any.

    Given again, callbacks take the place of those that there are.
    """
    invoke = method.replace("run", "invoke")
    if args or not has_own(tool, invoke):
        return lambda **again: getattr(tool, method)(input, *args, **{**kwargs, **again})
    id, config = kwargs.pop("tool_call_id", None), dict(kwargs.pop("config", None) or {})
    config |= {name: kwargs.pop(name) for name in _OF_CONFIG if name in kwargs}
    call = input if id is None else {"type": "tool_call", "name": tool.name, "id": id, "args": input}
    return lambda **again: getattr(tool, invoke)(call, {**config, **again}, **kwargs)
