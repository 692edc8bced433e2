"""Filing: questions as the index of open ones has them."""

from typing import Any

from signoff.checkpoint.base import Question
from signoff.engine.run import Run
from signoff.types import Interrupt


def filed_question(run: Run, node: str, question: Interrupt[Any]) -> Question:
    """A question that a task of the root asks, itself or for a graph nested in it."""
    path = (question.origin or {}).get("path") or node
    return Question(question.id, run.thread_id, run.program.name, path, run.terms.now(), question)
