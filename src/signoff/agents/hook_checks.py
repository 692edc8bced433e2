"""Mistakes in the class of a middleware: methods that would never be called, or that cannot be."""

import inspect
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from signoff._annotations import fits, is_async, signature_of
from signoff.agents.middleware.base import AgentMiddleware
from signoff.errors import InvalidInput
from signoff.pregel.typing import has_fields

__all__ = ["check_hooks"]

_SYNC = ("before_agent", "before_model", "after_model", "after_agent", "wrap_model_call", "wrap_tool_call")
_METHODS = (*_SYNC, *(f"a{name}" for name in _SYNC))
_AS_NEAR_AS = 0.9
"""How much of a name must be that of a hook, to be taken for a slip of the pen."""


def check_hooks(middleware: AgentMiddleware[Any, Any]) -> None:
    """Refuse a middleware one of whose methods looks like a hook, and is none, or cannot be called as one."""
    cls = type(middleware)
    if not has_fields(middleware.state_schema):
        raise InvalidInput(
            f"The state_schema of middleware {middleware.name!r} is {middleware.state_schema!r}. Give a TypedDict, "
            "such as a subclass of AgentState."
        )
    own = [name for name in _METHODS if getattr(cls, name) is not getattr(AgentMiddleware, name)]
    for name in own:
        _check_callable(middleware, name)
    for name in _helpers(cls):
        meant = _meant(name)
        if meant is not None and meant not in own and fits(getattr(middleware, name), None, None):
            raise InvalidInput(
                f"Middleware {middleware.name!r} has a method {name}, which is no hook and would never be called. "
                f"Write {meant}; or begin its name with _, if it is a helper of yours."
            )


def _check_callable(middleware: AgentMiddleware[Any, Any], name: str) -> None:
    method, shown = getattr(middleware, name), f"{middleware.name}.{name}"
    if not callable(method):
        raise InvalidInput(f"{shown} is {method!r}. Define it as a method: def {name}(self, {_parameters(name)}).")
    if name in _SYNC and is_async(method):
        raise InvalidInput(f"{shown} is async, and is called in sync runs. Name it a{name}.")
    if not fits(method, None, None) and (name.endswith("_call") or not _takes_the_state(method)):
        raise InvalidInput(
            f"{shown} takes {signature_of(method)}, and is called with ({_parameters(name)}). Write def "
            f"{name}(self, {_parameters(name)})."
        )


def _takes_the_state(method: Any) -> bool:
    """Whether a hook can do with the state alone, or is told of the runtime by name. `self` may have been forgotten."""
    if fits(method, None, runtime=None):
        return True
    return fits(method, None) and next(iter(signature_of(method).parameters)) != "runtime"


def _parameters(name: str) -> str:
    return "request, handler" if name.endswith("_call") else "state, runtime"


def _helpers(cls: type) -> Sequence[str]:
    """The methods that a class has beside those of every middleware."""
    names = [name for name in dir(cls) if not name.startswith("_") and not hasattr(AgentMiddleware, name)]
    return [name for name in names if inspect.isfunction(inspect.getattr_static(cls, name))]


_PLAIN = {name.replace("_", ""): name for name in _METHODS}


def _meant(name: str) -> str | None:
    """The hook whose name somebody has misspelt."""
    near = get_close_matches(name.replace("_", "").lower(), _PLAIN, n=1, cutoff=_AS_NEAR_AS)
    return _PLAIN[near[0]] if near else None
