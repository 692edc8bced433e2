"""What an agent is made of, checked before anything is built of it."""

from collections.abc import Collection, Mapping
from os import PathLike
from typing import Any

from langchain_core.messages import SystemMessage

from signoff.agents.hook_checks import check_hooks
from signoff.agents.middleware import AgentMiddleware
from signoff.agents.middleware import __all__ as middleware_here
from signoff.errors import InvalidInput
from signoff.pregel.typing import has_fields

__all__ = ["check_parts", "check_subagents"]


def check_parts(model: Any, tools: Any, middleware: Any, interrupt_on: Any, system_prompt: Any, state: Any) -> None:
    """Refuse parts of the wrong kind."""
    if not isinstance(model, str) and (isinstance(model, type) or not hasattr(model, "invoke")):
        raise InvalidInput(f'The model is {model!r}. Give a chat model, or its name, such as "openai:gpt-5".')
    _check_list("tools", tools or (), "functions and LangChain tools")
    _check_list("middleware", middleware, "middleware")
    for one in middleware:
        if not isinstance(one, AgentMiddleware):
            raise InvalidInput(f"{one!r} is no middleware{_of_whom(one)}.")
        check_hooks(one)
    if not isinstance(interrupt_on or {}, Mapping):
        raise InvalidInput(f"interrupt_on is {interrupt_on!r}. Give a dict of tools, such as {{'pay': True}}.")
    if not isinstance(system_prompt, str | SystemMessage | None):
        raise InvalidInput(f"system_prompt is {system_prompt!r}. Give a text or a SystemMessage.")
    if not (state is None or has_fields(state)):
        raise InvalidInput(f"state_schema is {state!r}. Give a TypedDict, such as a subclass of AgentState.")


def _of_whom(one: Any) -> str:
    """What to do about an object that is no middleware of ours; it may well be one of LangChain's."""
    if not any(base.__module__.startswith("langchain.") for base in type(one).__mro__):
        return ". Give an object of a class that derives from AgentMiddleware"
    name = type(one).__name__
    if name in middleware_here:
        return f" of signoff.agents, but of LangChain's. Import {name} from signoff.agents.middleware"
    return " of signoff.agents, but of LangChain's. Derive its class from signoff.agents.middleware.AgentMiddleware"


def check_subagents(subagents: Any, backend: Any) -> None:
    """Refuse subagents, and a place for files, of the wrong kind."""
    _check_list("subagents", subagents, "dicts with a name and a description")
    for one in subagents:
        if not isinstance(one, Mapping):
            raise InvalidInput(f"{one!r} is no subagent. Give a dict with a name and a description.")
        if "runnable" in one and not hasattr(one["runnable"], "invoke"):
            raise InvalidInput(
                f"The runnable of subagent {one.get('name')!r} is {one['runnable']!r}, no compiled graph."
            )
    if backend is not None and (isinstance(backend, type) or not hasattr(backend, "is_virtual")):
        example = f"FolderBackend({str(backend)!r})" if isinstance(backend, str | PathLike) else "StateBackend()"
        raise InvalidInput(f"The backend is {backend!r}. Give one, such as {example}.")


def _check_list(name: str, given: Any, what: str) -> None:
    if not isinstance(given, Collection) or isinstance(given, str | Mapping):
        raise InvalidInput(f"{name} is {given!r}. Give a list of {what}: {name}=[...].")
