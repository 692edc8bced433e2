"""Texts as Postgres takes them: without NUL, which becomes two other characters."""

from typing import Any, overload

__all__ = ["as_put", "as_stored"]


@overload
def as_stored(text: str) -> str: ...
@overload
def as_stored(text: None) -> None: ...
def as_stored(text: str | None) -> str | None:
    """A text as it is stored."""
    if text is None or ("\x00" not in text and "\x01" not in text):
        return text
    return text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01")


def as_put(text: Any) -> Any:
    """A stored text as it was put."""
    if type(text) is not str or "\x01" not in text:
        return text
    return text.replace("\x01\x01", "\x00").replace("\x01\x02", "\x01")
