"""Keywords that a function does not have: old ones, and slips of the pen. Whoever writes one is told what to write."""

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import CodeType
from typing import Any

from signoff.errors import InvalidGraph, SignoffError

__all__ = ["refuse_old"]

_KEYWORDS = {
    "checkpoint_during": "durability",
    "checkpoint_saver": "checkpointer",
    "config_schema": "context_schema",
    "input": "input_schema",
    "memory": "checkpointer",
    "output": "output_schema",
    "retry": "retry_policy",
    "saver": "checkpointer",
}
"""From a keyword to its name of now, or to the one that it is taken for."""

_MEANT = {
    "thread_id": 'Give config={"configurable": {"thread_id": ...}}',
    "resume": "Give Command(resume=...) in the place of the input",
    **{
        name: f'Give config={{"{name}": ...}}'
        for name in ("configurable", "recursion_limit", "max_concurrency", "callbacks", "tags", "metadata")
    },
}
"""What to write for a keyword that never was one."""


def refuse_old(
    where: str,
    given: Mapping[str, Any],
    error: type[SignoffError] = InvalidGraph,
    meant: Mapping[str, str] = _MEANT,
    page: str = "docs/langgraph.md",
) -> None:
    """Refuse keywords that a function does not have.

    meant: what to write for some of them.
    """
    if not given:
        return
    name = next(iter(given))
    has = _parameters(sys._getframe(1).f_code)
    now = _KEYWORDS[name] if _KEYWORDS.get(name) in has else _near(name, has)
    mend = meant.get(name) or (f"Write {now}= instead" if now else "Leave it out")
    raise error(f"{where} has no keyword {name}=. {mend}; {page} lists what is different.")


def _parameters(code: CodeType) -> Sequence[str]:
    """The parameters of the function that refuses a keyword."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _near(name: str, has: Sequence[str]) -> str | None:
    near = get_close_matches(name, has, n=1, cutoff=0.75)
    return near[0] if near else None
