"""The code of a graph as it is now, to be compared with the code that asked a question."""

import sys
from collections.abc import Iterator
from inspect import unwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any

from signoff.drivers.callsite import code_digest
from signoff.types import Interrupt


class Code:
    """The functions of the modules that a graph's nodes come from, by name."""

    def __init__(self, graph: Any) -> None:
        self._digests: dict[str, set[str]] = {}
        for module in {id(module): module for module in _modules(graph)}.values():
            for code in _codes_of(module):
                self._digests.setdefault(code.co_qualname, set()).add(code_digest(code))

    def changed_since(self, question: Interrupt[Any]) -> list[str]:
        """The functions on the way to a question that are another code now, or gone."""
        site = (question.origin or {}).get("site") or []
        return [name for name, digest, _ in site if digest not in self._digests.get(name, ())]


def _modules(graph: Any) -> Iterator[ModuleType]:
    """The modules of the functions of a graph, nested ones included."""
    for function in _functions(graph):
        module = sys.modules.get(getattr(unwrap(function), "__module__", "") or "")
        if module is not None:
            yield module


def _functions(graph: Any) -> Iterator[Any]:
    builder = getattr(graph, "builder", None)
    if builder is None:
        yield getattr(graph, "func", None) or graph
        return
    for spec in builder.nodes.values():
        if hasattr(spec.action, "builder"):
            yield from _functions(spec.action)
        else:
            yield getattr(spec.action, "func", None) or spec.action


def _codes_of(module: ModuleType) -> Iterator[CodeType]:
    for value in list(vars(module).values()):
        if isinstance(value, FunctionType):
            yield from _nested(unwrap(value).__code__)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for part in vars(value).values():
                function = getattr(part, "__func__", part)
                if isinstance(function, FunctionType):
                    yield from _nested(unwrap(function).__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
