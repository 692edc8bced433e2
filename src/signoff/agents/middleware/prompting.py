"""System messages that get longer."""

from typing import Any

from langchain_core.messages import SystemMessage

__all__ = ["with_more"]


def with_more(known: SystemMessage | None, more: str) -> SystemMessage:
    """A system message with more text at its end. One made of blocks keeps them: they may say what is to be cached."""
    if known is None or not known.content:
        return SystemMessage(more)
    content: Any = known.content
    longer = f"{content}\n\n{more}" if isinstance(content, str) else [*content, {"type": "text", "text": more}]
    return known.model_copy(update={"content": longer})
