"""Filing: questions as the index of open ones has them."""

from collections.abc import Collection, Iterable
from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Filing, Question
from signoff.engine.pending import Questions
from signoff.engine.run import Run
from signoff.engine.task import Outcome


def filed_question(run: Run, node: str, question: Interrupt[Any]) -> Question:
    """A question that a task of the root asks, itself or for a graph nested in it."""
    origin = question.origin or {}
    path, asked_at = origin.get("path") or node, origin.get("at") or run.terms.now()
    return Question(question.id, run.thread_id, run.program.name, path, asked_at, question)


def filed(run: Run, asked: dict[str, Questions], closed: Collection[str], paused: Iterable[Outcome]) -> Filing:
    """What tasks of the root ask, for the index of open questions; what they asked before is closed.

    asked: what tasks have asked so far. What they ask now takes its place.
    closed: the questions that are not in the index any more.
    """
    closing: dict[str, None] = {}
    filing: list[Question] = []
    for outcome in paused:
        task, questions = outcome.task, outcome.questions or outcome.beside
        before = asked.get(task.id, ())
        closing.update((question.id, None) for question in before if question.id not in closed)
        asked[task.id] = questions
        edited = {question.id for question in before if "is_edited" in (question.origin or ())}
        for question in questions:
            filing.append(filed_question(run, task.node.name, question))
            if question.id not in edited:  # else it may say something else than the one that is filed
                closing.pop(question.id, None)
    return Filing(filing, list(closing))
