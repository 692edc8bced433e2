"""A scene: one run of a world, with its store, its clock and its processes."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from signoff.checkpoint._halves import AsyncOfSync
from signoff.checkpoint.questions import Wanted
from signoff.errors import LeaseLost
from signoff.steps import Steps, adrive, drive
from signoff.testing._caller import READS, Do, Notebook, Wait
from signoff.testing._process import Crash, Process
from signoff.testing._taps import tap
from signoff.testing._witness import Witness

if TYPE_CHECKING:
    from signoff.testing.stores import MakeStore
    from signoff.testing.world import World

__all__ = ["Scene"]

_MODES = ["updates", "values"]


class Scene:
    """What happens once."""

    def __init__(self, world: "World", make_store: "MakeStore", *, is_async: bool = False) -> None:
        self.world = world
        self.is_async = is_async or world.is_async
        self.witness = Witness()
        self.notebook = Notebook()
        self.now = 1_000_000.0
        self.processes: list[Process] = []
        self._open = make_store()
        self._close: Callable[[Any], None] = getattr(self._open, "close", _close)
        self._grow_older: Callable[[float], None] = getattr(self._open, "pass_time", _nothing)

    # Processes

    def start(self, name: str, crash_at: int | None = None) -> Process:
        """A new process: it opens the store and builds the graph."""
        process = Process(name, self.witness, crash_at)
        saver = process.saver = self._open()
        if getattr(saver, "has_leases", False):
            saver.clock, saver.lease_s = lambda: self.now, self.world.lease_s
        process.app = self.world.build(tap(saver))
        self.processes.append(process)
        return process

    def end(self, process: Process) -> None:
        """A process is over; what it kept in memory goes with it."""
        self.processes.remove(process)
        self._close(process.saver)

    # Time

    def pass_time(self, seconds: float) -> None:
        """Let time pass; those who live give signs of it, as often as they should."""
        while seconds > 0:
            part = min(seconds, self.world.lease_s / 3)
            self.now, seconds = self.now + part, seconds - part
            self._grow_older(part)
            for process in self.processes:
                if not process.is_dead and process.stalled_until <= self.now:
                    _renew(process)

    # Work

    def work(self, process: Process, steps: Steps[Any]) -> None:
        """Have a process do something to its end, as the only one."""
        with process.at_work():
            if not self.is_async:
                drive(steps, lambda effect: self._perform(process, effect))
                return
            from signoff.testing._aio_loop import Loop

            Loop(self.pass_time, lambda: self.now).run(self.awork(process, steps))

    async def awork(self, process: Process, steps: Steps[Any]) -> None:
        """The same, on an event loop, where others may be at work."""
        await adrive(steps, lambda effect: self._aperform(process, effect))

    def _perform(self, process: Process, effect: Any) -> Any:
        if isinstance(effect, Wait):
            return self.pass_time(self.world.lease_s * effect.leases)
        assert isinstance(effect, Do), "a caller does something, or waits"
        if effect.method in READS:
            with process.quiet():
                found = getattr(process.app, effect.method)(*effect.args)
                if effect.method == "get_state_history":
                    return list(found)
                if getattr(process.saver, "has_questions", False):
                    self.witness.see_questions(found, process.saver.find_questions(Wanted()))
                return found
        if effect.method == "invoke" and self.world.streams:
            return self._read(process, process.app.stream(*effect.args, stream_mode=_MODES, **self.world.options))
        options = self.world.options if effect.method == "invoke" else {}
        return getattr(process.app, effect.method)(*effect.args, **options)

    async def _aperform(self, process: Process, effect: Any) -> Any:
        if isinstance(effect, Wait):
            import asyncio

            return await asyncio.sleep(self.world.lease_s * effect.leases)
        assert isinstance(effect, Do), "a caller does something, or waits"
        method = f"a{effect.method}"
        if effect.method in READS and isinstance(process.saver, AsyncOfSync):
            return self._perform(process, effect)  # at one moment, while nobody else goes on
        if effect.method in READS:
            with process.quiet():
                found = getattr(process.app, method)(*effect.args)
                if effect.method == "get_state_history":
                    return [one async for one in found]
                return await found
        if effect.method == "invoke" and self.world.streams:
            return await self._aread(
                process, process.app.astream(*effect.args, stream_mode=_MODES, **self.world.options)
            )
        options = self.world.options if effect.method == "invoke" else {}
        return await getattr(process.app, method)(*effect.args, **options)

    def _read(self, process: Process, chunks: Any) -> None:
        """Read a stream, with a moment before and after each chunk is taken."""
        try:
            for chunk in chunks:
                process.pass_moment("effects")
                self.notebook.shown.append(chunk)
                process.pass_moment("effects")
        except Crash:
            with suppress(Crash):
                chunks.close()
            raise

    async def _aread(self, process: Process, chunks: Any) -> None:
        try:
            async for chunk in chunks:
                process.pass_moment("effects")
                self.notebook.shown.append(chunk)
                process.pass_moment("effects")
        except Crash:
            with suppress(Crash):
                await chunks.aclose()
            raise


def _close(saver: Any) -> None:
    close = getattr(saver, "close", None)
    if close is not None:
        close()


def _nothing(seconds: float) -> None:
    """A store that goes by the clock it is given needs not be told."""


def _renew(process: Process) -> None:
    """What the keeper of leases does now and then in a real process."""
    for holder, (saver, lease) in list(process.held.items()):
        if lease.epoch and not lease.is_over:
            try:
                saver.renew(lease)
            except LeaseLost:
                del process.held[holder]
