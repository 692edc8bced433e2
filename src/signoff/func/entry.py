"""`@entrypoint`: a plain function as a whole program."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar, get_args, get_origin

from signoff._annotations import resolved_hints, signature_of
from signoff._reprs import repr_of
from signoff._words.choices import OnPending
from signoff._words.commands import Command
from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy
from signoff.channels import EphemeralValue, LastValue
from signoff.constants import END, PREVIOUS, START
from signoff.engine.policies import as_policies, checked_policy
from signoff.engine.program import UNNAMED, HandedOver, Node, Program, Write
from signoff.errors import InvalidGraph, InvalidUpdateError
from signoff.func.hints import register_types_of
from signoff.func.results import awaited
from signoff.pregel.actions import (
    action_of,
    check_timeout,
    first_parameter,
    name_of,
    refuse_generator,
    refuse_no_function,
)
from signoff.pregel.keywords import refuse_old
from signoff.pregel.lowlevel import Pregel
from signoff.typing import ContextT

if TYPE_CHECKING:
    from signoff.cache.base import BaseCache
    from signoff.checkpoint.base import BaseCheckpointSaver
    from signoff.graph.drawing.picture import Graph
    from signoff.store.base import BaseStore

__all__ = ["entrypoint"]

R = TypeVar("R")
S = TypeVar("S")


class entrypoint(Generic[ContextT]):  # noqa: N801 - a decorator, and LangGraph's name
    """Make a function runnable like a graph: `@entrypoint(checkpointer=...)`. It takes one input."""

    @dataclass(slots=True)
    class final(Generic[R, S]):  # noqa: N801 - LangGraph's name
        """Return one value to the caller and save another one as `previous` for the next run."""

        value: R
        save: S

    def __init__(
        self,
        checkpointer: "BaseCheckpointSaver[Any] | None" = None,
        store: "BaseStore | None" = None,
        cache: "BaseCache[Any] | None" = None,
        context_schema: type[ContextT] | None = None,
        cache_policy: CachePolicy | None = None,
        retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
        timeout: float | timedelta | TimeoutPolicy | None = None,
        on_pending: OnPending = "raise",
        **old: Never,
    ) -> None:
        refuse_old("entrypoint()", old)
        if inspect.isfunction(checkpointer):
            raise InvalidGraph(
                f"entrypoint was given {checkpointer!r}. Write @entrypoint() above it, with parentheses."
            )
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.context_schema = context_schema
        self.cache_policy = checked_policy(cache_policy)
        self.retry = as_policies(retry_policy)
        self.timeout = TimeoutPolicy.coerce(timeout)
        self.on_pending = on_pending

    def __call__(self, func: Callable[..., Any]) -> "Entrypoint":
        name = name_of(func)
        _check(func, name)
        check_timeout(name, func, self.timeout)
        return Entrypoint(
            func,
            self._program(func, name),
            name=UNNAMED,
            checkpointer=self.checkpointer,
            store=self.store,
            cache=self.cache,
            context_schema=self.context_schema,
            stream_mode="updates",
            on_pending=self.on_pending,
        )

    def _program(self, func: Callable[..., Any], name: str) -> Program:
        """The function as the one node of a program."""
        types = register_types_of(func)
        given, kept = _result_types(func)
        node = Node(
            name,
            action_of(func, name),
            triggers=(START,),
            read=lambda values, step, stop: values.get(START),
            updates=lambda result: _writes_of(awaited(name, result)),
            retry=self.retry,
            cache=self.cache_policy,
            timeout=self.timeout,
        )
        return Program(
            name,
            {name: node},
            {
                START: EphemeralValue(first_parameter(func) or Any, key=START),
                END: LastValue(given, END),
                PREVIOUS: LastValue(kept, PREVIOUS),
            },
            input_keys=START,
            output_keys=END,
            stream_keys=END,
            is_one_function=True,
            types=types,
            map_input=lambda input: [(START, input)],
            map_command=_command_writes,
        )


class Entrypoint(Pregel):
    """A program that is one function."""

    def __init__(self, func: Callable[..., Any], program: Program, **settings: Any) -> None:
        self.func = func
        self._set_up(program, **settings)

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> "Graph":
        """A picture of the function: draw_mermaid(), draw_ascii(), draw_svg(). Its tasks are not in it."""
        from signoff.graph.drawing.picture import Graph

        picture = Graph()
        function = picture.add_node(self.func, self.program.name)
        begin, end = picture.add_node(None, START), picture.add_node(None, END)
        picture.add_edge(begin, function)
        picture.add_edge(function, end, conditional=True)
        return picture

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> "Graph":
        """The same as get_graph."""
        return self.get_graph(config, xray=xray)


def _check(func: Any, name: str) -> None:
    refuse_no_function("entrypoint()", func)
    refuse_generator(name, func, "an entrypoint")
    if inspect.isfunction(func) and not signature_of(func).parameters:
        raise InvalidGraph(f"{name!r} takes no input. An entrypoint is called with one: def {name}(input): ...")


def _result_types(func: Callable[..., Any]) -> tuple[Any, Any]:
    """The annotated types of what the caller gets and of what is saved as `previous`."""
    returns = resolved_hints(func).get("return", Any)
    if entrypoint.final in (returns, get_origin(returns)):
        given, kept = get_args(returns) or (Any, Any)
        return given, kept
    return returns, returns


def _writes_of(result: Any) -> list[Write]:
    if type(result) is HandedOver:
        raise InvalidUpdateError(
            f"A graph inside of an entrypoint handed over with {repr_of(result)}. An entrypoint has no nodes and no "
            "keys to hand over to: have that graph return its state, and go on in the entrypoint."
        )
    if isinstance(result, entrypoint.final):
        return [(END, result.value), (PREVIOUS, result.save)]
    if type(result).__qualname__ == "entrypoint.final" and type(result).__module__ == "langgraph.func":
        raise InvalidUpdateError(
            f"{result!r} is of LangGraph. Import entrypoint from signoff.func, also for its final."
        )
    return [(END, result), (PREVIOUS, result)]


def _command_writes(command: Command[Any]) -> list[Write]:
    if command.goto or command.update is not None:
        raise InvalidUpdateError("An entrypoint has no nodes and no keys: its Command can carry only resume=.")
    return []
