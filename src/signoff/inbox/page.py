"""A page of open questions."""

from collections.abc import Iterator
from dataclasses import dataclass

from signoff.checkpoint.questions import Question
from signoff.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Page:
    """Some open questions, oldest first."""

    questions: tuple[Question, ...] = ()
    cursor: str | None = None
    """What `open(after=...)` takes for the next page; None behind the last one."""

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, index: int) -> Question:
        return self.questions[index]


def cursor_of(question: Question) -> str:
    """The cursor behind a question."""
    return f"{question.asked_at}/{question.id}"


def behind(cursor: str | None) -> tuple[str, str] | None:
    """The (asked_at, id) that a cursor stands for."""
    if cursor is None:
        return None
    asked_at, slash, id = cursor.rpartition("/") if isinstance(cursor, str) else ("", "", "")
    if not slash or not id:
        raise InvalidInput(f"after={cursor!r} is no cursor. Take the one of the page before: page.cursor.")
    return asked_at, id
