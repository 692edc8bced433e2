"""Savers that were written for LangGraph know no commits: what is stored in one go goes there piece by piece."""

import warnings
from collections.abc import Sequence
from typing import Any

from signoff.checkpoint.base import BaseCheckpointSaver, Commit
from signoff.errors import LimitedSaver


class PieceByPiece:
    """A saver of LangGraph's kind, with the ways of ours. A crash between two pieces leaves the first."""

    saves_at_once = False
    stores_together = False
    has_leases = False

    def __init__(self, saver: Any) -> None:
        self._saver = saver

    def prepare(self, commits: Sequence[Commit]) -> Sequence[Commit]:
        """Nothing can be encoded ahead."""
        return BaseCheckpointSaver.prepare(self._saver, commits)  # type: ignore[no-any-return]

    def save(self, commits: Sequence[Commit], lease: Any = None, *, ends: bool = False) -> None:
        """Store commits with put_writes and put."""
        self.store(self.prepare(commits))

    def store(self, prepared: Sequence[Commit], lease: Any = None, *, ends: bool = False) -> None:
        """Store commits with put_writes and put."""
        BaseCheckpointSaver.store(self._saver, prepared)

    async def astore(self, prepared: Sequence[Commit], lease: Any = None, *, ends: bool = False) -> None:
        """Store commits with aput_writes and aput."""
        await BaseCheckpointSaver.astore(self._saver, prepared)


_told: set[type] = set()
"""The kinds of savers of which it was said what they cannot do."""


def tell_limits(saver: Any) -> None:
    """Say once, for each kind of saver, what it cannot promise."""
    if type(saver) in _told:
        return
    _told.add(type(saver))
    warnings.warn(
        f"{type(saver).__name__} knows no leases and stores piece by piece: two runs of one thread at a time can get "
        "into each other's way, of two answers the later one may win, and a crash can leave half a step. signoff's own "
        "savers (InMemorySaver, SqliteSaver, PostgresSaver, RedisSaver) promise more.",
        LimitedSaver,
        stacklevel=2,
    )


def with_commits(saver: Any) -> "BaseCheckpointSaver[Any] | PieceByPiece | None":
    """The saver itself if it takes commits, else a wrapper that takes them apart."""
    return saver if saver is None or hasattr(saver, "prepare") else PieceByPiece(saver)
