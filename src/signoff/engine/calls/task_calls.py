"""Calls of `@task` functions: tasks inside of a task."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from signoff._copies import copied
from signoff.checkpoint.base import Commit
from signoff.constants import ASKS, CALLED, ERROR_SOURCE, RETURN, TAKEN_BACK
from signoff.engine import ids, pending
from signoff.engine.calls.unread_answers import hear
from signoff.engine.effects import Await, Check, Emit, Save
from signoff.engine.program import Node, Write
from signoff.engine.run import Run
from signoff.engine.showing import chunks
from signoff.engine.storing.node_cache import recall, remember
from signoff.engine.storing.unstored import is_calling_off
from signoff.engine.task import Outcome, Record, Task
from signoff.errors import NotStorable
from signoff.steps import Steps

CALL = "__pregel_call"


def call_task(parent: Task, node: Node, input: Any, index: int) -> Task:
    """The task of the n-th call that another task makes."""
    task = parent.retargeted(node, (CALL, *parent.path, index))
    task.input = input
    task.triggers = (CALL,)
    task.caller = parent
    return task


def known_call(run: Run, task: Task, failures: int) -> Outcome | None:
    """The outcome of a call that need not run: it finished before a pause or a crash, or it still waits.

    Or it has failed, and its task has caught that before it paused.

    failures: how often the task has seen it fail since it began.
    """
    error = None if run.known is None else run.known.caught(task.id, failures)
    if error is not None:
        return Outcome(task, error=error, is_known=True)
    if task.id in run.called:
        outcome: Outcome | None = Outcome(task, run.called[task.id], is_known=True)
    else:
        outcome = None if run.known is None else pending.settled(task, run.known, run.answers)
    if outcome is not None and outcome.is_done and _is_needed_again(run, task):
        outcome.writes = copied([*outcome.writes])
    return outcome


def _is_needed_again(run: Run, task: Task) -> bool:
    """Whether what a call has come to is handed over, or stored, once more: who has it now may change it in place."""
    return run.durability == "exit" or run.program.pauses_branch or _is_retried(task)


def _is_retried(task: Task) -> bool:
    caller = task.caller
    while caller is not None and not caller.node.retry:
        caller = caller.caller
    return caller is not None


def asking(outcome: Outcome) -> Record:
    """What a call waits for, as a record that is stored when the task around it pauses."""
    return outcome.task.id, [(ASKS, outcome.questions), (CALLED, outcome.task.mark)], outcome.task.saved_path


class Failure(NamedTuple):
    """What a task has seen fail: a call, or a graph that it has called."""

    id: str
    """What stands for it."""
    error: Exception
    path: str
    """Where what it came to would be stored."""
    is_known: bool = False
    """Whether it has failed before the task started over."""


def caught(failures: Iterable[Failure]) -> Iterator[tuple[str, Failure]]:
    """Failures in the order in which their task has seen them, each with the id that it is stored under."""
    seen: Counter[str] = Counter()
    for failure in failures:
        yield ids.failure_id(failure.id, seen[failure.id]), failure
        seen[failure.id] += 1


def has_led_to(error: BaseException, failure: BaseException, *, is_past: bool) -> bool:
    """Whether a task that has failed with an error has done so for a failure which it had caught before.

    is_past: whether it went on behind that one: then only the failure itself counts, be it in a group of exceptions.
    """
    parts = {id(part) for part in _parts(failure)}
    left, seen = [error], {id(error): error}
    while left:
        one = left.pop()
        if id(one) in parts:
            return True
        behind = [] if is_past else [one.__cause__, one.__context__]
        inside = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        left += [more for more in (*inside, *behind) if more is not None and id(more) not in seen]
        seen.update((id(more), more) for more in left)
    return False


def _parts(failure: BaseException) -> Iterator[BaseException]:
    """A failure; of a group, also those in it: whoever handles some of them makes another group of the rest."""
    yield failure
    if isinstance(failure, BaseExceptionGroup):
        for one in failure.exceptions:
            yield from _parts(one)


def comes_back_as(error: BaseException, back: BaseException) -> bool:
    """Whether what an error comes back as is caught as it was, and can be looked at in the same way."""
    if type(back) is not type(error) or vars(back).keys() != vars(error).keys():
        return False
    if isinstance(error, BaseExceptionGroup):
        assert isinstance(back, BaseExceptionGroup), "both are of one class"
        return all(map(comes_back_as, error.exceptions, back.exceptions))
    return True


def caught_record(id: str, failure: Failure) -> Record:
    """A failure that a task has caught, as a record that is stored when the task pauses."""
    return id, [(ERROR_SOURCE, failure.error)], failure.path


def uncaught_record(id: str, failure: Failure) -> Record:
    """That such a failure is not caught any more: the call is made again."""
    return ids.alias_id(id, TAKEN_BACK), [(TAKEN_BACK, id)], failure.path


def perform_call(run: Run, task: Task) -> Steps[Outcome]:
    """Run a call from its beginning to its end: look into the cache, run it, store and show the result."""
    settled: dict[Task, Outcome] = {}
    has_cache = run.terms.has_cache and task.node.cache is not None
    if run.modes and (shown := chunks.start_chunks(run, [task])):
        yield Emit(shown)
    if has_cache:
        yield from recall([task], run.program, settled)
    if task in settled:
        outcome = settled[task]
    else:
        (outcome,) = yield Await([task])
    if run.modes and (shown := chunks.call_chunks(run, outcome)):
        yield Emit(shown)
    if run.given or run.found:
        yield from hear(run, [outcome])
    if outcome.is_done:
        writes = copied([*outcome.writes]) if _is_needed_again(run, task) else outcome.writes
        id = task.id
        run.called[id] = kept = [*writes, (CALLED, task.mark)]
        if run.is_saved:
            outcome.is_saved, record = True, (id, kept, task.saved_path)
            if task.node.passes_on:
                yield from _save_if_storable(run, task, outcome, record)
            elif (save := _kept(run, task, record)) is not None:
                try:
                    yield save
                except BaseException as error:
                    yield from _again(save, error)
                    raise
    elif outcome.error is not None:
        run.ended_calls.add(task.id)
    if has_cache and task not in settled:  # at last: if the call is called off here, its result is stored
        yield from remember([outcome], run.known)
    return outcome


def noted(run: Run, caller: Task, mark: Write) -> Save | None:
    """Keep, under an id, what is to be known of a task's call of a graph."""
    id, text = mark
    run.called[id] = [(CALLED, text)]
    return _kept(run, caller, (id, run.called[id], caller.saved_path))


def _save_if_storable(run: Run, task: Task, outcome: Outcome, record: Record) -> Steps[None]:
    """Store what a call came to whose result is for its task alone: it need not be stored unless that pauses."""
    try:
        if run.durability == "exit":
            yield Check(outcome.writes)  # in the end it would be too late
        if (save := _kept(run, task, record)) is not None:
            try:
                yield save
            except BaseException as error:
                yield from _again(save, error)
                raise
    except NotStorable as error:
        run.unkept[task.id] = error


def _kept(run: Run, task: Task, record: Record) -> Save | None:
    """Store something with the checkpoint that a task started from; with `exit`, in the end."""
    if run.durability == "exit":
        run.kept_calls.append((task.checkpoint_id, record))
        return None
    commit = Commit((run.thread_id, run.ns, task.checkpoint_id), [record])
    return Save([commit], wait=run.durability == "sync")


def _again(save: Save, error: BaseException) -> Steps[None]:
    """Store once more what a call came to, if a signal has cut that off."""
    if is_calling_off(error) and not save.is_handed_over:
        yield save


def returned(outcome: Outcome) -> Any:
    """What a finished call returned."""
    for name, value in outcome.writes:
        if name == RETURN:
            return value
    raise AssertionError("a finished call has returned something")
