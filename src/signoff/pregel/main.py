"""A compiled graph: run it, stream it, read and change what it remembers."""

from collections.abc import AsyncIterator, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, cast

from typing_extensions import Self

from signoff.bridge.runnables import DELEGATED, as_runnable, introduce
from signoff.config import RunnableConfig, merge_configs
from signoff.constants import CHECKPOINT_NS, CONF
from signoff.drivers.host import Host
from signoff.drivers.sync import Driver
from signoff.engine.effects import Emit
from signoff.engine.program import Program
from signoff.engine.update import update_thread
from signoff.errors import InvalidInput
from signoff.pregel.hosting import Options, host_for, saved_host, update_host
from signoff.pregel.reading import graph_at, history_config, read_state, shown_at
from signoff.pregel.running import listen, result_of, shaped_chunks, steps_of, tapped
from signoff.pregel.streaming import Modes, Reader, reader_of
from signoff.steps import adrive, arelay, drive, relay
from signoff.types import All, Durability, StateSnapshot, StateUpdate, StreamMode

if TYPE_CHECKING:
    from signoff.cache.base import BaseCache
    from signoff.checkpoint.base import BaseCheckpointSaver
    from signoff.runtime import RunControl
    from signoff.store.base import BaseStore


class Pregel:
    """A program with what it needs to run."""

    default_stream_mode: ClassVar[StreamMode] = "values"

    program: Program
    checkpointer: "None | bool | BaseCheckpointSaver[Any]"

    def _set_up(
        self,
        program: Program,
        *,
        checkpointer: "None | bool | BaseCheckpointSaver[Any]" = None,
        store: "BaseStore | None" = None,
        cache: "BaseCache[Any] | None" = None,
        interrupt_before: All | Sequence[str] = (),
        interrupt_after: All | Sequence[str] = (),
        stream_mode: StreamMode | None = None,
        step_timeout: float | None = None,
        context_schema: Any = None,
        debug: bool = False,
        config: RunnableConfig | None = None,
    ) -> None:
        self.program = program
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.interrupt_before = interrupt_before
        self.interrupt_after = interrupt_after
        self.stream_mode = stream_mode or self.default_stream_mode
        self.step_timeout = step_timeout
        self.context_schema = context_schema
        self.debug = debug
        self.config = config
        introduce(Pregel)
        self.uses_cache = any(node.cache is not None for node in program.nodes.values())

    @property
    def name(self) -> str:
        """The name, as traces and errors show it."""
        return self.program.name

    # Running

    def invoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: Modes = "values",
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        version: str = "v1",
        debug: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """Run until the end, a pause or a failure, and return the state; in another stream mode, its chunks."""
        options = Options(context, output_keys, interrupt_before, interrupt_after, durability, control)
        if stream_mode != "values" or print_mode or debug:
            reader = self._reader(stream_mode, print_mode, False, version, debug)
            chunks = list(self._stream(input, config, options, reader))
            return chunks[-1] if stream_mode == "values" else chunks
        host = host_for(self, config, options)
        driver = Driver(host)
        try:
            finish = drive(steps_of(self, host, input), driver.perform)
        finally:
            driver.close()
        return result_of(host, finish, version)

    async def ainvoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: Modes = "values",
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        version: str = "v1",
        debug: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """Like invoke, on an event loop."""
        from signoff.drivers.aio import Driver

        options = Options(context, output_keys, interrupt_before, interrupt_after, durability, control)
        if stream_mode != "values" or print_mode or debug:
            reader = self._reader(stream_mode, print_mode, False, version, debug)
            chunks = [chunk async for chunk in self._astream(input, config, options, reader)]
            return chunks[-1] if stream_mode == "values" else chunks
        host = host_for(self, config, options)
        driver = Driver(host)
        try:
            finish = await adrive(steps_of(self, host, input, is_async=True), driver.perform)
        finally:
            await driver.close()
        return result_of(host, finish, version)

    def stream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: Modes | None = None,
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        subgraphs: bool = False,
        debug: bool | None = None,
        version: str = "v1",
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Run, and yield what happens as it happens."""
        options = Options(context, output_keys, interrupt_before, interrupt_after, durability, control)
        reader = self._reader(stream_mode, print_mode, subgraphs, version, debug)
        return self._stream(input, config, options, reader)

    def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        stream_mode: Modes | None = None,
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        subgraphs: bool = False,
        debug: bool | None = None,
        version: str = "v1",
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Like stream, on an event loop."""
        options = Options(context, output_keys, interrupt_before, interrupt_after, durability, control)
        reader = self._reader(stream_mode, print_mode, subgraphs, version, debug)
        return self._astream(input, config, options, reader)

    def _reader(
        self, modes: Modes | None, printed: Modes, subgraphs: bool, version: str, debug: bool | None
    ) -> Reader:
        if self.debug if debug is None else debug:
            printed = ["updates", "values"]
        return reader_of(self.stream_mode if modes is None else modes, printed, subgraphs, version)

    def _stream(self, input: Any, config: RunnableConfig | None, options: Options, reader: Reader) -> Iterator[Any]:
        host = host_for(self, config, options)
        driver = Driver(host)
        listen(host, reader, driver.push)
        try:
            for effect in relay(steps_of(self, host, input), driver.perform, Emit):
                for chunk in effect.chunks:
                    yield from reader.shaped(host.seen_from_here(chunk))
        finally:
            driver.close()

    async def _astream(
        self, input: Any, config: RunnableConfig | None, options: Options, reader: Reader
    ) -> AsyncIterator[Any]:
        from signoff.drivers.aio import Driver

        host = host_for(self, config, options)
        driver = Driver(host)
        listen(host, reader, driver.push)
        effects = arelay(steps_of(self, host, input, is_async=True), driver.perform, Emit)
        chunks = tapped(host, shaped_chunks(host, reader, effects))
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            await effects.aclose()
            await driver.close()

    # Remembering

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """The state of a thread now, or at the checkpoint that the config names."""
        driver = Driver(self._saved_host(config))
        return drive(read_state(self, self._whole(config), subgraphs), driver.perform)

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Like get_state, on an event loop."""
        from signoff.drivers.aio import Driver

        driver = Driver(self._saved_host(config))
        return await adrive(read_state(self, self._whole(config), subgraphs), driver.perform)

    def get_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """The checkpoints of a thread, newest first."""
        host = self._saved_host(config)
        driver, listed = Driver(host), history_config(self, self._whole(config))
        graph = graph_at(self, listed[CONF][CHECKPOINT_NS])
        for saved in list(host.the_saver.list(listed, filter=filter, before=before, limit=limit)):
            yield drive(shown_at(graph, saved, False, is_head=False), driver.perform)

    async def aget_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[StateSnapshot]:
        """Like get_state_history, on an event loop."""
        from signoff.drivers.aio import Driver

        host = self._saved_host(config)
        driver, listed = Driver(host), history_config(self, self._whole(config))
        graph = graph_at(self, listed[CONF][CHECKPOINT_NS])
        found = [saved async for saved in host.the_saver.alist(listed, filter=filter, before=before, limit=limit)]
        for saved in found:
            yield await adrive(shown_at(graph, saved, False, is_head=False), driver.perform)

    def update_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> RunnableConfig:
        """Change the state as if a node had returned the values. Returns the config of the new checkpoint."""
        return self.bulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    async def aupdate_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> RunnableConfig:
        """Like update_state, on an event loop."""
        return await self.abulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Apply updates step by step, one checkpoint each; all of them or none."""
        host = self._update_host(config)
        return drive(update_thread(host.run, supersteps), Driver(host).perform)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Like bulk_update_state, on an event loop."""
        from signoff.drivers.aio import Driver

        host = self._update_host(config)
        return await adrive(update_thread(host.run, supersteps), Driver(host).perform)

    def _whole(self, config: RunnableConfig) -> RunnableConfig:
        return merge_configs(self.config, config) if self.config else config

    def _saved_host(self, config: RunnableConfig) -> Host:
        return saved_host(self, self._whole(config))

    def _update_host(self, config: RunnableConfig) -> Host:
        return update_host(self, self._whole(config))

    # As a LangChain runnable

    def __getattr__(self, name: str) -> Any:
        if name in DELEGATED:
            return getattr(as_runnable(self), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __or__(self, other: Any) -> Any:
        return as_runnable(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | as_runnable(self)

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """The name, as LangChain asks for it."""
        shown = name or self.name
        return f"{shown}{suffix}" if suffix else shown

    # Settings

    def with_config(self, config: RunnableConfig | None = None, **kwargs: Any) -> Self:
        """The same graph with settings that every call of it has."""
        return self.copy({"config": merge_configs(self.config, config, cast(RunnableConfig, kwargs))})

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """The same graph with some attributes replaced."""
        other = copy(self)
        for name, value in (update or {}).items():
            setattr(other, name, value)
        return other

    def coerced_context(self, context: Any) -> Any:
        """The context as the type that the graph declares for it."""
        schema = self.context_schema
        if context is None or schema is None or not isinstance(context, dict) or not isinstance(schema, type):
            return context
        if hasattr(schema, "model_validate") or hasattr(schema, "__dataclass_fields__"):
            try:
                return schema(**context)
            except TypeError as error:
                raise InvalidInput(f"The context does not fit {schema.__name__}: {error}.") from error
        return context
