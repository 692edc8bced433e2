"""A moment of a run: a checkpoint, told as what it changed in the one before."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from signoff.checkpoint.ids import as_text

__all__ = ["Moment"]

About = tuple[Mapping[str, Any], Mapping[str, str]]
"""What the checkpoints of a run have in common: the caller's metadata, and the checkpoints around a nested one."""


class Moment:
    """What the engine hands to a saver after a step. Most steps change little, so that little is told."""

    __slots__ = (
        "about", "at", "changed", "gone", "id", "make", "parent_id", "source", "step", "stopped", "updated",
        "version", "whole", "writers",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        at: int,
        source: Any,
        step: int,
        changed: dict[str, Any],
        gone: Collection[str],
        version: Any,
        updated: Collection[str],
        writers: Collection[str],
        stopped: Collection[str],
        about: About,
        make: Callable[[], Any] | None,
    ) -> None:
        self.id = id
        self.at = at
        """When it was made, in ns."""
        self.source = source
        self.step = step
        self.changed = changed
        """The channels that have another value than before. A saver may put encoded values in their place."""
        self.gone = gone
        """The channels that have none any more."""
        self.version = version
        """The version of those that changed."""
        self.updated = updated
        self.writers = writers
        """The nodes that ran."""
        self.stopped = stopped
        """The nodes that a breakpoint has stopped."""
        self.about: Any = about
        self.make = make
        """What makes all of the checkpoint, as long as the run has not gone on."""
        # For the saver that keeps it:
        self.parent_id: str | None = None
        self.whole: Any = None

    def metadata(self) -> dict[str, Any]:
        """How the checkpoint came about."""
        given, parents = self.about
        return {**given, "source": self.source, "step": self.step, "parents": {**parents}}

    def go_on_from(self, branch: Any) -> None:
        """Say anew which branch of its thread the checkpoint is on."""
        given, parents = self.about
        self.about = {**given, "branched_off": branch}, parents

    def heading(self) -> dict[str, Any]:
        """All of the checkpoint but its values and versions."""
        heading = {
            "v": 4,
            "id": self.id,
            "ts": as_text(self.at),
            "versions_seen": {},
            "updated_channels": list(self.updated),
            "writers": list(self.writers),
        }
        return {**heading, "stopped": list(self.stopped)} if self.stopped else heading
