"""Nested graphs: which graph a node is, or calls in its function."""

import dis
import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from types import CodeType
from typing import Any

from signoff._annotations import code_of
from signoff.bridge.runnables import parts_of
from signoff.pregel.base import Base

_RUNS = frozenset({"invoke", "ainvoke", "stream", "astream", "batch", "abatch"})
_BY_NAME = ("LOAD_GLOBAL", "LOAD_NAME")
_CLOSED_OVER = ("LOAD_DEREF", "LOAD_CLASSDEREF")
_BY_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")


def graph_in(thing: Any) -> Any:
    """The nested graph that a node is, or that its function names; None if there is none."""
    if isinstance(thing, Base):
        return thing
    if isinstance(thing, partial):
        return graph_in(thing.func)
    inside = [graph_in(part) for part in parts_of(thing)] or _seen_by(thing)
    return next((graph for graph in inside if isinstance(graph, Base)), None)


def _seen_by(function: Any) -> Iterator[Any]:
    """What a function reaches by names and attributes, and what the one does that it wraps."""
    code = code_of(function)
    if code is not None:
        closed = dict(_closed_over(function, code))
        yield from closed.values()
        yield from _read_in(code, closed, function.__globals__)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield graph_in(wrapped)


def _runs_graphs(code: CodeType) -> bool:
    """Whether a function may run a graph that it reaches by attributes."""
    return not _RUNS.isdisjoint(code.co_names)


def _closed_over(function: Any, code: CodeType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue


def _read_in(code: CodeType, closed: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[Any]:
    """The values of the expressions `name` and `name.attribute.attribute` in a function, and in those inside of it."""
    value = None
    # A name that stands for itself is found without reading the code: that takes longer than all the rest of compiling.
    yield from (known[name] for name in code.co_names if name in known)
    for step in dis.get_instructions(code) if _runs_graphs(code) else ():
        if step.opname in _BY_NAME:
            value = known.get(step.argval)
        elif step.opname in _CLOSED_OVER:
            value = closed.get(step.argval)
        else:
            # Static, so that looking runs no code of the user's.
            value = inspect.getattr_static(value, step.argval, None) if step.opname in _BY_ATTRIBUTE else None
        yield value
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _read_in(constant, closed, known)
