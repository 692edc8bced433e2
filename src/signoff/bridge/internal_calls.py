"""Calls of models that are nobody's words: middleware asks one to sum up, say. Who follows a run does not hear them."""

import secrets
from typing import Any

__all__ = ["internal_call_metadata", "is_internal"]

_KEY = "lc_internal_call"
_MARK = secrets.token_hex(16)
"""Not known outside of the process, so that nothing that came in can hide a call."""


def internal_call_metadata() -> dict[str, Any]:
    """Metadata for the config of a model call: it is internal, and not one of `run.messages` nor of the events."""
    return {_KEY: _MARK}


def is_internal(metadata: dict[str, Any] | None) -> bool:
    """Whether a call is marked as internal."""
    return metadata is not None and metadata.get(_KEY) == _MARK
