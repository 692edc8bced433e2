"""Parts: in which rooms of signoff the Python calls of a piece of work are made.

    python -m bench.parts

What costs much in one place shows in a profile. What is spread over many small ones shows here.
"""

import asyncio
from collections import Counter
from functools import partial
from types import FrameType

from bench.cases import Build
from bench.counting import Calls
from bench.library import OURS, Library
from bench.measuring import Run, Work
from bench.programs import questions, saved, steps, tasks
from bench.storage import MEMORY, SQLITE_FULL

WORKS: dict[str, Build] = {
    "invoke": steps.one_node,
    "step": partial(saved.saved_step, kind=MEMORY, durability="async"),
    "question": partial(questions.to_a_question, kind=MEMORY),
    "answer": partial(questions.answer, kind=MEMORY),
    "question, SQLite": partial(questions.to_a_question, kind=SQLITE_FULL),
    "answer, SQLite": partial(questions.answer, kind=SQLITE_FULL),
    "@task": tasks.task_call,
}
"""One-node invoke without a saver, a step in memory, a question and its answer, a call."""


class CallsByRoom(Calls):
    """Counts calls, and whose they are."""

    def __init__(self) -> None:
        super().__init__()
        self.by_room: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        before = self.count
        super().__call__(frame, event, argument)
        self.by_room[_room_of(frame)] += self.count - before

    def of(self, run: Run) -> "Counter[str]":
        """The calls that something makes, when it is not the first time."""
        run()
        self.by_room.clear()
        self.during(run)
        return Counter(self.by_room)


def _room_of(frame: FrameType) -> str:
    """The room that a function lives in; `others` for what is none of ours."""
    house, _, inside = str(frame.f_globals.get("__name__")).partition(".")
    room = inside.partition(".")[0]
    return room if house == OURS and room else "others"


def rooms_of(work: Work) -> dict[str, float]:
    """The calls of one unit of work, by room."""
    calls = CallsByRoom()
    total = calls.of(work.run)
    if work.minus:
        total.subtract(calls.of(work.minus))
    if work.tidy:
        work.tidy()
    return {room: count / work.units for room, count in total.items() if count}


def main() -> None:
    """Print a column for each piece of work."""
    with asyncio.Runner() as runner:
        lib = Library(OURS, runner)
        columns = [rooms_of(build(lib)) for build in WORKS.values()]
        lib.close()
    widths = [max(len(name), 6) for name in WORKS]
    rooms = sorted({room for column in columns for room in column})
    print(" " * 14, *(f"{name:>{width}}" for name, width in zip(WORKS, widths, strict=True)))
    for room in rooms:
        figures = [f"{column.get(room, 0):>{width}.0f}" for column, width in zip(columns, widths, strict=True)]
        print(f"{room:<14}", *figures)
    print(f"{'all':<14}", *(f"{sum(column.values()):>{w}.0f}" for column, w in zip(columns, widths, strict=True)))


if __name__ == "__main__":
    main()
