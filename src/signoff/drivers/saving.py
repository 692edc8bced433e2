"""Saving: in one transaction where the saver has them; piece by piece where it was written for LangGraph."""

from collections.abc import Sequence
from typing import Any

from signoff.checkpoint.base import BaseCheckpointSaver, Commit


def prepare(saver: Any, commits: Sequence[Commit]) -> Any:
    """Encode commits, before the program goes on and changes the values in them."""
    return commits if _knows_no_commits(saver) else saver.prepare(commits)


def store(saver: Any, prepared: Any) -> None:
    """Store what was prepared."""
    if _knows_no_commits(saver):
        BaseCheckpointSaver.store(saver, prepared)
    else:
        saver.store(prepared)


async def astore(saver: Any, prepared: Any) -> None:
    """Store what was prepared, on an event loop."""
    if _knows_no_commits(saver):
        await BaseCheckpointSaver.astore(saver, prepared)
    else:
        await saver.astore(prepared)


def saves_at_once(saver: Any) -> bool:
    """Whether storing is too quick to be worth a background."""
    return getattr(saver, "saves_at_once", False)


def _knows_no_commits(saver: Any) -> bool:
    return not hasattr(saver, "prepare")
