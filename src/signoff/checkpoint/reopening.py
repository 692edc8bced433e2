"""What a thread asks once its newest checkpoints were removed: that of the checkpoint before is open again."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.base import PendingWrite
from signoff.checkpoint.questions import NOTE, Question
from signoff.constants import ERROR, ERROR_SOURCE, INTERRUPT, RESUME

__all__ = ["asked_again", "graph_of"]

_UNFINISHED = {INTERRUPT, ERROR, ERROR_SOURCE}
"""What a task leaves that has not finished."""


def asked_again(thread_id: str, graph: str, ts: str, writes: Iterable[PendingWrite]) -> list[Question]:
    """The open questions of a checkpoint, by what is kept with it; as the index has them."""
    by_task: dict[str, dict[str, Any]] = {}
    given: set[str] = set()
    for task_id, channel, value in writes:
        if channel == RESUME:
            given |= value.keys() if isinstance(value, dict) else set()
        else:
            by_task.setdefault(task_id, {})[channel] = value
    asking = (kept[INTERRUPT] for kept in by_task.values() if INTERRUPT in kept and kept.keys() <= _UNFINISHED)
    questions = (one for asked in asking for one in _as_tuple(asked) if isinstance(one, Interrupt))
    return [_question(thread_id, graph, ts, one) for one in questions if one.id not in given]


def _as_tuple(asked: Any) -> Sequence[Any]:
    return asked if isinstance(asked, list | tuple) else (asked,)


def graph_of(questions: Sequence[Question]) -> str:
    """The name of the graph whose thread it is, if the index had anything of it."""
    return next((question.graph.removeprefix(NOTE) for question in questions), "")


def _question(thread_id: str, graph: str, ts: str, interrupt: Interrupt[Any]) -> Question:
    origin = interrupt.origin or {}
    return Question(interrupt.id, thread_id, graph, origin.get("path") or "?", origin.get("at") or ts, interrupt)
