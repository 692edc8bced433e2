"""Answers: which question a resume value is for."""

from collections.abc import Sequence
from typing import Any

from signoff.engine.ids import is_question_id
from signoff.errors import InvalidAnswer
from signoff.types import Interrupt


def bind(resume: Any, questions: Sequence[Interrupt[Any]]) -> dict[str, Any]:
    """The answers by question: a mapping of ids, or a bare value for the only open one."""
    if is_answer_map(resume):
        return _by_id(resume, questions)
    if len(questions) == 1:
        return {questions[0].id: resume}
    raise InvalidAnswer(
        f"{len(questions)} questions are open, so the answer needs the id of the one it is for: "
        f"Command(resume={{{questions[0].id!r}: ...}}). Open are: {_listed(questions)}."
        if questions
        else f"There is no open question to give the answer {resume!r} to. See get_state(config).interrupts."
    )


def is_answer_map(resume: Any) -> bool:
    """Whether a resume value names its questions: a dict whose keys are all question ids."""
    return isinstance(resume, dict) and bool(resume) and all(map(is_question_id, resume))


def _by_id(resume: dict[str, Any], questions: Sequence[Interrupt[Any]]) -> dict[str, Any]:
    known = {question.id for question in questions}
    for question_id in resume:
        if question_id not in known:
            raise InvalidAnswer(
                f"There is no open question {question_id!r}. Open are: {_listed(questions) or 'none'}. "
                "See get_state(config).interrupts."
            )
    return dict(resume)


def _listed(questions: Sequence[Interrupt[Any]]) -> str:
    return ", ".join(f"{question.id!r} ({_short(question.value)})" for question in questions)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
