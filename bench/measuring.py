"""Measuring: what a piece of work costs, in interleaved rounds."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

Run = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Work:
    """Something to run that does a number of things; what `minus` costs is not counted."""

    run: Run
    units: int = 1
    minus: Run | None = None
    clock: Clock = time.process_time
    """CPU of all threads of the process; the wall's clock where waiting is the point."""


@dataclass(frozen=True)
class Precision:
    """How many rounds are measured, and how long a single measurement lasts at least."""

    rounds: int
    least_s: float


FULL = Precision(rounds=7, least_s=0.03)
QUICK = Precision(rounds=3, least_s=0.01)


def costs(works: Sequence[Work], precision: Precision) -> list[float]:
    """What one unit of each work costs, in seconds: medians of rounds in which they take turns.

    Taking turns, a change of the machine's load hits all of them and leaves their ratios alone.
    """
    runs = [_Repeated(run, work.clock, precision) for work in works for run in (work.run, work.minus) if run]
    gc.collect()
    gc.freeze()  # what the libraries hold is not the garbage of the programs
    rounds = [{id(run.run): run.seconds() for run in runs} for _ in range(precision.rounds)]
    gc.unfreeze()
    return [median(_per_unit(work, seconds) for seconds in rounds) for work in works]


def _per_unit(work: Work, seconds: dict[int, float]) -> float:
    rest = seconds[id(work.minus)] if work.minus else 0.0
    return (seconds[id(work.run)] - rest) / work.units


class _Repeated:
    """A run, repeated until a measurement lasts long enough. Made by running it twice, which also warms it up."""

    def __init__(self, run: Run, clock: Clock, precision: Precision) -> None:
        self.run = run
        self._clock = clock
        self._times = 1
        run()
        self._times = max(1, round(precision.least_s / max(self.seconds(), 1e-6)))

    def seconds(self) -> float:
        """How long one run takes."""
        gc.collect()
        started = self._clock()
        for _ in range(self._times):
            self.run()
        return (self._clock() - started) / self._times
