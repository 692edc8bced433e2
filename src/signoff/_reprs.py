"""How values are shown, also those that cannot be: messages and histories must not fail for the want of a text."""

from typing import Any

__all__ = ["is_unshown", "repr_of", "short_repr", "text_of"]


def repr_of(value: Any) -> str:
    """The repr of a value. Where there is none (a number of thousands of digits, a class whose own fails): its type."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__qualname__}, which cannot be shown>"


def short_repr(value: Any, most: int) -> str:
    """The beginning of it."""
    text = repr_of(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def text_of(value: Any) -> str:
    """The text of a value, such as what an error says."""
    try:
        return str(value)
    except Exception:
        return repr_of(value)


def is_unshown(value: Any) -> bool:
    """Whether a value cannot be shown."""
    try:
        repr(value)
    except Exception:
        return True
    return False
