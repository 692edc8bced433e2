"""Keywords that older programs write, and LangGraph calls deprecated: whoever does so is told what to write instead."""

from collections.abc import Mapping
from typing import Any

from signoff.errors import InvalidGraph, SignoffError

__all__ = ["refuse_old"]

_KEYWORDS = {
    "checkpoint_during": "durability",
    "config_schema": "context_schema",
    "input": "input_schema",
    "output": "output_schema",
    "retry": "retry_policy",
}
"""From a keyword to its name of now."""

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
) -> None:
    """Refuse keywords that a function does not have.

    meant: what to write for some of them.
    """
    if not given:
        return
    name = next(iter(given))
    now = f"Write {_KEYWORDS[name]}= instead" if name in _KEYWORDS else meant.get(name, "Leave it out")
    raise error(f"{where} has no keyword {name}=. {now}; docs/langgraph.md lists what is different.")
