"""Counting: the Python calls that a piece of work makes, in every thread, resumed generators included.

A count does not depend on the machine or its load. It is taken in a process of its own, because a thread that was
started while calls are counted goes on counting, which would slow down what is timed later.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Sequence

from bench.library import both
from bench.measuring import Run, Work

Counts = dict[str, list[float]]
"""For the name of each row, the calls per unit of signoff and of LangGraph."""


def counted(groups: Sequence[str]) -> Counts:
    """The counts of the rows of some groups."""
    program = [sys.executable, "-m", "bench.counting", *groups]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    counts: Counts = json.loads(done.stdout)
    return counts


def calls_per_unit(work: Work) -> float:
    """The calls that one unit of work makes, when it is not the first time."""
    rest = _calls(work.minus) if work.minus else 0
    return (_calls(work.run) - rest) / work.units


class _Counter:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: object, event: str, argument: object) -> None:
        if event == "call":
            self.calls += 1


_counter = _Counter()


def _calls(run: Run) -> int:
    run()
    before = _counter.calls
    sys.setprofile(_counter)
    run()
    sys.setprofile(None)
    return _counter.calls - before


def main(groups: Sequence[str]) -> None:
    """Print the counts of the rows of some groups, as JSON."""
    from bench.groups import counted_programs

    threading.setprofile(_counter)
    with asyncio.Runner() as runner:
        libraries = both(runner)
        programs = counted_programs(groups)
        print(json.dumps({name: [calls_per_unit(build(lib)) for lib in libraries] for name, build in programs.items()}))


if __name__ == "__main__":
    main(sys.argv[1:])
