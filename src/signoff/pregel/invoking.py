"""Calling a graph: to its result or as a stream, one by one or many at a time, sync and async."""

from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from signoff import _scope
from signoff._words.choices import All, Durability, OnChanged, OnPending
from signoff.config import ConfigLike
from signoff.drivers.ending.exiting import OPEN
from signoff.drivers.host import Host
from signoff.drivers.sync import Driver
from signoff.engine.effects import Emit
from signoff.engine.run import Finish
from signoff.errors import InvalidInput
from signoff.pregel.base import Base
from signoff.pregel.batching import abatched, batched, refuse_in_its_loop
from signoff.pregel.hosting import host_for
from signoff.pregel.keywords import refuse_old
from signoff.pregel.running import listen, result_of, shape, shaped_chunks, steps_of, tapped, with_result
from signoff.pregel.streaming import Modes, Reader, check_version, reader_of
from signoff.pregel.terms import Options
from signoff.steps import adrive, arelay, drive, relay

if TYPE_CHECKING:
    from signoff.runtime import RunControl


class Invoking(Base):
    """The part of a compiled graph that runs it."""

    def invoke(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        context: Any = None,
        stream_mode: Modes = "values",
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        on_pending: OnPending | None = None,
        on_changed: OnChanged = "raise",
        version: str = "v1",
        debug: bool | None = None,
        subgraphs: bool = False,
        **old: Any,
    ) -> Any:
        """Run until the end, a pause or a failure, and return the state; in another stream mode, its chunks."""
        if old:
            refuse_old("invoke()", old, InvalidInput)
        if version != "v1":
            check_version(version)
        options = Options(
            context, output_keys, interrupt_before, interrupt_after, durability, control, on_pending, on_changed
        )
        if stream_mode != "values" or print_mode or (self.debug if debug is None else debug):
            reader = self._reader(stream_mode, print_mode, subgraphs, version, debug)
            results: list[Any] = []
            chunks = list(self._stream(input, config, options, reader, results))
            return results[0] if stream_mode == "values" else chunks
        host = host_for(self, config, options, input)
        driver = Driver(host)
        try:
            finish = drive(steps_of(self, host, input), driver.perform)
        finally:
            try:
                driver.close()
            except BaseException:
                driver.close()  # a signal may have been heard when it had hardly begun
                raise
        return result_of(self, finish, version)

    async def ainvoke(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        context: Any = None,
        stream_mode: Modes = "values",
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        on_pending: OnPending | None = None,
        on_changed: OnChanged = "raise",
        version: str = "v1",
        debug: bool | None = None,
        subgraphs: bool = False,
        **old: Any,
    ) -> Any:
        """Like invoke, on an event loop."""
        if old:
            refuse_old("ainvoke()", old, InvalidInput)
        if version != "v1":
            check_version(version)
        options = Options(
            context, output_keys, interrupt_before, interrupt_after, durability, control, on_pending, on_changed
        )
        if stream_mode != "values" or print_mode or (self.debug if debug is None else debug):
            reader = self._reader(stream_mode, print_mode, subgraphs, version, debug)
            results: list[Any] = []
            chunks = [chunk async for chunk in self._astream(input, config, options, reader, results)]
            return results[0] if stream_mode == "values" else chunks
        host = host_for(self, config, options, input)
        if not host.is_beside:
            return result_of(self, await self._run(host, input), version)
        from signoff.drivers.calls.aio_futures import in_own_task

        assert host.parent is not None, "it is beside the task that it is called in"
        return result_of(self, await in_own_task(host.parent, self._run, host, input), version)

    async def _run(self, host: Host, input: Any) -> Finish:
        from signoff.drivers.aio import Driver

        driver = Driver(host)
        try:
            return await adrive(steps_of(self, host, input, is_async=True), driver.perform, end=driver.end)
        finally:
            await driver.close()

    def stream(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        context: Any = None,
        stream_mode: Modes | None = None,
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        on_pending: OnPending | None = None,
        on_changed: OnChanged = "raise",
        subgraphs: bool = False,
        debug: bool | None = None,
        version: str = "v1",
        **old: Any,
    ) -> Iterator[Any]:
        """Run, and yield what happens as it happens."""
        if old:
            refuse_old("stream()", old, InvalidInput)
        options = Options(
            context, output_keys, interrupt_before, interrupt_after, durability, control, on_pending, on_changed, True
        )
        reader = self._reader(stream_mode, print_mode, subgraphs, version, debug)
        return self._stream(input, config, options, reader)

    def astream(
        self,
        input: Any,
        config: ConfigLike | None = None,
        *,
        context: Any = None,
        stream_mode: Modes | None = None,
        print_mode: Modes = (),
        output_keys: str | Sequence[str] | None = None,
        interrupt_before: All | Sequence[str] | None = None,
        interrupt_after: All | Sequence[str] | None = None,
        durability: Durability | None = None,
        control: "RunControl | None" = None,
        on_pending: OnPending | None = None,
        on_changed: OnChanged = "raise",
        subgraphs: bool = False,
        debug: bool | None = None,
        version: str = "v1",
        **old: Any,
    ) -> AsyncIterator[Any]:
        """Like stream, on an event loop."""
        if old:
            refuse_old("astream()", old, InvalidInput)
        options = Options(
            context, output_keys, interrupt_before, interrupt_after, durability, control, on_pending, on_changed, True
        )
        reader = self._reader(stream_mode, print_mode, subgraphs, version, debug)
        return self._astream(input, config, options, reader)

    def _reader(self, modes: Modes | None, printed: Modes, subgraphs: bool, version: str, debug: bool | None) -> Reader:
        if self.debug if debug is None else debug:
            printed = ["updates", "values"]
        return reader_of(self.stream_mode if modes is None else modes, printed, subgraphs, version)

    def _stream(
        self,
        input: Any,
        config: ConfigLike | None,
        options: Options,
        reader: Reader,
        results: list[Any] | None = None,
    ) -> Iterator[Any]:
        """The chunks of a run; what invoke would return is added to `results`."""
        host = host_for(self, config, options, input)
        driver = Driver(host)
        listen(self, host, reader, driver.push)
        steps = with_result(self, steps_of(self, host, input), reader.version, results)
        effects = OPEN[id(host)] = relay(steps, driver.perform, Emit)
        try:
            for effect in effects:
                yield from shape(host, reader, effect)
        finally:
            try:
                _end(host, effects, driver)
            except BaseException:
                _end(host, effects, driver)  # a signal may have been heard when it had hardly begun
                raise

    async def _astream(
        self,
        input: Any,
        config: ConfigLike | None,
        options: Options,
        reader: Reader,
        results: list[Any] | None = None,
    ) -> AsyncIterator[Any]:
        from signoff.drivers.aio import Driver
        from signoff.drivers.ending.leaving import Owned, leaving

        host = host_for(self, config, options, input)
        driver = Driver(host)
        listen(self, host, reader, driver.push)
        steps = with_result(self, steps_of(self, host, input, is_async=True), reader.version, results)
        effects = Owned(arelay(steps, driver.perform, Emit, driver.end))
        chunks = tapped(host, shaped_chunks(host, reader, effects))
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            with leaving(None if host.run.is_nested else host.run.lease):
                await effects.aclose()
                await driver.close()

    def batch(
        self,
        inputs: Sequence[Any],
        config: ConfigLike | Sequence[ConfigLike] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """The results of several inputs, worked on at the same time, in the order of the inputs."""
        around = _scope.running.get()
        for saver in (self.checkpointer, None if around is None else around.host.saver):
            refuse_in_its_loop(saver)
        return batched(self.invoke, inputs, config, return_exceptions, kwargs)

    async def abatch(
        self,
        inputs: Sequence[Any],
        config: ConfigLike | Sequence[ConfigLike] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Like batch, on an event loop."""
        return await abatched(self.ainvoke, inputs, config, return_exceptions, kwargs)


def _end(host: Host, effects: Generator[Emit, None, Any], driver: Driver) -> None:
    """End a stream, whether it was read to its end or not."""
    OPEN.pop(id(host), None)
    effects.close()
    driver.close()
