"""What every part of a compiled graph knows: the program, and what it was compiled with."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from signoff._words.choices import All, OnPending, StreamMode
from signoff.engine.program import Program
from signoff.errors import InvalidContext, InvalidGraph, InvalidInput
from signoff.pregel.showing import DICTS, Forms
from signoff.pregel.typing import class_of, is_type, meant

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
    forms: Forms = DICTS

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
        stream_transformers: Sequence[Any] | None = None,
    ) -> None:
        _check_saver(checkpointer)
        if hasattr(checkpointer, "with_allowlist"):  # one of LangGraph's
            _make_known(checkpointer, program)
        _check_part("store", store, "batch", "InMemoryStore()")
        _check_part("cache", cache, "aget", "InMemoryCache()")
        if context_schema is not None and not is_type(context_schema):
            raise InvalidGraph(f"The context_schema is {context_schema!r}. Give a type, such as a dataclass.")
        if not isinstance(name, str | None):
            raise InvalidGraph(f"The name of a graph is {name!r}. Give a text.")
        if isinstance(stream_transformers, str) or not isinstance(stream_transformers, Iterable | None):
            raise InvalidGraph(f"transformers is {stream_transformers!r}. Give a list of them.")
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
        self.context_schema = meant(context_schema)
        self.on_pending = checked_on_pending(on_pending)
        self.debug = debug
        self.config = config
        self.stream_transformers = tuple(stream_transformers or ())
        """What makes projections out of runs that are followed, beside what every run has."""
        self.known_terms: dict[Any, Terms] = {}
        """What calls have asked for so far."""
        self.uses_cache = any(node.cache is not None for node in program.nodes.values())
        if self.uses_cache and cache is None:
            _tell_uncached(program)

    def coerced_context(self, context: Any) -> Any:
        """The context as the type that the graph declares for it."""
        if not isinstance(context, dict):
            return context
        schema = class_of(self.context_schema)
        if not isinstance(schema, type):
            return context
        if hasattr(schema, "model_validate") or hasattr(schema, "__dataclass_fields__"):
            try:
                return schema(**context)
            except TypeError as error:
                raise InvalidContext(f"The context does not fit {schema.__name__}: {error}.") from error
        return context


def _tell_uncached(program: Program) -> None:
    """Say that policies are for a cache, and that there is none. Whoever tries things out may leave it out."""
    import logging

    named = next(name for name, node in program.nodes.items() if node.cache is not None)
    words = (
        "Node %r has a cache_policy, and the %s has no cache, so that nothing is cached: give cache=InMemoryCache()."
    )
    logging.getLogger("signoff.graph").warning(words, named, program.shown)


def _check_saver(saver: Any) -> None:
    if saver is None or isinstance(saver, bool) or _is_made(saver, "get_next_version"):
        return
    if not isinstance(saver, type) and (hasattr(saver, "__enter__") or hasattr(saver, "__aenter__")):
        mend = "Open it first: with ... as saver, or async with ... as saver."
    else:
        mend = "Give a saver, such as InMemorySaver(); True and False are for nested graphs."
    raise InvalidGraph(f"The checkpointer is {saver!r}. {mend}")


def _make_known(saver: Any, program: Program) -> None:
    from signoff.checkpoint.others import make_known

    make_known(saver, program.types.values())


def _check_part(name: str, part: Any, method: str, example: str) -> None:
    if part is not None and not _is_made(part, method):
        raise InvalidGraph(f"The {name} is {part!r}. Give one that has {method}(), such as {example}.")


def _is_made(part: Any, method: str) -> bool:
    return hasattr(part, method) and not isinstance(part, type)


def checked_on_pending(asked: OnPending) -> OnPending:
    """What new input means for a thread that waits."""
    if asked not in ("raise", "answer", "discard"):
        raise InvalidInput(f'on_pending must be "raise", "answer" or "discard", not {asked!r}.')
    return asked
