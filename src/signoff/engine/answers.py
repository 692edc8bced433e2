"""Answers: which question a resume value is for, and whether it may have it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypedDict

from signoff import forms
from signoff._reprs import repr_of, short_repr
from signoff._words.questions import Interrupt
from signoff.constants import MISSING
from signoff.engine.ids import is_question_id
from signoff.engine.origin import Origin
from signoff.errors import AlreadyAnswered, InvalidAnswer

Open = Mapping[str, Interrupt[Any]]
"""Questions by their ids, in the order in which they were asked."""

SHOWN_OF_ID = 8
"""How much of an id a terminal shows."""


class Answer(TypedDict, total=False):
    """An answer as it is stored."""

    value: Any
    by: str | None
    at: str
    """When it was given."""
    asked: Origin | None
    """The question that it was given to; none for a question with a key."""
    shown: str
    told: str
    """The id of what the caller told the state in the same breath."""
    key: str
    """The key of the question, if it has one; and then a digest of what was asked, too."""
    payload: str
    path: str
    """Where such a question was asked, and when, for the history."""
    asked_at: str
    after: str
    """A digest of what the graphs came to that its task had called before, for the same."""
    step: int
    seen: int
    """What the task knew of the state as it asked, for the same."""
    first: str
    left: dict[str, list[str]]
    """What was asked in its place, before others have changed the state, and behind it, for the same."""


OF_ORIGIN: Final = ("after", "step", "seen", "first", "left")
"""What is stored of where a question with a key comes from, beside its words."""


def origin_of(answer: Answer) -> Origin:
    """The question that an answer was given to, as far as that is stored."""
    if (asked := answer.get("asked")) is not None:
        return asked
    asked = Origin(payload=answer.get("payload", ""), shown=answer.get("shown", ""))
    asked["path"], asked["at"] = answer.get("path", ""), answer.get("asked_at", "")
    for name in OF_ORIGIN:
        if name in answer:
            asked[name] = answer[name]
    return asked


def bind(resume: Any, questions: Open, *, checks_forms: bool = True) -> dict[str, Any]:
    """The answers by question: a mapping of ids or keys, or a bare value for the only open one. All fit, or none."""
    bound = _bound(resume, questions)
    for id, answer in bound.items():
        question = questions[id]
        if question.response_schema is not None:
            bound[id] = forms.as_data(answer)
            if checks_forms:
                _check(question, bound[id])
    return bound


def names_questions(resume: Any, questions: Open = MappingProxyType({})) -> bool:
    """Whether a resume value says which questions it is for: a dict whose keys are all ids, or keys of open ones."""
    if not isinstance(resume, dict) or not resume:
        return False
    others = [name for name in resume if not is_question_id(name)]
    return not others or {one.key for one in questions.values() if one.key is not None}.issuperset(others)


def _bound(resume: Any, questions: Open) -> dict[str, Any]:
    if names_questions(resume, questions):
        return _by_name(resume, questions)
    first = next(iter(questions), "")
    if len(questions) == 1:
        if isinstance(resume, dict):
            _refuse_half_named(resume, questions[first])
        return {first: resume}
    raise InvalidAnswer(
        f"{len(questions)} questions are open, so the answer needs the id of the one it is for: "
        f"Command(resume={{{first!r}: ...}}). {_unknown(resume, questions)}Open are: {_listed(questions)}."
        if questions
        else f"There is no open question to give the answer {repr_of(resume)} to. See get_state(config).interrupts."
    )


def _refuse_half_named(resume: dict[Any, Any], question: Interrupt[Any]) -> None:
    """Refuse a dict that names the only open question, and would still be handed over whole."""
    names = [name for name in resume if isinstance(name, Interrupt) or is_short_for(name, question.id)]
    if not names:
        return
    others = [name for name in resume if name not in names]
    why = f"there is no open question {others[0]!r}" if others else "a question is named by the whole of its id"
    raise InvalidAnswer(
        f"The answer {repr_of(resume)} names {names[0]!r}, but {why}. Give the answer alone, or under its id: "
        f"Command(resume={{{question.id!r}: ...}}). Nothing was stored; the question is still open."
    )


def is_short_for(name: Any, id: str) -> bool:
    """Whether a name is the id of a question, or the beginning of it that a terminal shows."""
    return isinstance(name, str) and len(name) >= SHOWN_OF_ID and id.startswith(name)


def _unknown(resume: Any, questions: Open) -> str:
    """What to say of a dict that names some questions, and something else."""
    names = resume if isinstance(resume, dict) else {}
    wrong = [name for name in names if not names_questions({name: None}, questions)]
    return f"None has the id or key {', '.join(map(repr, wrong))}. " if wrong else ""


def _by_name(resume: dict[str, Any], questions: Open) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    for name, value in resume.items():
        meant = [name] if name in questions else [id for id, question in questions.items() if question.key == name]
        if len(meant) != 1:
            raise InvalidAnswer(
                f"There is no open question {name!r}{_by_now(name, questions)}. "
                f"Open are: {_listed(questions) or 'none'}. See get_state(config).interrupts."
                if not meant
                else f"{len(meant)} open questions have the key {name!r}: answer them by id: {_ids(questions, meant)}."
            )
        bound[meant[0]] = value
    return bound


def _by_now(name: str, questions: Open) -> str:
    """What to say of a question that says something else by now."""
    again = next((one for one in questions.values() if one.origin and one.origin.get("first") == name), None)
    return f": the state was changed, and {shown(again.value)} is asked in its place" if again else ""


def _check(question: Interrupt[Any], answer: Any) -> None:
    assert question.response_schema is not None, "asked only for a question with a form"
    refused = forms.refusal(question.response_schema, answer)
    if refused is not None:
        raise InvalidAnswer(
            f"The answer {repr_of(answer)} to {shown(question.value)} was refused: {refused}. The question "
            f"{question.id!r} is still open; get_state(config).interrupts[...].response_schema says what it accepts."
        )


def already_given(resume: Any, given: dict[str, Answer]) -> AlreadyAnswered | None:
    """The refusal of an answer, if another one was stored before it."""
    if resume is MISSING or not given:
        return None
    by_key = {answer["key"]: id for id, answer in given.items() if "key" in answer}
    names = resume if isinstance(resume, dict) else {}
    meant = next((by_key.get(name, name) for name in names if name in given or name in by_key), None)
    if meant is None and names_questions(resume):
        return None
    question_id = max(given, key=lambda id: given[id].get("at", "")) if meant is None else meant
    return taken(question_id, given[question_id])


def taken(question_id: str, answer: Answer) -> AlreadyAnswered:
    """The error for a question that was answered before."""
    who = answer.get("by") or "somebody"
    return AlreadyAnswered(
        f"Question {question_id!r} ({answer.get('shown')}) was answered by {who} at {answer.get('at')}. That answer "
        "stands; see what is open now with get_state(config).interrupts. If its run was cut off, invoke(None, config) "
        "goes on with it."
    )


def shown(value: Any) -> str:
    """The beginning of a payload, for people."""
    return short_repr(value, 60)


def _ids(questions: Open, meant: Iterable[str]) -> str:
    return ", ".join(f"{id!r} ({shown(questions[id].value)})" for id in meant)


def _listed(questions: Open) -> str:
    return ", ".join(f"{one.key or one.id!r} ({shown(one.value)})" for one in questions.values())
