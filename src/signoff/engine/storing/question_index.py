"""Filing: questions as the index of open ones has them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from signoff._tuples import made
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Filing, Question
from signoff.engine.pending import Questions
from signoff.engine.planning.error_handlers import is_handled
from signoff.engine.run import Run
from signoff.engine.task import Outcome


def filed_question(run: Run, node: str, question: Interrupt[Any]) -> Question:
    """A question that a task of the root asks, itself or for a graph nested in it."""
    origin = question.origin or {}
    path, asked_at = origin.get("path") or node, origin.get("at") or run.terms.now()
    return Question(question.id, run.thread_id, run.program.name, path, asked_at, question)


_NONE_OPEN = Filing(closed=None)
"""Nothing is open any more."""


class Index:
    """What a run knows of the questions of its thread that the index of open ones has."""

    __slots__ = ("_closed", "_run", "asked")

    def __init__(self, run: Run) -> None:
        self._run = run
        self.asked: dict[str, Questions] | None = {}
        """The questions that may be in it, by task; None if that is not known."""
        self._closed: Collection[str] = ()
        """Those of them that are not in it any more, since this run has brought the answers."""

    def see_closed(self, given: Collection[str]) -> None:
        """Note that questions have been answered: they are not in it any more."""
        self._closed = given

    def answered(self, task_ids: Iterable[str]) -> list[str]:
        """The questions of tasks that have finished."""
        asked = [question.id for task_id in task_ids for question in (self.asked or {}).pop(task_id, ())]
        return [id for id in asked if id not in self._closed]

    def not_asked_any_more(self, before: Iterable[str]) -> set[str]:
        """Those of the questions of a step in whose places its tasks have asked something else in this run."""
        if self.asked is None:
            return set()
        return {*before} - {question.id for questions in self.asked.values() for question in questions}

    def emptied(self) -> Filing | None:
        """What it is told when a step is over, and with it what its tasks asked."""
        if self._run.is_nested or self._run.ns:
            return None
        are_closed = self.asked is not None and all(
            question.id in self._closed for questions in self.asked.values() for question in questions
        )
        return None if are_closed else _NONE_OPEN

    def after(self, outcomes: Iterable[Outcome], paused: Sequence[Outcome]) -> Filing | None:
        """What it is told of outcomes: what is asked, and what is not asked any more.

        A task may be over without an answer to what it had asked: the state was changed, or its code.
        """
        asked, given = self.asked, self._run.answers
        if asked is None or not (paused or asked):
            return None
        if not asked:
            return self._filed(asked, paused)
        tasks = [outcome.task.id for outcome in outcomes if outcome.is_done or is_handled(outcome)]
        before = [one for id in tasks for one in asked.get(id, ())]
        over = [question.id for question in before if question.id not in given]
        if not paused:
            return Filing(closed=over) if over else None
        filing = self._filed(asked, paused)
        return Filing(filing.asked, [*(filing.closed or ()), *over])

    def _filed(self, asked: dict[str, Questions], paused: Iterable[Outcome]) -> Filing:
        """What tasks of the root ask now takes the place of what they asked before, which is closed."""
        closing: dict[str, None] = {}
        filing: list[Question] = []
        for outcome in paused:
            task, questions = outcome.task, outcome.questions or outcome.beside
            before = asked.get(task.id, ())
            asked[task.id] = questions
            edited: set[str] = set()
            for question in before:
                if question.id not in self._closed:
                    closing[question.id] = None
                if "is_edited" in (question.origin or ()):
                    edited.add(question.id)
            for question in questions:
                filing.append(filed_question(self._run, task.node.name, question))
                if question.id not in edited:  # else it may say something else than the one that is filed
                    closing.pop(question.id, None)
        return made(Filing, (filing, list(closing)))
