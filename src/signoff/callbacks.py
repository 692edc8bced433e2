"""Callbacks about pauses: a LangChain handler that also hears when a run stops for a person, and goes on."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from signoff._extras import needing
from signoff._words.questions import Interrupt

with needing("agents", "signoff.callbacks"):
    from langchain_core.callbacks import BaseCallbackHandler

__all__ = [
    "GraphCallbackHandler",
    "GraphInterruptEvent",
    "GraphLifecycleEvent",
    "GraphLifecycleStatus",
    "GraphResumeEvent",
]

GraphLifecycleStatus = Literal["input", "pending", "done", "interrupt_before", "interrupt_after", "out_of_steps"]


@dataclass(frozen=True, slots=True)
class GraphInterruptEvent:
    """A run stopped for a person: with questions, or at a breakpoint."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]
    interrupts: tuple[Interrupt[Any], ...]


@dataclass(frozen=True, slots=True)
class GraphResumeEvent:
    """A run went on where an earlier one had stopped."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]


GraphLifecycleEvent = GraphInterruptEvent | GraphResumeEvent


class GraphCallbackHandler(BaseCallbackHandler):
    """Pass one in `config={"callbacks": [...]}`; override what you want to hear."""

    def on_interrupt(self, event: GraphInterruptEvent) -> Any:
        """A run stopped for a person."""

    def on_resume(self, event: GraphResumeEvent) -> Any:
        """A run went on."""
