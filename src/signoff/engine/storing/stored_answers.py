"""Answers as they are stored, by a run or without one, and what the writes of a checkpoint say of them."""

from collections.abc import Sequence
from typing import Any

from signoff._reprs import repr_of
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Commit, Filing, TaskWrites
from signoff.constants import RESUME
from signoff.engine import answers, ids
from signoff.engine.answers import Answer
from signoff.engine.origin import Origin
from signoff.engine.pending import Pending, all_asked
from signoff.errors import InvalidInput


class StoredAnswer(Answer, total=False):
    """An answer, and what else is kept with it."""

    graph: str
    """The name of the graph whose thread it is, for whoever looks for threads to continue."""
    request: str
    """The request that brought it, so that the same one is not taken twice."""


def answer_record(
    question: Interrupt[Any],
    value: Any,
    *,
    at: str,
    graph: str,
    by: str | None,
    request: str | None = None,
    told: str = "",
) -> TaskWrites:
    """An answer as it is stored: one for each question, so that a second one shows."""
    origin = question.origin or {}
    asked = None if question.key is not None and "is_edited" not in origin else question.origin
    shown = answers.shown(question.value)
    answer: StoredAnswer = {"value": value, "at": at, "asked": asked, "shown": shown, "graph": graph}
    if question.key is not None:
        answer["key"], answer["payload"] = question.key, origin.get("payload", "")
        answer["path"], answer["asked_at"] = origin.get("path", ""), origin.get("at", "")
        for name in answers.OF_ORIGIN:
            if name in origin:
                answer[name] = origin[name]
    if told:
        answer["told"] = told
    if by is not None:
        if not isinstance(by, str):
            raise InvalidInput(f"by is {repr_of(by)}. Say who answers with a text, such as by='ana'.")
        answer["by"] = by
    if request is not None:
        answer["request"] = request
    return TaskWrites(ids.answer_id(question.id), [(RESUME, {question.id: answer})])


def answer_commit(place: tuple[str, str, str], records: Sequence[TaskWrites], answered: Sequence[str]) -> Commit:
    """Answers on their own, kept with the checkpoint that asked; their questions are not open any more."""
    return Commit(place, records, filing=Filing(closed=list(answered)))


def open_at(known: Pending) -> dict[str, Interrupt[Any]]:
    """The questions that are open at a checkpoint, as far as its writes tell: without the program that asked."""
    given = known.answers
    return {question.id: question for question in _asked(known) if question.id not in given}


def undelivered(known: Pending) -> dict[str, StoredAnswer]:
    """The answers that were stored, and that no run has handed to their question yet."""
    given: Any = known.answers
    return {question.id: given[question.id] for question in _asked(known) if question.id in given}


def unfinished(known: Pending) -> dict[str, StoredAnswer]:
    """Those of them that nothing has come of: no run has taken them, or one was cut off. A failure is an end, too."""
    failed = {question.id for id in known.errors for question in known.asked.get(id, ())}
    return {id: answer for id, answer in undelivered(known).items() if id not in failed}


def left_behind(known: Pending) -> list[str]:
    """The questions of a checkpoint that whoever goes back leaves there: open, or answered and not gone on with."""
    return [*open_at(known), *unfinished(known)]


def replaced(known: Pending) -> list[str]:
    """The questions in whose places others were asked, since they say something else by now; and nobody has answered
    them before."""
    asked = {one.id: one.origin or Origin() for one in all_asked(known)}
    origins = {**{id: answers.origin_of(answer) for id, answer in known.answers.items()}, **asked}
    later = [(id, origin["first"]) for id, origin in origins.items() if "first" in origin]
    before = dict.fromkeys(one for id, first in later for one in ids.asked_before(id, first))
    return [id for id in before if id not in origins]


def mark(request: str) -> str:
    """The key of the metadata that says which request a checkpoint comes from."""
    return f"request:{request}"


def marks_of(known: Pending) -> dict[str, Any]:
    """What the run that goes on from a checkpoint notes in its metadata: the requests that brought its answers."""
    given: Any = known.answers.values()
    return {mark(answer["request"]): True for answer in given if "request" in answer}


def _asked(known: Pending) -> list[Interrupt[Any]]:
    """What unfinished tasks wait for."""
    waiting = known.waiting()
    return [question for task_id, questions in known.asked.items() if task_id in waiting for question in questions]
