"""Writes that are completed at once: a message gets its id before anybody is shown it, and before it is stored.

A reducer may say what makes its writes complete, as add_messages does. Were that left to the reducer itself, what is
stored and not folded in yet would be made into another value by everybody who looks at it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from signoff.channels.base import BaseChannel
from signoff.engine.program import Write

Writes = Callable[[Any], list[Write]]


def completing(channels: Mapping[str, BaseChannel], writes_of: Writes) -> Writes:
    """What turns a result into writes, and completes them where a channel knows how."""
    known = {key: complete for key, channel in channels.items() if (complete := channel.completer()) is not None}
    if not known:
        return writes_of

    def complete_writes(result: Any) -> list[Write]:
        return [(key, known[key](value) if key in known else value) for key, value in writes_of(result)]

    return complete_writes
