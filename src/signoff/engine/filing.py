"""Filing: questions as the index of open ones has them."""

from typing import Any

from signoff.checkpoint.base import Question
from signoff.engine.run import Run
from signoff.types import Interrupt


def filed_question(run: Run, node: str, question: Interrupt[Any]) -> Question:
    """A question that a task of the root asks, itself or for a graph nested in it."""
    origin = question.origin or {}
    path, asked_at = origin.get("path") or node, origin.get("at") or run.terms.now()
    return Question(question.id, run.thread_id, run.program.name, path, asked_at, question)
