"""What every part of a compiled graph knows: the program, and what it was compiled with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from signoff.engine.program import Program
from signoff.errors import InvalidContext, InvalidGraph
from signoff.types import All, OnPending, StreamMode

if TYPE_CHECKING:
    from signoff.cache.base import BaseCache
    from signoff.checkpoint.base import BaseCheckpointSaver
    from signoff.config import RunnableConfig
    from signoff.engine.run import Terms
    from signoff.store.base import BaseStore


class Base:
    """A program with what it needs to run."""

    default_stream_mode: ClassVar[StreamMode] = "values"

    program: Program
    checkpointer: "BaseCheckpointSaver[Any] | bool | None"

    def _set_up(
        self,
        program: Program,
        *,
        checkpointer: "BaseCheckpointSaver[Any] | bool | None" = None,
        store: "BaseStore | None" = None,
        cache: "BaseCache[Any] | None" = None,
        interrupt_before: All | Sequence[str] = (),
        interrupt_after: All | Sequence[str] = (),
        stream_mode: StreamMode | None = None,
        step_timeout: float | None = None,
        context_schema: Any = None,
        on_pending: OnPending = "raise",
        debug: bool = False,
        config: "RunnableConfig | None" = None,
        name: str | None = None,
    ) -> None:
        _check_saver(checkpointer)
        self.program = program
        self.name = name or program.name
        """The name, as traces and JSON Schemas show it."""
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.interrupt_before = interrupt_before
        self.interrupt_after = interrupt_after
        self.stream_mode = stream_mode or self.default_stream_mode
        self.step_timeout = step_timeout
        self.context_schema = context_schema
        self.on_pending = on_pending
        self.debug = debug
        self.config = config
        self.known_terms: dict[Any, Terms] = {}
        """What calls have asked for so far."""
        self.uses_cache = any(node.cache is not None for node in program.nodes.values())

    def coerced_context(self, context: Any) -> Any:
        """The context as the type that the graph declares for it."""
        schema = self.context_schema
        if context is None or schema is None or not isinstance(context, dict) or not isinstance(schema, type):
            return context
        if hasattr(schema, "model_validate") or hasattr(schema, "__dataclass_fields__"):
            try:
                return schema(**context)
            except TypeError as error:
                raise InvalidContext(f"The context does not fit {schema.__name__}: {error}.") from error
        return context


def _check_saver(checkpointer: Any) -> None:
    if not (checkpointer is None or isinstance(checkpointer, bool) or hasattr(checkpointer, "get_tuple")):
        raise InvalidGraph(
            f"The checkpointer is {checkpointer!r}. Give a saver, such as InMemorySaver(); True and False are for "
            "nested graphs."
        )
