"""The gate: counts of signoff that do not depend on the machine, and must not grow.

    python -m bench.gate              count, and fail where a count is too high
    python -m bench.gate --record     count, and let these counts be what is compared with from now on

A count may have a limit that it never passes. Where it is the same in every run, it must not grow even below the limit,
as long as Python's version is the one that the counts were recorded with. Record a higher one when what was bought
is worth it, and say so in the commit.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.counting import calls, counts_per_unit
from bench.importing import seen_with
from bench.library import OURS, Library
from bench.measuring import Work
from bench.programs import questions, saved, sends, steps, tasks
from bench.storage import MEMORY, SQLITE_FULL

RECORDED = Path(__file__).with_name("counts.json")
_SLACK = 0.2
"""By how much a count per unit may differ, where it is a mean: a thread in the background may wake up once more."""

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"

Counts = dict[str, float]


@dataclass(frozen=True)
class Limit:
    """What is counted, and what it never passes."""

    most: float | None
    """None if all that is asked of it is that it does not grow."""
    what: str
    """Calls, statements, commits, or modules."""
    build: Callable[[Library], Work] | None = None
    is_steady: bool = True
    """Whether it is the same in every run; how often threads meet, and the calls it takes, is up to the system."""


_step = partial(saved.saved_step, kind=SQLITE_FULL)
_ask, _answer = questions.to_a_question, questions.answer

LIMITS = {
    "Python calls of a step, no saver": Limit(60, "calls", steps.step),
    "Python calls of a step, no saver, async": Limit(60, "calls", steps.async_step),
    "Python calls of a step, memory": Limit(90, "calls", partial(saved.saved_step, kind=MEMORY, durability="async")),
    "Python calls of a step, SQLite, sync": Limit(90, "calls", partial(_step, durability="sync")),
    "Python calls of a step, SQLite, async": Limit(90, "calls", partial(_step, durability="async"), is_steady=False),
    "Python calls of a one-node invoke": Limit(150, "calls", steps.one_node),
    "Python calls of a step, 1,000 keys": Limit(60, "calls", partial(steps.step_with_keys, keys=1000)),
    "Python calls of a step among 1,000 nodes": Limit(60, "calls", partial(steps.step_among, nodes=1000)),
    "Python calls of a task of 100": Limit(60, "calls", partial(sends.one_send, tasks=100), is_steady=False),
    "Python calls of a task of 1,000": Limit(60, "calls", partial(sends.one_send, tasks=1000), is_steady=False),
    "Python calls of an async task of 100": Limit(60, "calls", partial(sends.one_async_send, tasks=100)),
    "Python calls of an async task of 1,000": Limit(60, "calls", partial(sends.one_async_send, tasks=1000)),
    "Python calls to a question, memory": Limit(None, "calls", partial(_ask, kind=MEMORY)),
    "Python calls to a question, SQLite": Limit(None, "calls", partial(_ask, kind=SQLITE_FULL)),
    "Python calls of an answer, memory": Limit(None, "calls", partial(_answer, kind=MEMORY)),
    "Python calls of an answer, SQLite": Limit(None, "calls", partial(_answer, kind=SQLITE_FULL)),
    "Python calls of an answer among 10": Limit(None, "calls", partial(questions.answer_among, others=9)),
    "Python calls of an answer among 100": Limit(None, "calls", partial(questions.answer_among, others=99)),
    "Python calls of a @task call": Limit(None, "calls", tasks.task_call),
    "statements to a question, SQLite": Limit(None, "statements", partial(_ask, kind=SQLITE_FULL)),
    "statements of an answer, SQLite": Limit(None, "statements", partial(_answer, kind=SQLITE_FULL)),
    "commits of a step, sync": Limit(1, "commits", partial(_step, durability="sync")),
    "commits of a step, async": Limit(1, "commits", partial(_step, durability="async"), is_steady=False),
    "commits of a one-node invoke": Limit(2, "commits", partial(saved.saved_one_node, kind=SQLITE_FULL)),
    "commits to a question": Limit(2, "commits", partial(_ask, kind=SQLITE_FULL)),
    "commits of an answer": Limit(2, "commits", partial(_answer, kind=SQLITE_FULL)),
    "commits of a Send of 100 tasks": Limit(
        6, "commits", partial(sends.saved_sends, tasks=100, kind=SQLITE_FULL), is_steady=False
    ),
    "modules after import signoff.graph": Limit(150, "modules", is_steady=False),  # an environment may add its own
}


def counted(before: str = "", names: Sequence[str] = ()) -> Counts:
    """Counts, all or some, taken in a process of its own, where nothing else was loaded or started.

    before: code to run first, such as a change of signoff whose cost is of interest.
    """
    program = f"{before}\nfrom bench import gate\ngate.main({['--json', *names]!r})"
    command, root = [sys.executable, "-c", program], RECORDED.parent.parent
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    counts: Counts = json.loads(done.stdout)
    return counts


def recorded() -> Counts:
    """The counts that must not grow; none, if they were taken with another version of Python."""
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    counts: Counts = record["counts"] if record["python"] == VERSION else {}
    return counts


def failures(counts: Counts, before: Counts) -> list[str]:
    """A sentence for each count that is too high."""
    return [sentence for name in counts if (sentence := _failure(name, counts[name], before.get(name)))]


def count(names: Iterable[str] = ()) -> Counts:
    """Counts, all or some, taken here."""
    calls.everywhere()
    with asyncio.Runner() as runner:
        lib = Library(OURS, runner, is_counting=True)
        counts = {name: _count(lib, LIMITS[name]) for name in names or LIMITS}
        lib.close()
    return counts


def _count(lib: Library, limit: Limit) -> float:
    if limit.build is None:
        return seen_with(OURS).modules
    # Twice: an event loop may wake up once more than it has to, on a busy machine.
    return min(counts_per_unit(limit.build(lib))[limit.what] for _ in range(2 if limit.is_steady else 1))


def _failure(name: str, now: float, before: float | None) -> str | None:
    limit = LIMITS[name]
    if limit.most is not None and now > limit.most:
        return f"{name}: {now:g}, and at most {limit.most:g} are allowed."
    if before is not None and limit.is_steady and now > before + _SLACK:
        return f"{name}: {now:g}, it was {before:g}. If that is worth it: python -m bench.gate --record"
    return None


def _allowed(limit: Limit) -> str:
    return "" if limit.most is None else f" <= {limit.most:g}"


def _record(counts: Counts) -> None:
    RECORDED.write_text(json.dumps({"python": VERSION, "counts": counts}, indent=2) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and say what is too high."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate", description="Check the counts of signoff.")
    parser.add_argument("--json", action="store_true", help="only print the counts")
    parser.add_argument("--record", action="store_true", help="compare with these counts from now on")
    parser.add_argument("names", nargs="*", choices=[[], *LIMITS], metavar="NAME", help="what to count; all, if none")
    asked = parser.parse_args(arguments)
    counts = count(asked.names)
    if asked.json:
        print(json.dumps(counts))
        return
    if asked.record:
        _record(counts)
    print("\n".join(f"{name:<44} {value:>8.4g}{_allowed(LIMITS[name])}" for name, value in counts.items()))
    sys.exit("\n".join(failures(counts, recorded())) or 0)


if __name__ == "__main__":
    main()
