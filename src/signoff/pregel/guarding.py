"""A run that is made only if its thread stands as the caller has seen it."""

from collections.abc import Callable
from typing import Any

from signoff.checkpoint.base import CheckpointTuple
from signoff.config import RunnableConfig
from signoff.drivers.sync import Driver
from signoff.engine.effects import Load, Look
from signoff.engine.run import Finish
from signoff.pregel.base import Base
from signoff.pregel.hosting import host_for
from signoff.pregel.running import steps_of
from signoff.pregel.terms import Options
from signoff.steps import Steps, adrive, drive

Check = Callable[[CheckpointTuple | None], None]
"""Told what the run sees of its thread; whatever it raises ends the run before it has stored anything."""


def run_guarded(graph: Base, input: Any, config: RunnableConfig, options: Options, check: Check) -> Finish:
    """Run a graph; `check` sees the thread at the moment that counts: the run takes it only if it stays like that."""
    host = host_for(graph, config, options, input)
    driver = Driver(host)
    try:
        return drive(_guarded(steps_of(graph, host, input), check), driver.perform)
    finally:
        driver.close()


async def arun_guarded(graph: Base, input: Any, config: RunnableConfig, options: Options, check: Check) -> Finish:
    """Like run_guarded, on an event loop."""
    from signoff.drivers.aio import Driver

    host = host_for(graph, config, options, input)
    driver = Driver(host)
    try:
        steps = _guarded(steps_of(graph, host, input, is_async=True), check)
        return await adrive(steps, driver.perform, end=driver.end)
    finally:
        await driver.close()


def _guarded(steps: Steps[Finish], check: Check) -> Steps[Finish]:
    """A procedure whose first look at its thread, and each one after another run came in between, is checked."""
    is_first = True
    try:
        effect = next(steps)
        while True:
            try:
                result = yield effect
            except BaseException as error:
                effect = steps.throw(error)
                continue
            if isinstance(effect, Look) or (is_first and isinstance(effect, Load)):
                _check(steps, check, result[0] if isinstance(effect, Look) else result)
            is_first = False
            effect = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def _check(steps: Steps[Finish], check: Check, saved: CheckpointTuple | None) -> None:
    try:
        check(saved)
    except BaseException:
        steps.close()  # it has stored nothing yet, so that it has nothing to tidy up
        raise
