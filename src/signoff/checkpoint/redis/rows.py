"""Rows, writes and questions as Redis has them, unpacked for the log."""

from collections.abc import Mapping, Sequence
from typing import Any

from signoff.checkpoint.encoding import unpacked, unpacked_from_lua
from signoff.checkpoint.lease import Standing
from signoff.checkpoint.redis.names import parts_of_field
from signoff.errors import Undecodable

__all__ = ["asked_of", "pairs_of", "row_of", "run_id_of", "standing_of", "writes_in"]


def row_of(id: bytes, packed: bytes) -> list[Any]:
    """(id, parent_id, depth, seal, body), as the log has rows."""
    try:
        parent_id, depth, seal, _, body = unpacked_from_lua(packed)
        return [parts_of_field(b"\0" + id)[1], _as_text(parent_id), depth, int(seal), body]
    except Exception as error:
        raise _broken("checkpoint", error) from error


def run_id_of(packed: bytes) -> str | None:
    """The run that made the checkpoint of a row."""
    try:
        return _as_text(unpacked_from_lua(packed)[3])
    except Exception as error:
        raise _broken("checkpoint", error) from error


def writes_in(packed: bytes | None) -> list[Any]:
    """(task_id, idx, path, data) of each write that is kept with a checkpoint."""
    if not packed:
        return []
    try:
        rows = unpacked_from_lua(packed)
        return [(_as_text(task), idx, _as_text(path), data) for task, idx, path, data in rows]
    except Exception as error:
        raise Undecodable(f"Stored writes are broken or were changed ({type(error).__name__}: {error}).") from error


def asked_of(packed: bytes) -> Sequence[Any]:
    """(id, graph, path, node, asked_at, text, tag, data) of a question."""
    try:
        parts: Sequence[Any] = unpacked(packed)
        if [type(part) for part in parts] != [str] * 7 + [bytes]:
            raise TypeError("it has other parts")
    except Exception as error:
        raise _broken("question", error) from error
    return parts


def standing_of(raw: Sequence[Any]) -> Standing:
    """How a thread stands."""
    epoch, changes, holder, is_expired = raw
    return Standing((epoch, changes), _as_text(holder), bool(is_expired))


def pairs_of(flat: Sequence[bytes] | Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The fields of a hash and their values; a server may tell them one after the other."""
    if isinstance(flat, Mapping):
        return dict(flat)
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _broken(what: str, error: Exception) -> Undecodable:
    return Undecodable(f"A stored {what} is broken or was changed ({type(error).__name__}: {error}).")


def _as_text(text: Any) -> str | None:
    return text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else None
