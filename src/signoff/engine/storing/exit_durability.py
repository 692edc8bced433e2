"""With `durability="exit"`: what nested runs leave to the run around them, so that all levels are stored in one go.

What a graph did that forgets is stored only if the step around it does not end well; what one did that remembers,
always. Until then the saver does not have it, so whoever calls such a graph again finds it here.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from signoff.checkpoint.base import CheckpointTuple, Commit, checkpoint_config
from signoff.constants import START
from signoff.engine.planning.plan import has_more
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.task import Record


def leave(run: Run, commits: list[Commit]) -> None:
    """Leave what a nested run has to store to the run around it; what one did that remembers, to the root.

    The turn of a graph that remembers may stand on one beside it, which the run around that has not come to an end of.
    """
    assert run.around is not None, "asked only of a nested run"
    kept = run.kept_memories if run.remembers else run.around.kept_nested
    move(commits, kept)
    move(run.kept_nested, kept)
    # If the run around tries again, the graphs inside of this one go on from there, too.
    (run.memories if run.remembers else run.around.stopped_nested).update(run.stopped_nested)


def leave_word(run: Run) -> None:
    """Tell the run around a nested one that has ended which answers nobody has taken: who says so may not be stored."""
    if run.around is not None and not run.remembers:
        run.around.unread.extend(run.unread)


def move(commits: list[Commit], to: list[Commit]) -> None:
    """Move commits from one list to another; other threads may be adding to both.

    A signal that is heard in between leaves them in both, and they are moved once more: see `once`.
    """
    moved = commits[:]
    to.extend(moved)
    del commits[: len(moved)]


def once(commits: Sequence[Commit]) -> list[Commit]:
    """Each of some commits once."""
    return list({id(commit): commit for commit in commits}.values())


def keep_as_it_is(run: Run, state: State) -> None:
    """See to it that nobody changes, in place, values that are stored only later."""
    if run.around is not None and run.remembers:
        state.values, state.changed = deepcopy((state.values, state.changed))


def remember(run: Run, state: State, commit: Commit, writes: Sequence[Record]) -> None:
    """Note where a nested run stands, for a run of the same graph that begins before it is stored."""
    around, moment = run.around, commit.moment
    assert around is not None, "asked only of a nested run"
    assert moment is not None, "asked only after a step"
    checkpoint: Any = moment.heading()
    unsaved = run.program.unsaved
    checkpoint["channel_values"] = {name: value for name, value in state.values.items() if name not in unsaved}
    checkpoint["channel_versions"] = state.versions or {START: state.newest or 1}
    parent_id = commit.place[2]
    stands = CheckpointTuple(
        checkpoint_config(run.thread_id, run.ns, state.checkpoint_id),
        checkpoint,
        moment.metadata(),  # type: ignore[arg-type]
        checkpoint_config(run.thread_id, run.ns, parent_id) if parent_id else None,
        [],
    )
    if run.remembers:
        _note_turn(run, stands, is_over=not has_more(run.program, state))
    (run.memories if run.remembers else around.stopped_nested)[run.ns] = stands
    if run.called_by:
        run.turns[run.ns, run.called_by] = state.checkpoint_id, stands._replace(pending_writes=[])
    add(run, state.checkpoint_id, writes)


def _note_turn(run: Run, stands: CheckpointTuple, *, is_over: bool) -> None:
    """Note where a turn of a graph that remembers stands, and forget what nobody looks for behind it.

    Turns side by side do this at once: each has a place of its own, and none is taken away that is still looked for.
    """
    turns = run.turns_since.setdefault(run.ns, {})
    turns[stands.checkpoint["id"]] = stands._replace(pending_writes=[]), is_over
    for id, (earlier, was_over) in turns.copy().items():
        is_own_half = not was_over and earlier.metadata.get("called_by") == run.called_by
        if id < stands.checkpoint["id"] and ((is_over and was_over) or is_own_half):
            turns.pop(id, None)


def before(run: Run, at: CheckpointTuple) -> CheckpointTuple | None:
    """What a graph that remembers came to before a checkpoint, if that was in this run.

    If that was forgotten just now, a turn beside has ended: what it came to is as good.
    """
    turns = list(run.turns_since.get(run.ns, {}).values())
    earlier = [one for one, _ in turns if one.checkpoint["id"] < at.checkpoint["id"]]
    found = earlier or [one for one, is_over in turns if is_over]
    return max(found, key=lambda one: one.checkpoint["id"]) if found else None


def add(run: Run, checkpoint_id: str, writes: Sequence[Record]) -> None:
    """Note what tasks of a nested run have come to since, unless another turn is the newest by now."""
    stands = _stands(run)
    if stands is not None and stands.checkpoint["id"] == checkpoint_id and stands.pending_writes is not None:
        stands.pending_writes.extend((task_id, *write) for task_id, made, _ in writes for write in made)


def remembered(run: Run) -> CheckpointTuple | None:
    """Where a nested run stands that is not stored yet."""
    return copied(_stands(run))


def copied(stands: CheckpointTuple | None) -> CheckpointTuple | None:
    """Where a nested run stands, to go on from: what it changes there in place, others do not see."""
    return None if stands is None else stands._replace(checkpoint=deepcopy(stands.checkpoint))


def completed(run: Run, saved: CheckpointTuple | None) -> CheckpointTuple | None:
    """Where a nested run goes on, with what tasks have come to there in this run, and the saver does not have yet."""
    if saved is None or run.around is None:
        return saved
    stands = _stands(run)
    if stands is not None and stands.checkpoint["id"] == saved.checkpoint["id"]:
        return saved  # it was told of all of it
    place = run.thread_id, run.ns, saved.checkpoint["id"]
    left = [*(commit for outer in _outwards(run) for commit in outer.kept_nested), *run.kept_memories]
    since = [commit.writes for commit in left if commit.place == place and not commit.has_checkpoint]
    more = [(task_id, *write) for records in since for task_id, made, _ in records for write in made]
    return saved._replace(pending_writes=[*(saved.pending_writes or ()), *more]) if more else saved


def _stands(run: Run) -> CheckpointTuple | None:
    places = [*(outer.stopped_nested for outer in _outwards(run)), run.memories]
    return next((place[run.ns] for place in places if run.ns in place), None)


def _outwards(run: Run) -> Iterator[Run]:
    """The runs around a nested one, the nearest first."""
    while run.around is not None:
        run = run.around
        yield run
