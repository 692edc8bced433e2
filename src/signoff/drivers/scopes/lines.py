"""Lines: the coroutines and threads beside a task, and how each is told from the others, in this run and in the next.

A line is known by the function that it began with, and by what that was given. Those that look alike are numbered, as
they come; so none of them is taken for another one.
"""

import threading
import zlib
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dis import get_instructions
from functools import lru_cache, partial
from inspect import iscoroutine
from itertools import count
from types import CodeType, FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from signoff._forks import free
from signoff._locks import RLock
from signoff.constants import ATOMS
from signoff.drivers.scopes.callsite import arguments_of, branch_on, code_digest, entry_of
from signoff.drivers.scopes.digests import stored_digest
from signoff.engine.program import Node

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


class _Line(NamedTuple):
    of: tuple["Scope", int]
    """The task that it is beside, and its attempt."""
    owner: int
    looks: str
    name: str


in_turn = free(RLock())
"""Held while it is counted what tasks do: threads beside a task may call, and ask, at the same moment."""

_line: ContextVar[_Line | None] = ContextVar("signoff_line", default=None)
"""The line that this context belongs to; perhaps one that has started it."""


def line_of(scope: "Scope", frame: FrameType) -> str:
    """What stands for the coroutine or the thread beside a task that a frame belongs to."""
    running = _running_coroutine()
    of, owner = (scope, scope.attempt), threading.get_ident() if running is None else id(running)
    line = _line.get()
    is_known = line is not None and line.of == of and line.owner == owner
    if line is not None and is_known and running is not None:
        return line.name  # what it was given may have been changed since
    looks = _looks(entry_of(frame))
    if line is not None and is_known and line.looks == looks:
        return line.name
    nth = next(scope.lines.setdefault(looks, count()))
    name = f"{looks}~{nth}" if nth else looks
    _line.set(_Line(of, owner, looks, name))
    return name


def looks_of(nodes: Mapping[str, Node], frame: FrameType) -> str:
    """Some hex digits for what tells a graph that a frame calls from others with the same nodes, given the same.

    Those that one function makes differ by what it was given; those of a dict of runnables, by their names there.
    """
    return _digits([branch_on(frame), *_nodes(nodes, _DEEPEST)])


def _nodes(nodes: Mapping[str, Node], depth: int) -> Any:
    """What the functions of a graph look like, and the graphs that these call."""
    actions = [(node.action.func or node.action.afunc, node.graph) for node in nodes.values()]
    return [
        (_value(function, depth), _nodes(graph.program.nodes, depth - 1) if graph is not None and depth > 1 else None)
        for function, graph in actions
    ]


def _running_coroutine() -> Any:
    import asyncio  # most programs without coroutines do without it

    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _looks(entry: FrameType | None) -> str:
    """Some hex digits that stand for the function that a line began with, and for what it was given."""
    return "beside" if entry is None else _digits(_frame(entry, _DEEPEST))


def _digits(looks: Any) -> str:
    return f"{zlib.crc32(repr(looks).encode('utf-8', 'surrogatepass')):08x}"


_DEEPEST = 3


def _frame(frame: FrameType, depth: int) -> Any:
    code = frame.f_code
    around = {name: frame.f_locals.get(name) for name in code.co_freevars if name not in _assigned(code)}
    return code.co_qualname, _each(arguments_of(frame), depth), _known(around, depth)


def _value(value: Any, depth: int) -> Any:
    """What a value looks like: the same in every process, so without addresses."""
    if depth == 0:
        return ""
    if digest := stored_digest(value):
        return digest
    if isinstance(value, FunctionType):
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return code_digest(value.__code__), _known(_around(value), depth), _value(given, depth - 1)
    if isinstance(value, MethodType):
        return value.__func__.__qualname__, _value(value.__self__, depth - 1)
    if isinstance(value, partial):
        return _value([value.func, value.args, value.keywords], depth - 1)
    if isinstance(value, Mapping):
        return _each(value, depth - 1)
    if isinstance(value, list | tuple):
        return [_value(one, depth - 1) for one in value]
    if iscoroutine(value):
        return value.__qualname__, _frame(value.cr_frame, depth - 1) if value.cr_frame is not None else None
    return type(value).__qualname__, _names(getattr(value, "__dict__", {}))


@lru_cache(maxsize=1000)
def _assigned(code: CodeType) -> frozenset[str]:
    """What a function changes in those around it, as a counter: that tells nothing of who it is."""
    return frozenset(one.argval for one in get_instructions(code) if one.opname == "STORE_DEREF")


def _around(function: FunctionType) -> dict[str, Any]:
    """What a function has from those around it, as far as it is there yet."""
    known, code = {}, function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            known[name] = cell.cell_contents
    return {name: value for name, value in known.items() if name not in _assigned(code)}


def _each(values: Mapping[Any, Any], depth: int) -> Any:
    return {str(name): _value(value, depth) for name, value in values.items()}


def _known(values: Mapping[str, Any], depth: int) -> Any:
    """Those of several values that nobody changes in place; what coroutines gather in lists, say, varies."""
    functions = {
        name: value for name, value in values.items() if isinstance(value, FunctionType | MethodType | partial)
    }
    return {name: value for name, value in values.items() if type(value) in ATOMS}, _each(functions, depth - 1)


def _names(attributes: Mapping[str, Any]) -> Any:
    """Those attributes of an object that may say which one it is; its numbers may be counters."""
    return {name: value for name, value in attributes.items() if type(value) is str}
