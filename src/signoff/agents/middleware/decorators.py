"""Middleware out of a single function: `@before_model`, `@wrap_tool_call`, and the others."""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool

from signoff._annotations import is_async, signature_of
from signoff.agents.middleware.base import AgentMiddleware, AgentState, JumpTo, ModelRequest
from signoff.errors import InvalidInput
from signoff.pregel.actions import name_of

__all__ = [
    "after_agent",
    "after_model",
    "before_agent",
    "before_model",
    "dynamic_prompt",
    "hook_config",
    "wrap_model_call",
    "wrap_tool_call",
]

P = ParamSpec("P")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
Function = Callable[..., Any]
Made = AgentMiddleware[Any, Any]
Maker = Callable[[Function], Made]
TARGETS = ("tools", "model", "end")


class _Decorator(Protocol[P]):
    """`@before_model`, or `@before_model(...)` with its options."""

    @overload
    def __call__(self, func: Function) -> Made: ...

    @overload
    def __call__(self, func: None = None, *args: P.args, **options: P.kwargs) -> Maker: ...


def hook_config(*, can_jump_to: list[JumpTo] | None = None) -> Callable[[FunctionT], FunctionT]:
    """Says where a hook may jump to by returning `{"jump_to": ...}`."""
    targets = _checked(can_jump_to)

    def mark(function: FunctionT) -> FunctionT:
        function.__can_jump_to__ = targets  # type: ignore[attr-defined]
        return function

    return mark


def targets_of(middleware: AgentMiddleware[Any, Any], *methods: str) -> tuple[str, ...]:
    """Where the hooks of a middleware may jump to."""
    found = [getattr(getattr(type(middleware), method), "__can_jump_to__", ()) for method in methods]
    return tuple(dict.fromkeys(target for targets in found for target in targets))


def _checked(targets: Sequence[str] | None) -> tuple[str, ...]:
    if wrong := [target for target in targets or () if target not in TARGETS]:
        raise InvalidInput(f"can_jump_to has {wrong}. A hook may jump to: {', '.join(TARGETS)}.")
    return tuple(targets or ())


def _decorator(make: Callable[Concatenate[str, P], Maker], method: str) -> _Decorator[P]:
    """The decorator that makes middleware of a function, which is called as one of its methods."""

    def decorator(func: Function | None = None, *args: P.args, **options: P.kwargs) -> Any:
        maker = make(method, *args, **options)
        return maker if func is None else maker(func)

    given = "request, handler" if make is _wrapper else "state, runtime"
    decorator.__name__ = decorator.__qualname__ = method
    decorator.__doc__ = f"Middleware of one function ({given}) that runs as `{method}`."
    return decorator


def _hook(
    method: str,
    *,
    state_schema: Any = None,
    tools: list[BaseTool] | None = None,
    can_jump_to: list[JumpTo] | None = None,
    name: str | None = None,
) -> Maker:
    def make(function: Function) -> Made:
        targets = can_jump_to or getattr(function, "__can_jump_to__", None)
        return _middleware(function, method, hook_config(can_jump_to=targets), state_schema, tools, name)

    return make


def _wrapper(
    method: str, *, state_schema: Any = None, tools: list[BaseTool] | None = None, name: str | None = None
) -> Maker:
    def make(function: Function) -> Made:
        return _middleware(function, method, lambda method: method, state_schema, tools, name)

    return make


def _middleware(
    function: Function, method: str, mark: Any, state_schema: Any, tools: Sequence[BaseTool] | None, name: str | None
) -> AgentMiddleware[Any, Any]:
    _check_takes_two(function, method)

    def call(self: Any, first: Any, second: Any) -> Any:
        return function(first, second)  # which is to be awaited, if the function is async

    own = {f"a{method}" if is_async(function) else method: mark(call)}
    names = {"state_schema": state_schema or AgentState, "tools": list(tools or ()), **own}
    made: AgentMiddleware[Any, Any] = type(name or name_of(function), (AgentMiddleware,), names)()
    return made


def _check_takes_two(function: Function, method: str) -> None:
    try:
        signature = signature_of(function, follow_wrapped=False)
    except (ValueError, TypeError):  # a builtin without a signature
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        given = "(request, handler)" if method.startswith("wrap_") else "(state, runtime)"
        raise InvalidInput(f"{name_of(function)!r} is called with {given}, and takes {signature}: {error}.") from error


before_agent = _decorator(_hook, "before_agent")
before_model = _decorator(_hook, "before_model")
after_model = _decorator(_hook, "after_model")
after_agent = _decorator(_hook, "after_agent")
wrap_model_call = _decorator(_wrapper, "wrap_model_call")
wrap_tool_call = _decorator(_wrapper, "wrap_tool_call")


@overload
def dynamic_prompt(func: Function) -> Made: ...


@overload
def dynamic_prompt(func: None = None) -> Callable[[Function], Made]: ...


def dynamic_prompt(func: Function | None = None) -> Any:
    """Middleware of one function from the request to the system prompt of this turn."""
    return _prompting if func is None else _prompting(func)


def _prompting(function: Function) -> AgentMiddleware[Any, Any]:
    def call(request: ModelRequest[Any], handler: Any) -> Any:
        return handler(_with_prompt(request, function(request)))

    async def acall(request: ModelRequest[Any], handler: Any) -> Any:
        prompt = function(request)
        return await handler(_with_prompt(request, await prompt if is_async(function) else prompt))

    made = _middleware(acall, "wrap_model_call", lambda method: method, None, None, name_of(function))
    if is_async(function):
        return made
    type(made).wrap_model_call = lambda self, request, handler: call(request, handler)  # type: ignore[method-assign]
    return made


def _with_prompt(request: ModelRequest[Any], prompt: str | SystemMessage) -> ModelRequest[Any]:
    message = SystemMessage(prompt) if isinstance(prompt, str) else prompt
    return request.override(system_message=message)
