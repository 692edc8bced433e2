"""Marks that say to a provider what of a request it should cache. Another one may refuse a request that has them."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from signoff.agents.middleware.base import ModelRequest

__all__ = ["readable_for"]

_MARK = "cache_control"
_KEY = "prompt_cache_key"
_KNOW_KEYS = ("openai", "fireworks")
"""The kinds of models that take a key for what is cached."""
_AROUND = ("extras", "metadata")
"""Where a block or a tool may have a mark, beside its own keys."""


def readable_for(request: ModelRequest[Any], model: Any) -> ModelRequest[Any]:
    """A request for another model than the one that it was made for: without marks that only the other may know."""
    kind = _kind(model)
    if kind and kind == _kind(request.model):
        return request.override(model=model)
    settings = dict(request.model_settings)
    if not any(known in kind for known in _KNOW_KEYS):
        settings.pop(_KEY, None)
    if "anthropic" in kind:
        return request.override(model=model, model_settings=settings)
    system = request.system_message
    return request.override(
        model=model,
        model_settings=_unmarked(settings),
        system_message=None if system is None else _unmarked_message(system),
        messages=[_unmarked_message(message) for message in request.messages],
        tools=[_unmarked_tool(tool) for tool in request.tools],
    )


def _kind(model: Any) -> str:
    return str(getattr(model, "_llm_type", ""))


def _unmarked_message(message: BaseMessage) -> Any:
    content: Any = message.content
    if isinstance(content, str):
        return message
    new = [_unmarked(block) for block in content]
    return message if new == content else message.model_copy(update={"content": new})


def _unmarked_tool(tool: Any) -> Any:
    if not isinstance(tool, BaseTool):
        return _unmarked(tool)
    extras = tool.extras or {}
    return tool.model_copy(update={"extras": _unmarked(extras) or None}) if _MARK in extras else tool


def _unmarked(block: Any) -> Any:
    if not isinstance(block, Mapping):
        return block
    kept = {name: value for name, value in block.items() if name != _MARK}
    return {name: _unmarked(value) if name in _AROUND else value for name, value in kept.items()}
