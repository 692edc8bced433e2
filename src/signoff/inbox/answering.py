"""Answering: an answer is checked and stored, in one transaction, before any run starts."""

from typing import Any

from signoff._words.commands import Command
from signoff.checkpoint.answered import note_id, note_of
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.ids import now
from signoff.checkpoint.places import thread_name
from signoff.checkpoint.questions import NOTE, Filing, Question, Wanted
from signoff.config import RunnableConfig
from signoff.constants import CONF, THREAD_ID
from signoff.engine import answers, pending
from signoff.engine.ids import is_question_id
from signoff.engine.storing.stored_answers import answer_commit, answer_record, open_at, replaced
from signoff.errors import InvalidAnswer, SignoffError, ThreadMoved
from signoff.inbox.asking import Ask, Walk, look, refuse_if_held, take_and_store
from signoff.inbox.finding import check_id, find_one
from signoff.steps import Steps

MOST_SEARCHED = 1000
"""How many checkpoints are searched for an answer that was given before, if the thread is not known."""


def answer(
    saver: Any, question_id: str, value: Any, by: str | None, thread_id: str | None, request: str | None = None
) -> Steps[Question]:
    """Store an answer. If the thread moves between looking and storing, look again."""
    check_id(question_id)
    if isinstance(value, Command):
        raise InvalidAnswer(f"The answer is {value!r}. Give its value itself, without Command.")
    if isinstance(value, dict) and question_id in value:
        raise InvalidAnswer(f"The answer is {value!r}. Give its value itself, without the id of the question.")
    while True:
        try:
            return (yield from _answer(saver, question_id, value, by, thread_id, request))
        except ThreadMoved:
            pass


def _answer(
    saver: Any, question_id: str, value: Any, by: str | None, thread_id: str | None, request: str | None
) -> Steps[Question]:
    question = yield from find_one(saver, question_id, thread_id)
    if question is None:
        raise (yield from refusal(saver, question_id, thread_id))
    saved, standing = yield from look(saver, checkpoint_config(question.thread_id, ""))
    known = pending.by_task(saved.pending_writes if saved else ())
    asked = open_at(known)
    if question_id in known.answers:
        raise answers.taken(question_id, known.answers[question_id])
    not_answered = f"Question {question_id!r} was not answered; try again when the run has ended."
    refuse_if_held(question.thread_id, standing, not_answered)
    if saved is None or question_id not in asked:
        raise (yield from refusal(saver, question_id, question.thread_id))
    value = answers.bind({question_id: value}, asked)[question_id]
    record = answer_record(asked[question_id], value, at=now(), graph=question.graph, by=by, request=request)
    commit = answer_commit((question.thread_id, "", saved.checkpoint["id"]), [record], [question_id])
    if getattr(saver, "has_questions", False):
        commit.filing = Filing([note_of(question)], [question_id])
    yield take_and_store(question.thread_id, standing, [commit])
    return question


def refusal(saver: Any, question_id: str, thread_id: str | None) -> Steps[SignoffError]:
    """Why a question cannot be answered: who was first, or that it was dropped, or that nobody knows it."""
    check_id(question_id)
    reasons: list[SignoffError] = []
    seen = 0

    def see(saved: CheckpointTuple) -> bool:
        nonlocal seen
        seen += 1
        known = pending.by_task(saved.pending_writes)
        answered = next((id for id in known.answers if _is_meant(id, question_id)), None)
        if answered is not None:
            reasons.append(answers.taken(answered, known.answers[answered]))
        elif question_id in saved.metadata.get("discarded", ()):
            reasons.append(_dropped(question_id, saved))
        elif question_id in replaced(known):
            reasons.append(_replaced(question_id, saved))
        return bool(reasons)

    where = (yield from _answered_in(saver, question_id)) if thread_id is None else thread_name(thread_id)
    place: RunnableConfig | None = None if where is None else {CONF: {THREAD_ID: where}}
    yield Walk(place, see, {"limit": MOST_SEARCHED} if where is None else {})
    return reasons[0] if reasons else _unknown(question_id, thread_id, where is None and seen == MOST_SEARCHED)


def _is_meant(id: str, question_id: str) -> bool:
    """Whether somebody who names a question so means this one: by its id, or by what a terminal shows of it."""
    return id == question_id or answers.is_short_for(question_id, id)


def _answered_in(saver: Any, question_id: str) -> Steps[str | None]:
    """The thread that has an answer to a question, if no run has taken that yet; only savers with an index know."""
    if not getattr(saver, "has_questions", False):
        return None
    id = note_id(question_id) if is_question_id(question_id) else None
    notes = yield Ask("find_questions", Wanted(id=id, answered=True, limit=None))
    return next((note.thread_id for note in notes if _is_meant(note.id.removesuffix(NOTE), question_id)), None)


def _dropped(question_id: str, saved: CheckpointTuple) -> InvalidAnswer:
    thread_id, at = saved.config[CONF][THREAD_ID], saved.checkpoint["ts"]
    return InvalidAnswer(
        f"Question {question_id!r} is not open any more: new input, an update or a fork of thread "
        f"{thread_id!r} dropped it at {at}. "
        f"See what is open with Inbox(saver).open(thread_id={thread_id!r})."
    )


def _replaced(question_id: str, saved: CheckpointTuple) -> InvalidAnswer:
    thread_id = saved.config[CONF][THREAD_ID]
    return InvalidAnswer(
        f"Question {question_id!r} is not open any more: the state of thread {thread_id!r} was changed, and another "
        f"one was asked in its place. See what is open with Inbox(saver).open(thread_id={thread_id!r})."
    )


def _unknown(question_id: str, thread_id: str | None, is_cut: bool) -> InvalidAnswer:
    """is_cut: whether there are more checkpoints than were looked through."""
    where = "" if thread_id is None else f" in thread {thread_id!r}"
    searched = f" in the newest {MOST_SEARCHED} checkpoints; say which thread it is of, to look there" if is_cut else ""
    return InvalidAnswer(
        f"There is no open question {question_id!r}{where}, and no answer to it was found{searched}. "
        "See what is open with Inbox(saver).open()."
    )
