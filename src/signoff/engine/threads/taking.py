"""Taking a thread: look at it, see that it is free, and try again if another run was quicker."""

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

from signoff._words.commands import Command
from signoff.checkpoint.base import CheckpointTuple, Lease, Standing, checkpoint_config
from signoff.engine import answers, pending
from signoff.engine.effects import Load, Look
from signoff.engine.ids import place_in_step
from signoff.engine.planning.plan import has_more
from signoff.engine.run import Run
from signoff.engine.state import restored
from signoff.engine.storing.exit_durability import before, completed, copied, remembered
from signoff.engine.storing.stored_answers import left_behind
from signoff.engine.threads.time_travel import named, recalled, tasks_around
from signoff.errors import InvalidInput, SignoffError, ThreadBusy, ThreadMoved
from signoff.steps import Steps

T = TypeVar("T")

MOST_LOOKS = 1_000
"""So often no run is overtaken: the saver does not find what it has said itself."""


def with_thread(run: Run, attempt: Callable[[], Steps[T]]) -> Steps[T]:
    """Run a procedure that looks at a thread and then takes it; again, if another run came in between."""
    for looks in count(1):
        try:
            return (yield from attempt())
        except ThreadMoved:
            if not may_look_again(run, looks):
                raise
            run.begin_anew()
    raise AssertionError("it is counted without an end")


def may_look_again(run: Run, looks: int) -> bool:
    """Whether a run whose thread has moved may begin anew: it has not taken the thread yet, and done nothing."""
    return run.lease is not None and not run.lease.epoch and looks < MOST_LOOKS


def load(run: Run, input: Any = None) -> Steps[CheckpointTuple | None]:
    """The checkpoint that a run begins at; None for a thread, or a nested graph, that has not begun."""
    saved: CheckpointTuple | None
    config = checkpoint_config(run.thread_id, run.ns, run.checkpoint_id)
    if run.holder and not run.is_nested:
        saved, standing = yield Look(config)
        _take(run, saved, standing, input)
    else:
        saved = remembered(run) or (yield named(run) or Load(config))
        if saved is not None and run.remembers and run.branched_off is not None and run.checkpoint_id is None:
            run.newest_id = saved.checkpoint["id"]
            saved = yield from recalled(saved, run.branched_off)
        if run.called_by:
            saved = yield from _of_call(run, saved)
        saved = completed(run, saved)
    if run.checkpoint_id is not None:
        newest: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, run.ns))
        run.newest_id = newest.checkpoint["id"] if newest is not None else None
        if newest is not None and run.newest_id != run.checkpoint_id:
            run.left = left_behind(pending.by_task(newest.pending_writes))
    if saved is None and run.checkpoint_id is not None:
        raise InvalidInput(
            f"Thread {run.thread_id!r} has no checkpoint {run.checkpoint_id!r} in namespace {run.ns!r}. "
            "Take a config from get_state_history(config)."
        )
    return saved


def _of_call(run: Run, head: CheckpointTuple | None) -> Steps[CheckpointTuple | None]:
    """Where the task stands in a graph that remembers, if it has called it before; else what the graph knows by now.

    Other tasks may have called the graph since; but what they did in this run comes after all that this one did before.
    """
    at = run.heads.setdefault(run.ns, head)
    if head is None or run.continues is None or run.continues(head):
        return head
    if (own := (yield from _own_turn(run))) is not None:
        run.newest_id = run.newest_id or head.checkpoint["id"]
        return own
    while at is not None and _is_since(at, run.since or run.parents.get("", "")):
        if run.continues(at):
            run.newest_id = run.newest_id or head.checkpoint["id"]
            return at
        at = yield Load(checkpoint_config(run.thread_id, run.ns), before=at.config)
    return (yield from _without_halves(run, head))


def _own_turn(run: Run) -> Steps[CheckpointTuple | None]:
    """Where the task stands that has called a graph in this very run, and is tried again in the middle of its turn."""
    id, unstored = run.turns.get((run.ns, run.called_by), ("", None))
    if not id:
        return None
    saved: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, run.ns, id))
    at = saved or copied(unstored)
    return at if at is not None and _is_half(run, at) else None


def _without_halves(run: Run, head: CheckpointTuple) -> Steps[CheckpointTuple | None]:
    """What a graph that remembers knows by now, without turns that others of this step are in the middle of.

    Nor those of tasks that wait beside it; one of these may be what the task itself was before the thread went back.
    """
    at: CheckpointTuple | None = head
    while at is not None and _is_half_of_another(run, at):
        run.newest_id = run.newest_id or head.checkpoint["id"]
        at = yield from _before(run, at)
        if at is not None and run.branched_off is not None:
            at = yield from recalled(at, run.branched_off)
    return at


def _before(run: Run, at: CheckpointTuple) -> Steps[CheckpointTuple | None]:
    """What such a graph came to before, by its place in time: retention may have removed what it stands on."""
    saved: CheckpointTuple | None
    if (unstored := before(run, at)) is None:
        saved = yield Load(checkpoint_config(run.thread_id, run.ns), before=at.config)
        return saved
    saved = yield Load(unstored.config)
    return saved or copied(unstored)


def _is_half_of_another(run: Run, at: CheckpointTuple) -> bool:
    """Whether a task that works or waits beside this one is in the middle of its turn at a checkpoint."""
    root_id, around = run.parents.get("", ""), tasks_around(at)
    is_beside = _is_since(at, root_id) or not run.waiting.isdisjoint(around)
    if is_beside and at.metadata.get("source") == "update" and run.waiting.isdisjoint(around):
        # What a person told since counts, unless that was about a turn of this step.
        is_beside = any(place_in_step(id, root_id) for id in around)
    return is_beside and _is_half(run, at)


def _is_half(run: Run, at: CheckpointTuple) -> bool:
    """Whether something is still to be done at a checkpoint."""
    state = restored(run.program, at, run.ns)
    return bool(state.gone) or has_more(run.program, state)


def _is_since(at: CheckpointTuple, root_id: str) -> bool:
    """Whether a nested graph made a checkpoint after one of the root: so its id says, or where the root stood then.

    A task that waits beside others may have made it, whose root is an older one.
    """
    return max(at.checkpoint["id"], at.metadata.get("parents", {}).get("", "")) >= root_id


def _take(run: Run, saved: CheckpointTuple | None, standing: Standing, input: Any) -> None:
    """Get ready to take the thread, as it was seen; if another run has it, say so."""
    if standing.holder is not None and not standing.is_expired:
        raise _busy(run, saved, standing.holder, input)
    run.lease = Lease(run.thread_id, run.holder, standing.seen)


def _busy(run: Run, saved: CheckpointTuple | None, holder: str, input: Any) -> SignoffError:
    """Why the thread cannot be had: for an answer, because it was given already, if that is so."""
    if saved is not None and isinstance(input, Command):
        refusal = answers.already_given(input.resume, pending.by_task(saved.pending_writes).answers)
        if refusal is not None:
            return refusal
    return ThreadBusy(
        f"Another run has thread {run.thread_id!r} just now: {run.terms.shown_holder(holder)}. "
        "Try again when it has ended; what it asks then is in get_state(config).interrupts."
    )
