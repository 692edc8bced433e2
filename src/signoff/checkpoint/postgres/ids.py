"""Ids as Postgres has them: those of checkpoints are bytes there."""

from functools import lru_cache
from typing import Any, overload

from signoff._postgres.texts import as_put, as_stored
from signoff.checkpoint.log.shortening import id_of_bytes, id_to_bytes

__all__ = ["id_as_put", "id_as_stored", "run_as_put", "run_as_stored"]


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
