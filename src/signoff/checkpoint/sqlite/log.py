"""The log of a saver: every procedure that the sync and the async one have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

from signoff._sqlite.migrations import set_up
from signoff.checkpoint.base import CheckpointTuple, Commit
from signoff.checkpoint.places import place_of
from signoff.checkpoint.sqlite import appending, reading, rewriting
from signoff.checkpoint.sqlite.memo import Memo
from signoff.checkpoint.sqlite.rows import Entry, Key, as_entry
from signoff.checkpoint.sqlite.schema import SCHEMA
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["Log"]


class Log:
    """Checkpoints as rows of a file, and what is remembered of them meanwhile."""

    def __init__(self, serde: Any) -> None:
        self._serde = serde
        self._memo = Memo()
        self.is_set_up = False

    def set_up(self) -> Steps[None]:
        """Create or update the tables."""
        yield from set_up(SCHEMA)
        self.is_set_up = True

    def ready(self, steps: Steps[Any]) -> Steps[Any]:
        """A procedure, and before it, at the first use, the tables."""
        if not self.is_set_up:
            yield from self.set_up()
        return (yield from steps)

    def entries(self, commits: Sequence[Commit]) -> list[Entry]:
        return [as_entry(self._serde, commit) for commit in commits]
