"""Where in the user's code something is asked or called: the same text in every process that runs the same code."""

import sys
from contextvars import ContextVar
from hashlib import blake2b
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_VARARGS, CO_VARKEYWORDS
from opcode import opmap
from types import CodeType, FrameType
from typing import Any

from signoff.engine.origin import Site

_OWN = __name__.partition(".")[0]
"""Our own package. Its files say nothing: where only compiled ones are installed, code is from where it was built."""

_ENDS = frozenset({"asyncio", "threading", "concurrent", "signoff.testing._aio_loop", "signoff.bridge.beside"})
"""Where the stack of a task ends, if the task was handed to an event loop or a thread on the way."""

_PASSED = frozenset({"langchain_core", "langchain", "anyio"}) | sys.stdlib_module_names
"""Libraries in between, which take other ways from time to time."""

_OF_BRANCH = "_invoke_step"
"""What LangChain's RunnableParallel calls each of its branches with, in a sync run."""

branch: ContextVar[str] = ContextVar("signoff_branch", default="")
"""The branch of one that this context belongs to, in an async run; there its stack begins behind that."""

_COROUTINE = CO_COROUTINE | CO_ITERABLE_COROUTINE

_PRECALL = opmap.get("PRECALL")
"""In Python 3.11, half of a call. A builtin is called by the one half or the other, depending on how often it was."""

_TO_CALL = 4
"""How many bytes the other half is behind it."""

_SEND = opmap["SEND"]
"""What an `await` does again and again, until that which it waits for has ended."""

_INTERRUPTED = frozenset({opmap["YIELD_VALUE"], opmap["RESUME"]})
"""Where a coroutine stays, behind that, while an error is thrown into what it awaits; and for as long as that goes on
afterwards without waiting for anything."""

_FARTHEST = 6
"""How many bytes that is behind it at most."""

_WITH_CACHE = 2 if sys.version_info[:2] == (3, 12) else 0
"""In Python 3.12, a coroutine that awaits another stands behind the instruction, and not at it."""

_Facts = tuple[CodeType, str, bytes]
"""A function, its digest, and its instructions as they are before the interpreter makes them quicker."""

_known: dict[int, _Facts] = {}

_INSIDE, _BESIDE = "inside", "beside"


class _Met:
    """A function that was met on the stack, with what the interpreter is slow to tell of it."""

    __slots__ = ("code", "end", "facts", "is_async_generator", "is_coroutine", "name", "offsets")

    def __init__(self, code: CodeType, end: str | None, facts: _Facts | None) -> None:
        self.code = code
        self.end = end
        """Whether the task ends there, and how."""
        self.facts = facts
        """Only if it is the user's."""
        self.name = code.co_qualname
        self.is_coroutine = bool(code.co_flags & _COROUTINE)
        self.is_async_generator = bool(code.co_flags & CO_ASYNC_GENERATOR)
        self.offsets: dict[int, int] = {}
        """The places of the calls in it that were met, by where it stood then."""


_met: dict[int, _Met] = {}

_MOST_KEPT = 10_000


def way_to(frame: FrameType | None) -> tuple[Site, bool]:
    """The user's functions on the stack, from the entry of the task to a frame, innermost first.

    And whether they stand beside the task: in a coroutine, or a thread, that it has started.
    """
    site: Site = []
    is_behind = False
    while frame is not None:
        code = frame.f_code
        met = _met.get(id(code))
        if met is None or met.code is not code:
            met = _meet(code, frame)
        if met.end is not None:
            return site, met.end is _BESIDE
        facts = met.facts
        if facts is not None:
            at = frame.f_lasti
            if not (is_behind and facts[2][at] == _SEND):
                offset = met.offsets.get(at)
                if offset is None:
                    offset = met.offsets[at] = _offset(facts[2], at)
                site.append([met.name, facts[1], offset])
        if met.is_coroutine and frame is _first_of_coroutine():
            return site, True
        # Whoever consumes an async generator is not on the stack while an error is thrown into that, nor for as long as
        # it goes on afterwards without waiting for anything. So it is left out in any case.
        is_behind = met.is_async_generator
        frame = frame.f_back
    return site, True


def entry_of(frame: FrameType | None) -> FrameType | None:
    """The first of the user's functions on the way to a frame: that of a coroutine or a thread beside the task."""
    entry = None
    while frame is not None:
        met = _meet(frame.f_code, frame)
        if met.end is not None:
            break
        entry = frame if met.facts is not None else entry
        if met.is_coroutine and frame is _first_of_coroutine():
            break
        frame = frame.f_back
    return entry


def branch_on(frame: FrameType | None) -> str:
    """The innermost branch of a RunnableParallel on the way to a frame, by its name."""
    while frame is not None:
        if frame.f_code.co_name == _OF_BRANCH and frame.f_globals.get("__name__") == "langchain_core.runnables.base":
            return str(frame.f_locals.get("key"))
        frame = frame.f_back
    return branch.get()


def _first_of_coroutine() -> FrameType | None:
    """The frame that what the event loop runs now has begun with. Beneath it is whoever runs the loop.

    On asyncio's own loops something of asyncio's comes next; compiled ones, as uvloop, are not on the stack.
    """
    import asyncio  # most programs without coroutines do without it

    loop = asyncio._get_running_loop()
    running = None if loop is None else asyncio.current_task(loop)
    coroutine = None if running is None else running.get_coro()
    return getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)


def arguments_of(frame: FrameType) -> dict[str, Any]:
    """What a function was given, by its parameters, as it has them now."""
    code = frame.f_code
    several = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + several]
    return {name: frame.f_locals.get(name) for name in names}


def _meet(code: CodeType, frame: FrameType) -> _Met:
    module = str(frame.f_globals.get("__name__", ""))
    package = module.partition(".")[0]
    is_beside = package in _ENDS or module in _ENDS
    end = _BESIDE if is_beside else _INSIDE if package == _OWN else None
    if len(_met) > _MOST_KEPT:
        _met.clear()
    is_passed = end is not None or package in _PASSED
    met = _met[id(code)] = _Met(code, end, None if is_passed else _facts(code))
    return met


def code_digest(code: CodeType) -> str:
    """Eight hex digits that stand for what a function does, not for where it is."""
    return _facts(code)[1]


def _facts(code: CodeType) -> _Facts:
    known = _known.get(id(code))
    if known is not None and known[0] is code:
        return known
    if len(_known) > _MOST_KEPT:
        _known.clear()
    instructions = code.co_code
    parts = (code.co_qualname, instructions.hex(), repr(code.co_names), _constant(code.co_consts))
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    facts = _known[id(code)] = code, digest, instructions
    return facts


def _offset(instructions: bytes, at: int) -> int:
    """The place of a call in a function: the same however often the call was made, and whatever has failed before."""
    if instructions[at] in _INTERRUPTED:
        awaits = range(at, at - _FARTHEST - 1, -2)
        return next((send + _WITH_CACHE for send in awaits if send >= 0 and instructions[send] == _SEND), at)
    return at + _TO_CALL if instructions[at] == _PRECALL else at


def _constant(value: Any) -> str:
    """A constant as text. The order of a set is another one in every process, so it is sorted."""
    if isinstance(value, CodeType):
        return code_digest(value)
    if isinstance(value, tuple):
        return f"({','.join(map(_constant, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_constant, value)))}}}"
    return f"{type(value).__name__}:{value!r}"
