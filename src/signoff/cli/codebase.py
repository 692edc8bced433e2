"""The code that is loaded now, to be compared with the code that asked a question."""

import dis
import gc
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from signoff._words.questions import Interrupt, interrupt
from signoff.drivers.scopes.callsite import code_digest

Found = tuple[CodeType, dict[str, Any]]
"""The code of a function, and the globals that it sees."""


class Code:
    """All functions of this process by name, wherever they are: in a module, behind a decorator, inside of another."""

    def __init__(self) -> None:
        self._found: dict[str, dict[CodeType, Found]] = {}
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                for code in _nested(function.__code__):
                    self._found.setdefault(code.co_qualname, {})[code] = code, function.__globals__

    def changed_since(self, question: Interrupt[Any]) -> list[str]:
        """The functions on the way to a question that are another code now, or gone."""
        return [name for name, digest, _ in _site(question) if self._found_as(name, digest) is None]

    def may_ask_before(self, question: Interrupt[Any], asked: Sequence[Interrupt[Any]]) -> list[str]:
        """The functions that are called before a question, and may ask something that was not asked so far."""
        known = {name for one in asked for name, _, _ in _site(one)}
        asking = set()
        for name, digest, offset in _site(question):
            found = self._found_as(name, digest)
            asking |= set() if found is None else {one.co_qualname for one, _ in _asking(_called(found, offset))}
        return sorted(asking - known)

    def _found_as(self, name: str, digest: str) -> Found | None:
        return next((found for code, found in self._found.get(name, {}).items() if code_digest(code) == digest), None)


def _site(question: Interrupt[Any]) -> Sequence[tuple[str, str, int]]:
    return (question.origin or {}).get("site") or []


def _called(found: Found, before: int | None = None) -> Iterator[Found]:
    """The functions of the program's own that a function names, up to an instruction."""
    code, visible = found
    for one in dis.get_instructions(code):
        if before is not None and one.offset >= before:
            return
        function = visible.get(one.argval) if one.opname == "LOAD_GLOBAL" else None
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None) or function
        if isinstance(function, FunctionType) and function is not interrupt:
            yield function.__code__, function.__globals__


def _asking(called: Iterator[Found]) -> Iterator[Found]:
    """Those among functions, and among what they call, that ask something themselves."""
    seen: set[CodeType] = set()
    waiting = list(called)
    while waiting:
        found = waiting.pop()
        if found[0] not in seen:
            seen.add(found[0])
            waiting += _called(found)
            if "interrupt" in found[0].co_names:
                yield found


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
