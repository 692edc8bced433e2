"""The index of open questions: what waits for an answer, over all threads."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from signoff._reprs import repr_of
from signoff._words.questions import Interrupt
from signoff._words.slots import setters_of
from signoff.checkpoint.serde.unread import Unread, is_showing
from signoff.errors import Undecodable

__all__ = ["Filing", "NOTE", "Question", "Wanted", "as_text", "read_interrupt"]

NOTE = ":answered:"
"""The node of a note, which stands in the place of a question that was answered; see `answered.py`.

No node has such a name."""


@dataclass(frozen=True, slots=True)
class Question:
    """An open question, as an inbox lists it."""

    id: str
    thread_id: str
    graph: str
    """The name of the graph whose thread it is."""
    path: str
    """The names of the nodes from the root to the one that asked: `review|manager`."""
    asked_at: str
    """When, as an ISO time in UTC, so that texts sort as times do."""
    interrupt: Interrupt[Any]

    def __init__(
        self, id: str, thread_id: str, graph: str, path: str, asked_at: str, interrupt: Interrupt[Any]
    ) -> None:
        # As a frozen dataclass does it, without looking each slot up by its name: a look at an inbox makes thousands.
        _set_id(self, id)
        _set_thread_id(self, thread_id)
        _set_graph(self, graph)
        _set_path(self, path)
        _set_asked_at(self, asked_at)
        _set_interrupt(self, interrupt)

    @property
    def node(self) -> str:
        """The node that asked."""
        return self.path.rpartition("|")[2]

    @property
    def value(self) -> Any:
        """What was asked."""
        return self.interrupt.value


_set_id, _set_thread_id, _set_graph, _set_path, _set_asked_at, _set_interrupt = setters_of(Question)


def read_interrupt(id: str, thread_id: str, read: Callable[[], Any]) -> Interrupt[Any]:
    """What a thread asks, by what reads it. If that fails, whoever only looks still sees that there is a question."""
    try:
        found = read()
        if isinstance(found, Interrupt):
            return found
        why = "It is broken or was changed."
    except Undecodable as error:
        why = str(error)
    refusal = Undecodable(why)
    refusal.say_where(thread_id, what=f"question {id!r}")
    if not is_showing():
        raise refusal
    return Interrupt(value=Unread("Interrupt", None, refusal), id=id)


class Filing(NamedTuple):
    """What a commit says about the open questions of its thread. First some are closed, then some are filed.

    One that is filed already stays as it is: a question keeps the time when it was asked first.
    """

    asked: Sequence[Question] = ()
    closed: Sequence[str] | None = ()
    """The ids of those that are not open any more; None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which open questions are wanted: those that fit all that is said here, oldest first."""

    id: str | None = None
    thread_id: str | None = None
    graph: str | None = None
    node: str | None = None
    asked_after: str | None = None
    asked_before: str | None = None
    text: str | None = None
    """Something that the payload says, in any case of letters."""
    answered: bool | None = False
    """Whether notes of answers that no run has taken yet are wanted, in place of open questions; None for both."""
    limit: int | None = 100
    after: tuple[str, str] | None = None
    """The (asked_at, id) of the last one of the page before."""

    def has(self, question: Question) -> bool:
        """Whether a question is wanted."""
        place = question.id, question.thread_id, question.graph, question.node, question.asked_at
        return self.fits(*place) and (self.text is None or self.text.casefold() in as_text(question.value))

    def fits(self, id: str, thread_id: str, graph: str, node: str, asked_at: str) -> bool:
        """Whether a question is wanted, as far as can be told without what it says."""
        return (
            self.id in (None, id)
            and self.thread_id in (None, thread_id)
            and self.graph in (None, graph)
            and self.node in (None, node)
            and self.answered in (None, node == NOTE)
            and (self.asked_after is None or asked_at > self.asked_after)
            and (self.asked_before is None or asked_at < self.asked_before)
            and (self.after is None or (asked_at, id) > tuple(self.after))
        )


def as_text(value: Any) -> str:
    """What a payload says, for a search."""
    shown = repr_of(value)
    if "\\" in shown:  # some characters are not in it as they are
        with suppress(RecursionError):
            shown = _said(value)
    return shown.casefold()


def _said(value: Any) -> str:
    """A payload with its texts as they are; but for halves of surrogate pairs, which no database takes."""
    match value:
        case str():
            return f"'{value.encode('utf-8', 'backslashreplace').decode()}'"
        case dict():
            return ", ".join(f"{_said(key)}: {_said(one)}" for key, one in value.items())
        case list() | tuple():
            return ", ".join(map(_said, value))
    return repr_of(value)
