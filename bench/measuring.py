"""Measuring: what a piece of work costs, in interleaved rounds."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Run = Callable[[], object]
Clock = Callable[[], float]
Meter = Callable[[], Mapping[str, float]]

CPU: Clock = time.process_time
"""Of all threads of the process."""
WALL: Clock = time.perf_counter
"""Where waiting is the point."""


@dataclass(frozen=True)
class Work:
    """Something to run that does a number of things; what `minus` costs is not counted."""

    run: Run
    units: int = 1
    minus: Run | None = None
    tidy: Run | None = None
    """What to do after a measurement, outside of it: forget what was stored, say."""
    clock: Clock = CPU
    meter: Meter | None = None
    """What was stored so far, by the name of what is counted."""


@dataclass(frozen=True)
class Precision:
    """How many rounds are measured, and how long a single measurement lasts at least."""

    rounds: int
    least_s: float

    def in_rounds(self, rounds: int | None) -> "Precision":
        """The same in so many rounds, each as short as can be."""
        return self if rounds is None else Precision(rounds, 0.0)


FULL = Precision(rounds=9, least_s=0.04)
QUICK = Precision(rounds=3, least_s=0.01)


def costs(works: Sequence[Work], precision: Precision) -> list[float]:
    """What one unit of each work costs, in seconds: medians of rounds in which they take turns.

    Taking turns, a change of the machine's load hits all of them and leaves their ratios alone.
    """
    measured = [_Measured(work, precision) for work in works]
    gc.collect()
    gc.freeze()  # what the libraries hold is not the garbage of the programs
    rounds = [[one.seconds_per_unit() for one in measured] for _ in range(precision.rounds)]
    gc.unfreeze()
    return [median(seconds) for seconds in zip(*rounds, strict=True)]


class _Measured:
    """A work, and how often it is repeated in a measurement."""

    def __init__(self, work: Work, precision: Precision) -> None:
        self._work = work
        self._times = {run: self._enough(run, precision) for run in (work.run, work.minus) if run}

    def seconds_per_unit(self) -> float:
        work = self._work
        gc.collect()
        rest = self._seconds(work.minus, self._times[work.minus]) if work.minus else 0.0
        return (self._seconds(work.run, self._times[work.run]) - rest) / work.units

    def _enough(self, run: Run, precision: Precision) -> int:
        """How many repetitions last long enough. What it runs to find out also warms up."""
        if precision.rounds == 1:
            return 1
        self._seconds(run, 1)
        if not precision.least_s:
            return 1
        return max(1, round(precision.least_s / max(self._seconds(run, 1), 1e-6)))

    def _seconds(self, run: Run, times: int) -> float:
        clock = self._work.clock
        started = clock()
        for _ in range(times):
            run()
        seconds = (clock() - started) / times
        if self._work.tidy:
            self._work.tidy()
        return seconds
