"""The calls that tasks have made before they start over, or that tasks in whose place they are have made."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from signoff.checkpoint.base import TaskWrites
from signoff.constants import CALLED
from signoff.engine import ids
from signoff.engine.answers import Answer, origin_of
from signoff.engine.calls.marks import Mark, caller_id
from signoff.engine.origin import Origin
from signoff.engine.pending import Pending, all_asked, asker_id, is_of
from signoff.engine.program import Write
from signoff.engine.run import Run
from signoff.engine.storing.task_writes import saved_failures
from signoff.engine.task import Task


def finished_calls(run: Run, task: Task) -> Iterator[tuple[str, list[Write]]]:
    """The names of the calls that a task had finished before it started over, and what they have left."""
    known = run.known
    if known is None or not known.marks:
        return
    caller = ids.short_of(caller_id(task, known))
    for id, mark in ((id, Mark.read(text)) for id, text in known.marks.items()):
        if mark.caller == caller and id in known.results:
            yield mark.name, known.results[id]


def has_calls_of_another(run: Run, task: Task) -> bool:
    """Whether a task is in the place of one that has made calls, and has called no graphs itself."""
    named = run.known.calling_as if run.known is not None else {}
    return task.id in named and ids.graphs_id(task.id) not in named


def carried(
    known: Pending, moved: Sequence[tuple[Task, Task]], others: Iterable[Task], failed: Container[str]
) -> Iterator[TaskWrites]:
    """The calls that tasks have made, for those in their places after a person has changed the state.

    They are known by what they were given alone: what is given something else in their place is another call. A call
    that has failed has left no mark, so it is not seen whose it was; what it has called is kept for whoever it is.

    Those that have failed, and whose tasks have caught that, are kept, too. What a call was answered is named after it:
    so its name stays over several updates, though it is not made again in between. So do the graphs in it: one that
    waits is kept without what it asks, so that retention leaves these alone, and with which of them is which.

    others: the tasks in whose place there is none.
    failed: the ids of tasks: they have not caught what they have failed with.
    """
    marks = {id: Mark.read(text) for id, text in known.marks.items()}
    read = {id: mark for id, mark in marks.items() if not mark.is_of_graph}
    theirs = _inside(read, {ids.short_of(caller_id(task, known)) for task in others})
    calls = {id: mark for id, mark in read.items() if id not in theirs}
    failures = [(id, writes) for id, writes in saved_failures(known).items() if id not in failed]
    for task, again in moved if calls or failures or known.calling_as else ():
        yield TaskWrites(ids.alias_id(again.id, CALLED), [(CALLED, {again.id: caller_id(task, known)})])
    for id, writes in failures:
        yield TaskWrites(id, writes)
    for id, mark in calls.items():
        yield TaskWrites(id, [*known.results.get(id, ()), (CALLED, Mark.text(f"{mark.caller}.-", *mark[1:]))])
    left = {ids.short_of(id) for id in calls if id not in known.results}
    for id, mark in marks.items() if left else ():
        if mark.is_of_graph and mark.place.partition("|")[0] in left:
            yield TaskWrites(id, [(CALLED, known.marks[id])])


def calls_inside(known: Pending, task: Task) -> set[str]:
    """The ids of the calls that a task has made before, and of those inside of these."""
    return _inside({id: Mark.read(text) for id, text in known.marks.items()}, {ids.short_of(caller_id(task, known))})


def calls_left(known: Pending, task: Task) -> set[str]:
    """The same without those that had come to an end before, and without what is inside of these.

    One had that has failed, if its task has caught that: it is not made again.
    """
    left = (id for id in known.marks if id not in known.results and known.caught(id, 0) is None)
    return _inside({id: Mark.read(known.marks[id]) for id in left}, {ids.short_of(caller_id(task, known))})


def told_by(known: Pending, task: Task) -> set[str]:
    """The ids of what a task has told the state as it asked, itself or in calls that it has made."""
    told = {*filter(ids.is_aside, known.beside)}
    if not told:
        return told
    asked: dict[str, tuple[Any, Origin]] = {one.id: (one.key, one.origin or Origin()) for one in all_asked(known)}
    asked.update((id, (answer.get("key"), origin_of(answer))) for id, answer in known.answers.items())
    askers, own = _askers(known, task), {one.id for one in known.asked_by(task)}
    found: set[str] = set()
    for id, (key, origin) in asked.items():
        tells = {ids.aside_id(id), ids.aside_id(origin.get("first", id))} & told
        if tells and (id in own or _is_of_any(askers, id, key, origin, len(asked))):
            found |= tells
    return found


def answers_of(known: Pending, tasks: Iterable[Task], answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Those of some answers that tasks were given, or calls that they have made."""
    askers, most = [asker for task in tasks for asker in _askers(known, task)], len(answers) + 1
    return {
        id: answer
        for id, answer in answers.items()
        if _is_of_any(askers, id, answer.get("key"), origin_of(answer), most)
    }


def _askers(known: Pending, task: Task) -> list[str]:
    """What the questions of a task are named after, and those of the calls inside of it."""
    return [asker_id(task, known), *calls_inside(known, task)]


def _is_of_any(askers: Iterable[str], id: str, key: str | None, origin: Origin, most: int) -> bool:
    return any(is_of(asker, id, key, origin, most) for asker in askers)


def _inside(marks: dict[str, Mark], callers: set[str]) -> set[str]:
    """The ids of the calls that tasks have made, and of those inside of these."""
    found: set[str] = set()
    while more := {id for id, mark in marks.items() if mark.caller in callers} - found:
        found |= more
        callers = {ids.short_of(id) for id in more}
    return found
