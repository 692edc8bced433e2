"""Following a run: its messages, states, nested graphs and questions, each to be read on its own."""

from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from signoff.bridge.runnables import as_runnable
from signoff.config import ConfigLike
from signoff.errors import InvalidInput, StreamMisused
from signoff.pregel.invoking import Invoking
from signoff.pregel.streaming import Reader, reader_of
from signoff.pregel.terms import Options

if TYPE_CHECKING:
    from signoff.stream.course import Course
    from signoff.stream.run_stream import AsyncGraphRunStream, GraphRunStream


class Following(Invoking):
    """The part of a compiled graph whose runs are followed."""

    @overload
    def stream_events(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        version: Literal["v3"],
        transformers: Sequence[Any] | None = None,
        **options: Any,
    ) -> "GraphRunStream": ...

    @overload
    def stream_events(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        version: Literal["v1", "v2"] = "v2",
        **options: Any,
    ) -> NoReturn: ...

    def stream_events(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        version: str = "v2",
        transformers: Sequence[Any] | None = None,
        **options: Any,
    ) -> "GraphRunStream":
        """A run to follow, with version="v3". It goes on while somebody reads one of its projections.

        transformers: what makes projections of your own, beside those that the graph was compiled with.
        options: those of `stream`, but for its modes.
        """
        if version != "v3":
            raise InvalidInput(f'stream_events(version={version!r}): give version="v3", or call astream_events(...).')
        from signoff.stream.run_stream import GraphRunStream

        course = self._course(transformers, is_async=False)
        return GraphRunStream(course, self._stream(input, config, _asked(options), _reader(course)))

    @overload
    def astream_events(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        version: Literal["v3"],
        transformers: Sequence[Any] | None = None,
        **options: Any,
    ) -> "Coroutine[Any, Any, AsyncGraphRunStream]": ...

    @overload
    def astream_events(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        version: Literal["v1", "v2"] = "v2",
        **options: Any,
    ) -> AsyncIterator[Any]: ...

    def astream_events(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        version: str = "v2",
        transformers: Sequence[Any] | None = None,
        **options: Any,
    ) -> Any:
        """With version="v3", a run to follow, to be awaited; else LangChain's events of this runnable."""
        if version == "v3":
            return self._afollowed(input, config, transformers, options)
        return as_runnable(self).astream_events(input, config, version=version, **options)

    async def _afollowed(
        self, input: Any, config: ConfigLike | None, transformers: Sequence[Any] | None, options: dict[str, Any]
    ) -> "AsyncGraphRunStream":
        from signoff.stream.run_stream import AsyncGraphRunStream

        course = self._course(transformers, is_async=True)
        return AsyncGraphRunStream(course, self._astream(input, config, _asked(options), _reader(course)))

    def _course(self, more: Sequence[Any] | None, *, is_async: bool) -> "Course":
        from signoff.stream.course import Course
        from signoff.stream.router import Router, factories_of
        from signoff.stream.transformers import (
            LifecycleTransformer,
            MessagesTransformer,
            SubgraphTransformer,
            ValuesTransformer,
        )

        always = [ValuesTransformer, MessagesTransformer, LifecycleTransformer, SubgraphTransformer]
        factories = [*always, *factories_of(self.stream_transformers), *factories_of(more)]
        return Course(Router(factories, (), is_async=is_async))


_ALLOWED = frozenset(field.name for field in fields(Options)) - {"streams"}


def _asked(options: dict[str, Any]) -> Options:
    if unknown := options.keys() - _ALLOWED:
        raise StreamMisused(
            f'stream_events(version="v3") does not take {", ".join(sorted(unknown))}. The stream modes are those that '
            f"the transformers need, and nested graphs are always followed. It takes: {', '.join(sorted(_ALLOWED))}."
        )
    return Options(**options, streams=True)


def _reader(course: "Course") -> Reader:
    """Somebody who reads what the transformers need."""
    modes: Any = course.router.modes
    return replace(reader_of(modes, (), subgraphs=True, version="v2"), with_events=True)
