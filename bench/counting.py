"""Counting: the Python calls that a piece of work makes, in every thread, and what it stores.

A count does not depend on the machine or its load. It is taken in a process of its own, because a thread that was
started while calls are counted goes on counting, which would slow down what is timed later. The resumption of a
generator counts like a call.
"""

import asyncio
import gc
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from types import FrameType

from bench.cases import Build, Comparison, Counts
from bench.library import Library, both
from bench.measuring import Run, Work
from bench.meters import Traced


def counted(groups: Sequence[str]) -> dict[str, Counts]:
    """The counts of the rows of some groups, by the names of the rows."""
    print("Counting calls, statements, commits and bytes first ...", file=sys.stderr)
    program = [sys.executable, "-m", "bench.counting", *groups]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    counts: dict[str, Counts] = json.loads(done.stdout)
    return counts


def counts_per_unit(work: Work) -> dict[str, float]:
    """What one unit of work makes, when it is not the first time."""
    total = _counts(work, work.run)
    if work.minus:
        total.subtract(_counts(work, work.minus))
    return {name: count / work.units for name, count in total.items()}


_OWN = Traced.note.__code__
"""What is called because statements are counted."""


class Calls:
    """Counts calls, as a profile function."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is not _OWN:
            self.count += 1

    def during(self, run: Run) -> int:
        """The calls that something makes, here and in the threads that were started after `everywhere`."""
        gc.collect()
        gc.disable()  # a collection makes calls of its own, whenever it likes
        before = self.count
        sys.setprofile(self)
        run()
        sys.setprofile(None)
        gc.enable()
        return self.count - before

    def everywhere(self) -> None:
        """Count in all threads that are started from now on."""
        threading.setprofile(self)


calls = Calls()


def _counts(work: Work, run: Run) -> "Counter[str]":
    run()
    before = Counter(work.meter()) if work.meter else Counter[str]()
    total = Counter({"calls": calls.during(run)})
    if work.meter:
        total.update(work.meter())
        total.subtract(before)
    if work.tidy:
        work.tidy()
    return total


def main(groups: Sequence[str]) -> None:
    """Print the counts of the rows of some groups, as JSON."""
    from bench.groups import GROUPS

    calls.everywhere()
    found: dict[str, Counts] = {}
    with asyncio.Runner() as runner:
        libraries = both(runner, is_counting=True)
        for case in (case for group in groups for case in GROUPS[group]):
            if isinstance(case, Comparison) and case.is_counted:
                found[case.name] = _of_both(case.build, libraries)
    print(json.dumps(found))


def _of_both(build: Build, libraries: list[Library]) -> Counts:
    ours, theirs = (counts_per_unit(build(lib)) for lib in libraries)
    for lib in libraries:
        lib.close()
    return {name: (ours[name], theirs[name]) for name in ours}


if __name__ == "__main__":
    main(sys.argv[1:])
