"""Nodes as users describe them: what they do, and what can be told from the annotations of their functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isroutine
from typing import Any, get_args, get_origin

from signoff._annotations import resolved_hints
from signoff._words.commands import Command
from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy
from signoff.bridge.runnables import coerced
from signoff.errors import InvalidGraph
from signoff.pregel.actions import (
    call_of,
    check_action,
    first_parameter,
    literals_in,
    name_of,
    refuse_generator,
    result_hint,
)
from signoff.pregel.typing import are_texts, has_fields


@dataclass(slots=True, eq=False)
class NodeSpec:
    """A node as the user described it."""

    action: Any
    schema: Any
    """The type of its input; None for the whole state."""
    defer: bool = False
    metadata: Mapping[str, Any] | None = None
    retry: tuple[RetryPolicy, ...] | None = None
    cache: CachePolicy | None = None
    handler: Any = None
    timeout: TimeoutPolicy | None = None
    ends: tuple[str, ...] | dict[str, str] = ()
    """Where it may go by itself, for pictures."""
    trace: TracePolicy | None = None
    state: Any = None
    """The type of the whole state."""

    @property
    def input_schema(self) -> Any:
        """The type of its input."""
        return self.state if self.schema is None else self.schema

    @property
    def retry_policy(self) -> RetryPolicy | tuple[RetryPolicy, ...] | None:
        """Its own, or several that are looked through in turn."""
        return self.retry[0] if self.retry is not None and len(self.retry) == 1 else self.retry

    @property
    def cache_policy(self) -> CachePolicy | None:
        return self.cache

    @property
    def trace_policy(self) -> TracePolicy | None:
        return self.trace

    @property
    def runnable(self) -> Any:
        """What the node calls: the runnable or the graph that it was given, or its function, to be invoked."""
        from signoff.pregel.nodes import bound_to  # nobody needs it but whoever looks into a graph

        return bound_to(call_of(self.action, name_of(self.action)))


@dataclass(slots=True)
class Defaults:
    """What nodes get that do not say otherwise."""

    retry: tuple[RetryPolicy, ...] = ()
    cache: CachePolicy | None = None
    handler: Any = None
    timeout: TimeoutPolicy | None = None


def checked_action(name: str, action: Any) -> Any:
    """What a node does: a function, or what can be called in its place. The rest is refused."""
    refuse_generator(name, action, "a node")
    try:
        action = coerced(action)
    except TypeError as error:
        raise InvalidGraph(f"Node {name!r} must be a function, not {action!r}.") from error
    check_action(name, action)
    return action


def inferred(action: Any) -> tuple[Any, tuple[str, ...]]:
    """What the annotations of a function say: the type of what it reads of the state, and where it may go.

    The type is None for the whole state; the names are those in `Command[Literal["a", "b"]]`.
    """
    hints = resolved_hints(action) if isroutine(action) else None
    reads, returns = first_parameter(action, hints), result_hint(action, hints)
    named = get_args(returns) if get_origin(returns) is Command else ()
    return reads if has_fields(reads) else None, literals_in(named[0]) if named else ()


def as_ends(destinations: Mapping[str, str] | tuple[str, ...]) -> tuple[str, ...] | dict[str, str]:
    """Where a node says that it may go, perhaps with labels for pictures."""
    if isinstance(destinations, str) or not are_texts(destinations):
        raise InvalidGraph(f"destinations is {destinations!r}. Give a tuple of names of nodes, or a dict with labels.")
    return dict(destinations) if isinstance(destinations, Mapping) else tuple(destinations)
