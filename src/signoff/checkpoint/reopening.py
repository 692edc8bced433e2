"""What a thread asks by what is stored in it, where nobody has told the index of open questions.

So it is when its newest checkpoints were removed: what the one before asks is open again. And so it is with what came
piece by piece, by `put` and `put_writes`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from signoff._words.questions import Interrupt
from signoff.checkpoint.answered import note_id, note_of
from signoff.checkpoint.base import CheckpointTuple, Commit, PendingWrite, checkpoint_config
from signoff.checkpoint.questions import NOTE, Filing, Question, Wanted
from signoff.constants import ERROR, ERROR_SOURCE, INTERRUPT, RESUME
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["Ask", "asked_again", "filing_with", "graph_of"]

_UNFINISHED = {INTERRUPT, ERROR, ERROR_SOURCE}
"""What a task leaves that has not finished."""


def asked_again(thread_id: str, graph: str, ts: str, writes: Sequence[PendingWrite]) -> list[Question]:
    """The open questions of a checkpoint, by what is kept with it; as the index has them."""
    by_task: dict[str, dict[str, Any]] = {}
    given = _answered(writes)
    for task_id, channel, value in writes:
        if channel != RESUME:
            by_task.setdefault(task_id, {})[channel] = value
    asking = (kept[INTERRUPT] for kept in by_task.values() if INTERRUPT in kept and kept.keys() <= _UNFINISHED)
    questions = (one for asked in asking for one in _as_tuple(asked) if isinstance(one, Interrupt))
    return [_question(thread_id, graph, ts, one) for one in questions if one.id not in given]


def _answered(writes: Iterable[PendingWrite]) -> set[str]:
    """The questions that were given an answer."""
    return {id for _, channel, value in writes if channel == RESUME and isinstance(value, dict) for id in value}


def _as_tuple(asked: Any) -> Sequence[Any]:
    return asked if isinstance(asked, list | tuple) else (asked,)


def graph_of(questions: Sequence[Question]) -> str:
    """The name of the graph whose thread it is, if the index had anything of it."""
    return next((question.graph.removeprefix(NOTE) for question in questions), "")


def _question(thread_id: str, graph: str, ts: str, interrupt: Interrupt[Any]) -> Question:
    origin = interrupt.origin or {}
    graph = origin.get("graph") or graph
    return Question(interrupt.id, thread_id, graph, origin.get("path") or "?", origin.get("at") or ts, interrupt)


class Ask(NamedTuple):
    """Call a method of a saver, or its async twin. Returns what it returns."""

    method: str
    args: tuple[Any, ...]


def filing_with(commit: Commit) -> Steps[Filing | None]:
    """What the index is to be told of what is about to be put, if anything: what the newest checkpoint asks is open."""
    thread_id, ns, _ = commit.place
    is_about_questions = any(name in _TELLING for _, writes, _ in commit.writes for name, _ in writes)
    if ns or not (commit.has_checkpoint or is_about_questions):
        return None
    try:
        before = yield Ask("find_questions", (Wanted(thread_id=thread_id, answered=None, limit=None),))
        if not before and not is_about_questions:
            return None
        head = yield Ask("get_tuple", (checkpoint_config(thread_id, ""),))
    except Undecodable:
        return None  # whoever goes on with the thread is told
    kept = _kept_then(commit, head)
    return None if kept is None else _filing(thread_id, before, *kept)


def _kept_then(commit: Commit, head: CheckpointTuple | None) -> tuple[str, Sequence[PendingWrite]] | None:
    """The time of the newest checkpoint, and what is kept with it, once a commit is stored; None if nothing changes."""
    newest, kept = (head.checkpoint["id"], head.pending_writes or ()) if head is not None else ("", ())
    if commit.checkpoint is not None:
        id, ts = commit.checkpoint["id"], commit.checkpoint["ts"]
        return None if id < newest else (ts, kept if id == newest else ())
    if head is None or commit.place[2] != newest:
        return None
    new = [(task_id, name, value) for task_id, writes, _ in commit.writes for name, value in writes]
    replaced = {one[:2] for one in new if one[1] in _TELLING}
    return head.checkpoint["ts"], [*(one for one in kept if one[:2] not in replaced), *new]


_TELLING = {INTERRUPT, RESUME}


def _filing(thread_id: str, before: Sequence[Question], ts: str, writes: Sequence[PendingWrite]) -> Filing | None:
    """What has to change in the index. An answer that is stored leaves a note, until a new checkpoint comes."""
    given = _answered(writes)
    asked = asked_again(thread_id, graph_of(before), ts, writes)
    asked += [note_of(one) for one in before if one.id in given]
    staying = {*(one.id for one in asked), *map(note_id, given)}
    known = {one.id for one in before}
    closed, new = [one.id for one in before if one.id not in staying], [one for one in asked if one.id not in known]
    return Filing(new, closed) if new or closed else None
