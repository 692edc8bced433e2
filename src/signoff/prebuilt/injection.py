"""What a tool is given that the model does not see: the state, the store, the runtime of the call."""

import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, get_args, get_origin

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg
from langchain_core.tools.base import _DirectlyInjectedToolArg, get_all_basemodel_annotations
from typing_extensions import TypeVar

from signoff import _scope
from signoff._annotations import signature_of
from signoff.config import StreamWriter
from signoff.errors import InvalidInput
from signoff.runtime import ExecutionInfo, ServerInfo
from signoff.typing import ContextT

__all__ = ["InjectedState", "InjectedStore", "ToolRuntime"]

StateT = TypeVar("StateT", default=dict[str, Any])


class InjectedState(InjectedToolArg):
    """Mark a tool's parameter: `state: Annotated[dict, InjectedState]`, or one key, `InjectedState("key")`."""

    def __init__(self, field: str | None = None) -> None:
        self.field = field


class InjectedStore(InjectedToolArg):
    """Mark a tool's parameter that takes the store of the graph: `store: Annotated[BaseStore, InjectedStore()]`."""


@dataclass
class ToolRuntime(_DirectlyInjectedToolArg, Generic[ContextT, StateT]):
    """All that a tool may use beside its arguments: declare a parameter `runtime: ToolRuntime`."""

    state: StateT
    context: ContextT
    config: RunnableConfig
    stream_writer: StreamWriter
    tool_call_id: str | None
    store: Any
    tools: list[BaseTool] = field(default_factory=list)
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None

    def emit_output_delta(self, delta: Any) -> None:
        """Show a part of the result now, in the `tools` stream."""
        scope = _scope.running.get()
        if scope is not None:
            scope.show_delta(self.tool_call_id, delta)

    if not TYPE_CHECKING:

        def __class_getitem__(cls, _: Any) -> Any:
            """`ToolRuntime[Context, State]` is for type checkers; pydantic would look into the fields of an alias."""
            return cls

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Taken as it is: a tool's schema need not look into it."""
        return handler(Any)


@dataclass(frozen=True, slots=True)
class Injections:
    """Which parameters of a tool are filled in, and with what."""

    state: dict[str, str | None]
    """From a parameter to the key of the state that it takes; None for the whole state."""
    store: tuple[str, ...]
    runtime: dict[str, type]
    """From a parameter to the class of its runtime."""
    call_id: tuple[str, ...]
    """LangChain fills these in, too, if the schema of the tool has them; one that the user wrote need not."""
    optional: frozenset[str]
    """Parameters with a default: where there is nothing to inject they keep it."""
    hidden: frozenset[str]
    """All parameters that are marked as none of the model's business, those that somebody else fills in, too."""

    @property
    def names(self) -> set[str]:
        return {*self.state, *self.store, *self.runtime, *self.hidden}


def injections_of(tool: BaseTool) -> Injections:
    """Read from the annotations of a tool's function and schema. Markers of LangGraph's are understood, too."""
    state: dict[str, str | None] = {}
    store: list[str] = []
    runtime: dict[str, type] = {}
    call_id: list[str] = []
    hidden: set[str] = set()
    for name, hint in {**_schema_hints(tool), **_function_hints(tool)}.items():
        if name == "runtime" and hint is Any:  # of another type it is an argument like any other
            runtime[name] = ToolRuntime
        for note in _notes(hint):
            if _is_marker(_class_of(note)):
                hidden.add(name)
            match _kind(note):
                case "InjectedState":
                    state[name] = getattr(note, "field", None)
                case "InjectedStore":
                    store.append(name)
                case "ToolRuntime":
                    runtime[name] = get_origin(note) or note
                case "InjectedToolCallId":
                    call_id.append(name)
    return Injections(state, tuple(store), runtime, tuple(call_id), frozenset(_optional(tool)), frozenset(hidden))


def _kind(note: Any) -> str:
    """The name of the marker that an annotation is, as a class or as an instance of it."""
    bases = _class_of(note).__mro__
    return next((base.__name__ for base in bases if base.__name__ in _MARKERS and _is_marker(base)), "")


def _class_of(note: Any) -> type:
    cls = get_origin(note) or note
    return cls if isinstance(cls, type) else type(cls)


_MARKERS = ("InjectedState", "InjectedStore", "InjectedToolCallId", "ToolRuntime")


def _is_marker(cls: type) -> bool:
    return issubclass(cls, InjectedToolArg | _DirectlyInjectedToolArg)


def _notes(hint: Any) -> Iterator[Any]:
    """An annotation itself, what is noted on it, and the same for the members of a union."""
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        yield from notes
        yield from _notes(inner)
    elif get_origin(hint) in (typing.Union, UnionType):
        for member in get_args(hint):
            yield from _notes(member)
    else:
        yield hint


def _schema_hints(tool: BaseTool) -> dict[str, Any]:
    schema = tool.args_schema
    return {} if schema is None or isinstance(schema, dict) else dict(get_all_basemodel_annotations(schema))


def _function_hints(tool: BaseTool) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function_of(tool), include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}


def _optional(tool: BaseTool) -> Iterator[str]:
    try:
        parameters = signature_of(function_of(tool)).parameters.values()
    except (TypeError, ValueError):
        return
    yield from (parameter.name for parameter in parameters if parameter.default is not parameter.empty)


def function_of(tool: Any) -> Callable[..., Any]:
    """The function that a tool calls; of a tool around another one, that of the inner one."""
    return functions_of(tool)[0]


def functions_of(tool: Any) -> list[Callable[..., Any]]:
    """All functions that a tool may call: in an async run it may be another one."""
    if isinstance(getattr(tool, "tool", None), BaseTool):
        return functions_of(tool.tool)
    given = [getattr(tool, name, None) for name in ("func", "coroutine")]
    return [one for one in given if one] or [tool._run, tool._arun]


# Filling in


def injected(
    tool: BaseTool, wants: Injections, args: Mapping[str, Any], runtime: ToolRuntime[Any, Any], messages_key: str
) -> dict[str, Any]:
    """The arguments of a call, filled in. What the model says about an injected parameter is dropped."""
    filled = {name: value for name, value in args.items() if name not in wants.names}
    state = {messages_key: runtime.state} if isinstance(runtime.state, list) else runtime.state
    for name, key in wants.state.items():
        if name not in wants.optional or _has(state, key):
            filled[name] = _part(tool, state, key)
    for name in wants.store:
        if runtime.store is not None or name not in wants.optional:
            filled[name] = _store(tool, runtime)
    for name, cls in wants.runtime.items():
        filled[name] = _as_class(cls, runtime)
    if runtime.tool_call_id is not None:
        filled |= dict.fromkeys(wants.call_id, runtime.tool_call_id)
    return filled


def _has(state: Any, key: str | None) -> bool:
    return key is None or (key in state if isinstance(state, Mapping) else hasattr(state, key))


def _part(tool: BaseTool, state: Any, key: str | None) -> Any:
    if key is None:
        return state
    if not _has(state, key):
        raise MissingStateKey(
            f"The tool {tool.name!r} wants the key {key!r} of the state, and the state does not have it. Put it into "
            "the input, or give the tool's parameter a default."
        )
    return state[key] if isinstance(state, Mapping) else getattr(state, key)


class MissingStateKey(InvalidInput, KeyError):
    """A tool wants a key of the state that is not there."""

    __str__ = Exception.__str__


def _store(tool: BaseTool, runtime: ToolRuntime[Any, Any]) -> Any:
    if runtime.store is None:
        raise InvalidInput(
            f"The tool {tool.name!r} wants the store, and the graph has none. Compile it with one: "
            "compile(store=InMemoryStore())."
        )
    return runtime.store


def _as_class(cls: type, runtime: ToolRuntime[Any, Any]) -> Any:
    """The runtime in the class that the parameter asks for: ours, a subclass, or LangGraph's own."""
    if isinstance(runtime, cls):
        return runtime
    other = cls(**{name: getattr(runtime, name) for name in ToolRuntime.__dataclass_fields__})
    if not issubclass(cls, ToolRuntime):  # LangGraph's own looks for a run of LangGraph to show it in
        other.emit_output_delta = runtime.emit_output_delta
    return other
