"""What older programs write, and LangGraph calls deprecated: whoever does so here is told what to write instead."""

from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["refuse_old", "tell_where"]

_KEYWORDS = {
    "config_schema": "context_schema",
    "input": "input_schema",
    "output": "output_schema",
    "retry": "retry_policy",
}
"""From a keyword to its name of now."""

_NAMES = {
    "Send": "Import it from signoff.types",
    "Interrupt": "Import it from signoff.types",
    "MessageGraph": "Write StateGraph(MessagesState), and return {'messages': [...]} from its nodes",
    "NodeInterrupt": "Call interrupt(...), from signoff.types, and go on with the answer that it returns",
    "EmptyChannelError": "A key that was never written is not in the state",
    "ErrorCode": "The message of an error says what to do",
    "UnknownInterruptError": "An answer to a question that is not open is InvalidAnswer",
}
"""From a name to what there is instead of it."""


def refuse_old(where: str, given: Mapping[str, Any]) -> None:
    """Refuse keywords that a function does not have."""
    if not given:
        return
    from signoff.errors import InvalidGraph

    name = next(iter(given))
    now = f"Write {_KEYWORDS[name]}= instead" if name in _KEYWORDS else "Leave it out"
    raise InvalidGraph(f"{where} has no keyword {name}=. {now}; docs/langgraph.md lists what is different.")


def tell_where(module: str, name: str, *elsewhere: str) -> NoReturn:
    """The error for a name that a module does not have; elsewhere are those that are known to be in another place."""
    if name in elsewhere:
        raise ImportError(
            f"{module} has no {name}. {_NAMES[name]}. What else is different: docs/langgraph.md.", name=module
        )
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
