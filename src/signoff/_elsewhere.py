"""Names that older programs import, and LangGraph calls deprecated: whoever does so is told what to write instead."""

from typing import NoReturn

__all__ = ["tell_where"]

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


def tell_where(module: str, name: str, *elsewhere: str) -> NoReturn:
    """The error for a name that a module does not have; elsewhere are those that are known to be in another place."""
    if name in elsewhere:
        raise ImportError(
            f"{module} has no {name}. {_NAMES[name]}. What else is different: docs/langgraph.md.", name=module
        )
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
