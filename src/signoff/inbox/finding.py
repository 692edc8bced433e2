"""Finding open questions: over all threads, oldest first, page by page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signoff.checkpoint.questions import Question, Wanted
from signoff.inbox.asking import Ask
from signoff.inbox.page import Page, cursor_of
from signoff.inbox.scanning import scan
from signoff.steps import Steps


def find(saver: Any, wanted: Wanted) -> Steps[Sequence[Question]]:
    """The open questions that are wanted, from the index if there is one."""
    if getattr(saver, "has_questions", False):
        return (yield Ask("find_questions", (wanted,)))  # type: ignore[no-any-return]
    return (yield from scan(saver, wanted))


def find_one(saver: Any, question_id: str, thread_id: str | None = None) -> Steps[Question | None]:
    """An open question by its id."""
    found = yield from find(saver, Wanted(id=question_id, thread_id=thread_id, limit=1))
    return found[0] if found else None


def find_page(saver: Any, wanted: Wanted, namespace: str | None) -> Steps[Page]:
    """A page of open questions; of one namespace, if it is given."""
    size = wanted.limit
    found: list[Question] = []
    while True:
        more = yield from find(saver, replace(wanted, limit=None if size is None else size + 1))
        found += [question for question in more if namespace is None or namespace_of(question) == namespace]
        if size is None or len(found) > size or len(more) <= size:
            break
        # Those of other namespaces do not count: look further, from the last one that was seen.
        wanted = replace(wanted, after=(more[-1].asked_at, more[-1].id))
    shown = tuple(found if size is None else found[:size])
    return Page(shown, cursor_of(shown[-1]) if len(found) > len(shown) and shown else None)


def namespace_of(question: Question) -> str:
    """The names of the nodes around the one that asked, from the root: `review` for `review|manager`."""
    return question.path.rpartition("|")[0]
