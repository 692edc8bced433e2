"""A random schedule: several processes on one thread, in an order that a seed decides, with kills and stalls."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from signoff._snapshots import StateSnapshot
from signoff._words.commands import Command
from signoff._words.questions import Interrupt
from signoff.errors import AlreadyAnswered, EmptyInputError, InvalidAnswer, LeaseLost, SignoffError, ThreadBusy
from signoff.steps import Steps
from signoff.testing._aio_loop import Loop, Turn
from signoff.testing._caller import THREAD, Do, Wait, play
from signoff.testing._process import Process
from signoff.testing._scene import Scene
from signoff.testing._witness import Violation

if TYPE_CHECKING:
    from signoff.testing.world import World

__all__ = ["Schedule"]

_MAX_TURNS = 50_000

_HELPERS = (1, 1, 2, 2, 3)
"""How many processes there may be beside the one that plays the script."""

_REFUSALS = (AlreadyAnswered, InvalidAnswer, LeaseLost, EmptyInputError)
"""What somebody who comes late, or too early, may be told."""


class Schedule:
    """What happens to the processes of a world, one turn after the other."""

    def __init__(self, world: "World", seed: int, length: int) -> None:
        self.world = world
        self.scene = Scene(world, world.make_store, is_async=True)
        self.kills = 0
        self.stalls = 0
        self._random = Random(seed)
        self._loop = Loop(self.scene.pass_time, lambda: self.scene.now)
        self.turns = 0
        self._asked: dict[str, Interrupt[Any]] = {}
        """Every question that anybody has seen."""
        self._fates = sorted(
            ((self._random.randrange(length), self._random.choice(_FATES)) for _ in range(self._random.randint(0, 5))),
            key=lambda fate: -fate[0],
        )

    def run(self) -> None:
        """Let the processes work until each has ended."""
        self._loop.run(self._main(), self._choose)

    async def _main(self) -> None:
        roles = [self._live("player", lambda: play(self.world.script, self.scene.notebook))]
        helpers = self._random.choice(_HELPERS)
        roles += [self._live(f"helper{number}", self._meddle) for number in range(helpers)]
        tasks = [self._loop.create_task(role) for role in roles]
        await asyncio.wait(tasks)
        for task in tasks:
            task.result()

    # Processes

    async def _live(self, name: str, role: Callable[[], Steps[None]]) -> None:
        """Have a process play a role; if it is killed, another one takes its place."""
        life = 0
        while True:
            life += 1
            process = self.scene.start(f"{name}.{life}")
            process.takes_turns = True
            with process.at_work():
                work = self._loop.create_task(self.scene.awork(process, role()))
            await asyncio.wait({work})
            self.scene.end(process)
            if not process.is_dead:
                work.result()
                return

    def _meddle(self) -> Steps[None]:
        """Answer, answer again what was answered, go on: whatever comes to mind."""
        for _ in range(self._random.randint(1, 4)):
            state: StateSnapshot = yield Do("get_state", (THREAD,))
            self._asked.update({question.id: question for question in state.interrupts})
            try:
                yield Do("invoke", (self._idea(state), THREAD))
            except ThreadBusy:
                if self._random.random() < 0.5:
                    yield Wait(self._random.random())
            except _REFUSALS:
                pass
            except SignoffError:
                raise
            except Exception:
                pass  # a node failed: somebody will try again

    def _idea(self, state: StateSnapshot) -> Any:
        if state.interrupts and self._random.random() < 0.7:
            return self._answer(self._random.choice(state.interrupts))
        if self._asked and self._random.random() < 0.5:
            return self._answer(self._random.choice(list(self._asked.values())))
        return None

    def _answer(self, question: Interrupt[Any]) -> Command[Any]:
        return self.world.script.command([question])

    # Turns

    def _choose(self, ready: list[Turn]) -> Turn | None:
        self.turns += 1
        if self.turns > _MAX_TURNS:
            raise Violation(f"after {_MAX_TURNS} turns the processes have not come to an end")
        while self._fates and self._fates[-1][0] <= self.turns:
            self._fates.pop()[1](self)
        awake = [index for index, turn in enumerate(ready) if self._is_awake(turn.process)]
        if awake:
            return ready.pop(awake[int(self._random.random() * len(awake))])
        if ready:
            self._wait_for_stalled(ready)
        return None

    def _is_awake(self, process: Process | None) -> bool:
        return process is None or process.is_dead or process.stalled_until <= self.scene.now

    def _wait_for_stalled(self, ready: list[Turn]) -> None:
        """All that could go on are stalled: nothing happens until the first one wakes up, or a timer rings."""
        wakes_at = min(turn.process.stalled_until for turn in ready if turn.process is not None)
        self._loop.call_at(wakes_at, _nothing)

    # Fates

    def _kill(self) -> None:
        if process := self._victim():
            self.kills += 1
            process.is_seen_dead = self._random.random() < 0.6
            process.die()

    def _stall(self) -> None:
        if process := self._victim():
            self.stalls += 1
            process.stalled_until = self.scene.now + self.world.lease_s * self._random.uniform(0.3, 5)

    def _skip(self) -> None:
        """Time passes, for those who do not sleep, too."""
        self.scene.pass_time(self.world.lease_s * self._random.uniform(0.3, 2))

    def _victim(self) -> Process | None:
        alive = [process for process in self.scene.processes if not process.is_dead]
        # Rather one that has the thread: there is more to break.
        holding = [process for process in alive if process.held]
        chosen = holding if holding and self._random.random() < 0.7 else alive
        return self._random.choice(chosen) if chosen else None


_FATES: list[Callable[[Schedule], None]] = [Schedule._kill, Schedule._stall, Schedule._stall, Schedule._skip]


def _nothing() -> None:
    """What a timer calls that only lets time pass."""
