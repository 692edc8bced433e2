"""Finding open questions: over all threads, oldest first, page by page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signoff.checkpoint.places import thread_name
from signoff.checkpoint.questions import Question, Wanted
from signoff.errors import InvalidAnswer, InvalidInput
from signoff.inbox.asking import Ask
from signoff.inbox.page import Page, cursor_of
from signoff.inbox.scanning import scan
from signoff.steps import Steps


def find(saver: Any, wanted: Wanted) -> Steps[Sequence[Question]]:
    """The open questions that are wanted, from the index if there is one."""
    if getattr(saver, "has_questions", False):
        return (yield Ask("find_questions", wanted))  # type: ignore[no-any-return]
    return (yield from scan(saver, wanted))


def find_one(saver: Any, question_id: str, thread_id: str | None = None) -> Steps[Question | None]:
    """An open question by its id. A copied thread asks what the other one asks: then the thread must be said, too."""
    check_id(question_id)
    thread_id = None if thread_id is None else thread_name(thread_id)
    found = yield from find(saver, Wanted(id=question_id, thread_id=thread_id, limit=2))
    if len(found) > 1:
        threads = " and ".join(repr(one.thread_id) for one in found)
        raise InvalidAnswer(
            f"Question {question_id!r} is open in {threads}, of which one is a copy of the other. Say which is meant: "
            f"thread_id={found[0].thread_id!r}."
        )
    return found[0] if found else None


def check_id(question_id: Any) -> None:
    """Refuse what is no id of a question."""
    if not isinstance(question_id, str):
        raise InvalidInput(f"A question is named by its id, question.id, and not by {question_id!r}.")


def find_page(saver: Any, wanted: Wanted, namespace: str | None) -> Steps[Page]:
    """A page of open questions; of one namespace, if it is given."""
    size = wanted.limit
    found: list[Question] = []
    if size == 0:
        return Page()
    while True:
        more = list((yield from find(saver, replace(wanted, limit=None if size is None else size + 1))))
        fitting = _fitting(more, namespace)
        if size is None or len(more) <= size or len(found) + len(fitting) > size:
            found += fitting
            break
        # What does not fit does not count: look further, from the last one that was seen.
        seen = (yield from _whole(saver, wanted, more)) or more[-1:]  # copied threads may be gone by now
        found += _fitting(seen, namespace)
        wanted = replace(wanted, after=_place(seen[-1]))
    if size is None or len(found) <= size:
        return Page(tuple(found))
    return (yield from _cut(saver, wanted, found, size))


def _fitting(questions: Sequence[Question], namespace: str | None) -> list[Question]:
    return [question for question in questions if namespace is None or namespace_of(question) == namespace]


# Copies of one question, in copied threads, have the same place in the order. They are not parted, since a cursor can
# only stand behind all of them.


def _whole(saver: Any, wanted: Wanted, found: list[Question]) -> Steps[list[Question]]:
    """Questions up to a place of which all are there."""
    whole = [one for one in found if _place(one) != _place(found[-1])]
    return whole or list((yield from _twins(saver, wanted, found[-1])))


def _cut(saver: Any, wanted: Wanted, found: list[Question], size: int) -> Steps[Page]:
    """The page, if there are more than fit."""
    shown, last = found[:size], found[size - 1]
    if _place(found[size]) != _place(last):
        return Page(tuple(shown), cursor_of(last))
    twins = yield from _twins(saver, wanted, last)
    rest = yield from find(saver, replace(wanted, after=_place(last), limit=1))
    shown = [*(one for one in shown if _place(one) != _place(last)), *twins]
    return Page(tuple(shown), cursor_of(last) if rest else None)


def _twins(saver: Any, wanted: Wanted, question: Question) -> Steps[list[Question]]:
    same = yield from find(saver, replace(wanted, id=question.id, after=None, limit=None))
    return [one for one in same if _place(one) == _place(question)]


def _place(question: Question) -> tuple[str, str]:
    return question.asked_at, question.id


def namespace_of(question: Question) -> str:
    """The names of the nodes around the one that asked, from the root: `review` for `review|manager`."""
    return question.path.rpartition("|")[0]
