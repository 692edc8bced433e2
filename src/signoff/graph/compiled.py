"""What `compile()` returns."""

from typing import TYPE_CHECKING, Any, ClassVar

from signoff.engine.program import Program
from signoff.graph.compiling import program_of
from signoff.pregel.main import Pregel
from signoff.types import StreamMode

if TYPE_CHECKING:
    from signoff.graph.state import StateGraph

__all__ = ["CompiledStateGraph", "compiled"]


class CompiledStateGraph(Pregel):
    """A graph that was described with StateGraph."""

    default_stream_mode: ClassVar[StreamMode] = "updates"

    def __init__(self, builder: "StateGraph[Any, Any, Any, Any]", program: Program, **settings: Any) -> None:
        self.builder = builder
        self._set_up(program, context_schema=builder.schemas.context, **settings)


def compiled(
    builder: "StateGraph[Any, Any, Any, Any]",
    checkpointer: Any,
    *,
    interrupt_before: Any,
    interrupt_after: Any,
    name: str | None,
    **settings: Any,
) -> CompiledStateGraph:
    """Check a description and make it runnable."""
    before, after = interrupt_before or [], interrupt_after or []
    builder.validate([node for names in (before, after) if names != "*" for node in names])
    program = program_of(builder, name or "signoff")
    return CompiledStateGraph(
        builder, program, checkpointer=checkpointer, interrupt_before=before, interrupt_after=after, **settings
    )
