"""Texts as Postgres takes them, without NUL, which becomes two other characters; and ids, which are bytes there."""

from functools import lru_cache
from typing import Any, overload

from signoff.checkpoint.log.shortening import id_of_bytes, id_to_bytes

__all__ = ["as_put", "as_stored", "id_as_put", "id_as_stored", "run_as_put", "run_as_stored"]


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


@overload
def id_as_stored(id: str) -> bytes: ...
@overload
def id_as_stored(id: None) -> None: ...
@lru_cache(maxsize=4096)
def id_as_stored(id: str | None) -> bytes | None:
    """A short id as it is stored."""
    return None if id is None else id_to_bytes(id)


def id_as_put(data: Any) -> Any:
    """A stored id as it was put."""
    return id_of_bytes(data) if type(data) is bytes else data


def run_as_stored(run_id: str | None) -> str:
    """The id of a run as it is stored; an empty text is none."""
    return "" if run_id is None else f":{as_stored(run_id)}"


def run_as_put(run: str) -> str | None:
    """The id of a run as it was put."""
    return as_put(run[1:]) if run else None
