"""Savers without an index of open questions: look through their threads, and say once that this is slow."""

import warnings
from collections.abc import Callable
from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.questions import Question, Wanted
from signoff.constants import CHECKPOINT_NS, CONF, THREAD_ID
from signoff.engine import pending
from signoff.engine.storing.stored_answers import open_at
from signoff.inbox.asking import Walk
from signoff.steps import Steps


class NoQuestionIndex(UserWarning):
    """The saver keeps no index of open questions, so that the inbox looks through all threads."""


_told: set[type] = set()
"""The kinds of savers of which it was said."""


def scan(saver: Any, wanted: Wanted) -> Steps[list[Question]]:
    """The open questions that are wanted, found by looking at the head of every thread."""
    _tell(saver)
    found: list[Question] = []
    yield from heads(saver, lambda head: found.extend(filter(wanted.has, questions_at(head))), wanted.thread_id)
    found.sort(key=lambda question: (question.asked_at, question.id))
    return found if wanted.limit is None else found[: wanted.limit]


def heads(saver: Any, visit: Callable[[CheckpointTuple], Any], thread_id: str | None = None) -> Steps[None]:
    """Visit the newest checkpoint of each thread, those that changed last first, until a visit returns True."""
    seen: set[str] = set()

    def see(saved: CheckpointTuple) -> bool:
        place = saved.config[CONF]
        if place[THREAD_ID] in seen or place.get(CHECKPOINT_NS):
            return False
        seen.add(place[THREAD_ID])
        return visit(saved) is True

    if thread_id is not None:
        yield Walk(checkpoint_config(thread_id, ""), see, {"limit": 1})
    else:
        yield Walk(None, see, is_of_heads=hasattr(saver, "heads"))


def questions_at(saved: CheckpointTuple) -> list[Question]:
    """The questions that are open at the head of a thread."""
    return [_question(saved, one) for one in open_at(pending.by_task(saved.pending_writes)).values()]


def _question(saved: CheckpointTuple, asked: Interrupt[Any]) -> Question:
    """A question by what is stored with it. One that LangGraph has stored tells nothing of where and when."""
    origin = asked.origin or {}
    graph, path, at = origin.get("graph") or "", origin.get("path") or "?", origin.get("at") or saved.checkpoint["ts"]
    return Question(asked.id, saved.config[CONF][THREAD_ID], graph, path, at, asked)


def _tell(saver: Any) -> None:
    if type(saver) in _told:
        return
    _told.add(type(saver))
    warnings.warn(
        f"{type(saver).__name__} keeps no index of open questions: the inbox looks through all of its threads, which "
        "takes the longer the more there are. Use InMemorySaver, SqliteSaver, PostgresSaver or RedisSaver.",
        NoQuestionIndex,
        stacklevel=2,
    )
