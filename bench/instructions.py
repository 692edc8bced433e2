"""Instructions: what a piece of work takes of a processor, counted by valgrind.

    python -m bench.instructions                      every piece, in some ten minutes; valgrind has to be installed
    python -m bench.instructions "one-node invoke"    one of them

Times differ by a third from run to run and from machine to machine; these counts hardly do. They leave out the waiting
for memory, of which there is more in a library that touches more of it: so their ratios are lower.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from shutil import which as where_is
from typing import NamedTuple

from bench.cases import Build
from bench.library import OURS, THEIRS, Library
from bench.programs import questions, steps, tasks
from bench.storage import MEMORY, SQLITE_FULL


class Piece(NamedTuple):
    """A piece of work, and how often it is run: twice, and the less is taken off the more, with all that came before.

    Of work that has a `minus`, this is what is run the first time, as often as the work the second time.
    """

    build: Build
    less: int
    more: int


PIECES = {
    "one-node invoke": Piece(steps.one_node, 100, 300),
    "question and answer, memory": Piece(partial(questions.question, kind=MEMORY), 100, 300),
    "question and answer, SQLite FULL": Piece(partial(questions.question, kind=SQLITE_FULL), 50, 150),
    "100 parallel questions, one by one": Piece(partial(questions.parallel_questions, questions=100), 1, 2),
    "@task call, memory": Piece(tasks.task_call, 0, 5),
}


def main(names: Sequence[str]) -> None:
    """Print a row for each piece of work."""
    if unknown := [name for name in names if name not in PIECES]:
        raise SystemExit(f"{unknown[0]!r} is no piece of work. There are: {', '.join(map(repr, PIECES))}.")
    if where_is("valgrind") is None:
        raise SystemExit("valgrind counts the instructions, and is not installed. Install it: apt-get install valgrind")
    print(f"{'':<42} {OURS:>14} {THEIRS:>14} {'ratio':>7}")
    for name in names or PIECES:
        ours, theirs = (instructions(name, root) for root in (OURS, THEIRS))
        print(f"{name:<42} {ours:>14,} {theirs:>14,} {theirs / ours:>6.1f}x", flush=True)


def instructions(name: str, root: str) -> int:
    """What one piece of work takes with a library, when it is not the first time."""
    (less, before), (more, after) = (_counted(name, root, which) for which in ("less", "more"))
    return (more - less) // (after - before)


def _counted(name: str, root: str, which: str) -> tuple[int, int]:
    """The instructions of a process, and how many pieces of work it has done."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}"]
    program = [sys.executable, "-m", "bench.instructions", name, root, which]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([*valgrind, *program], env=environment, capture_output=True, text=True)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode or found is None:
        raise SystemExit(f"{name} on {root} was not counted:\n{done.stderr}")
    return int(found[1].replace(",", "")), int(done.stdout)


def work(name: str, root: str, which: str) -> None:
    """Do what is counted, less of it or more, and print how many pieces of work that was."""
    piece = PIECES[name]
    with asyncio.Runner() as runner:
        lib = Library(root, runner)
        work = piece.build(lib)
        is_less = which == "less"
        run, times = (work.minus, piece.more) if is_less and work.minus else (work.run, getattr(piece, which))
        for _ in range(times):
            run()
        lib.close()
    print(0 if run is work.minus else times * work.units)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [name, root, ("less" | "more") as which]:
            work(name, root, which)
        case names:
            main(names)
