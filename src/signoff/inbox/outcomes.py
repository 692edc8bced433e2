"""How a conversation stands after a message."""

from dataclasses import dataclass
from typing import Any

from signoff._words.questions import Interrupt

__all__ = ["Failed", "Finished", "Outcome", "Paused"]


@dataclass(frozen=True, slots=True)
class Paused:
    """The thread waits for an answer; without questions, it was stopped by a breakpoint."""

    questions: tuple[Interrupt[Any], ...]
    value: Any = None
    """The state so far, what was told with the pause included."""
    is_repeat: bool = False
    """Whether the same request came before: nothing was taken, this is how the thread stands now."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The thread has come to its end."""

    value: Any
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The message was taken, and then something went wrong. The same request again tries again."""

    error: Exception
    is_repeat: bool = False


Outcome = Paused | Finished | Failed
