"""Metadata: how it is written down, copied and searched."""

import json
from collections.abc import Mapping
from typing import Any

from signoff._texts import has_parted_character
from signoff.checkpoint.base import CheckpointMetadata
from signoff.errors import NotStorable, Undecodable

__all__ = ["as_text", "checked", "copied", "has_all", "of_text", "run_id_of"]

_show = json.JSONEncoder(ensure_ascii=False).encode
_encode = json.JSONEncoder(separators=(",", ":")).encode


def checked(metadata: Mapping[str, Any]) -> CheckpointMetadata:
    """A copy of metadata that comes back equal from any saver, or an error that names the field that would not."""
    try:
        copy = _checked(metadata, "metadata")
    except RecursionError:
        raise NotStorable("Cannot store metadata: it is nested too deep, or contains itself.") from None
    as_text(copy)
    return copy  # type: ignore[no-any-return]


def copied(metadata: Any) -> Any:
    """A copy that shares nothing with the original that could be changed."""
    if isinstance(metadata, dict):
        return {name: copied(value) for name, value in metadata.items()}
    if isinstance(metadata, list):
        return [copied(value) for value in metadata]
    return metadata


def as_text(metadata: CheckpointMetadata) -> str:
    """Metadata as JSON."""
    try:
        text = _encode(metadata)
    except (TypeError, ValueError) as error:
        raise NotStorable(f"Cannot store metadata with {sorted(metadata)}: {error}. Use plain values.") from error
    if "\\ud" in text and has_parted_character(_show(metadata)):
        raise NotStorable(
            f"Cannot store metadata with {sorted(metadata)}: a text in it has the two halves of a character as two, "
            'which would come back as one. Use text.encode("utf-16", "surrogatepass").decode("utf-16").'
        )
    return text


def of_text(text: Any) -> CheckpointMetadata:
    """The metadata that was written as JSON."""
    try:
        metadata = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise Undecodable(f"Stored metadata is broken or was changed ({error}).") from error
    if not isinstance(metadata, dict):
        raise Undecodable(f"Stored metadata is broken or was changed: it is a {type(metadata).__name__}.")
    return metadata  # type: ignore[return-value]


def has_all(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the metadata has these values. What is not there is None."""
    return all(metadata.get(name) == value for name, value in wanted.items())


def run_id_of(metadata: Mapping[str, Any]) -> str | None:
    """The run that made the checkpoint, where the metadata says so."""
    run_id = metadata.get("run_id")
    return run_id if isinstance(run_id, str) else None


def _checked(value: Any, path: str) -> Any:
    if isinstance(value, Mapping) and (path == "metadata" or isinstance(value, dict)):
        for name in value:
            if not isinstance(name, str):
                raise NotStorable(f"Cannot store {path}: its key {name!r} is no text. Use texts as keys.")
        return {name: _checked(inner, f"{path}[{name!r}]") for name, inner in value.items()}
    if isinstance(value, list):
        return [_checked(inner, f"{path}[{index}]") for index, inner in enumerate(value)]
    if value is None or isinstance(value, str | int | float):
        return value
    raise NotStorable(
        f"Cannot store {path}: a {type(value).__name__} would not come back equal. "
        "Use a dict, list, text, number, bool or None."
    )
