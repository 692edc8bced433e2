"""Inbox: what waits for an answer, over all threads of a saver."""

from collections.abc import Sequence
from datetime import MINYEAR, UTC, datetime, timedelta
from typing import Any, TypeVar

from signoff.checkpoint.others import make_known
from signoff.checkpoint.places import checked_limit, thread_name
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.serde.unread import showing
from signoff.errors import InvalidInput, SignoffError
from signoff.inbox import answering, events, finding
from signoff.inbox import threads as listing
from signoff.inbox.asking import aperform, perform
from signoff.inbox.events import Event
from signoff.inbox.page import Page, behind
from signoff.inbox.threads import Thread
from signoff.steps import Steps, adrive, drive

__all__ = ["Inbox"]

T = TypeVar("T")


class Inbox:
    """The open questions of all threads that a saver keeps.

        inbox = Inbox(saver)
        for question in inbox.open(graph="refunds"):
            inbox.answer(question.id, {"decision": "approved"}, by="ana")

    An answer is stored, and runs nothing: `graph.resume_answered()` continues the threads, here or elsewhere.

    Args:
        saver: Where the threads are kept. One without an index of open questions is looked through, which is slow.
    """

    def __init__(self, saver: Any) -> None:
        self.saver = _checked_saver(saver)

    # Looking

    def open(
        self,
        *,
        graph: str | None = None,
        node: str | None = None,
        thread_id: str | None = None,
        namespace: str | None = None,
        older_than: timedelta | datetime | None = None,
        newer_than: timedelta | datetime | None = None,
        text: str | None = None,
        limit: int | None = 100,
        after: str | None = None,
    ) -> Page:
        """A page of what is open, oldest first.

        Args:
            graph: The name of the graph whose thread it is.
            node: The node that asked.
            thread_id: The thread.
            namespace: The names of the nodes around the one that asked: `review` for `review|manager`, "" for the root.
            older_than: How long ago it was asked at least, or before which time.
            newer_than: How long ago it was asked at most, or after which time.
            text: Something that the payload says, in any case of letters.
            limit: How many; None for all. Questions of copied threads are not parted, so it may be one or two more.
            after: The cursor of the page before.
        """
        return self._drive(self._page(graph, node, thread_id, namespace, older_than, newer_than, text, limit, after))

    async def aopen(
        self,
        *,
        graph: str | None = None,
        node: str | None = None,
        thread_id: str | None = None,
        namespace: str | None = None,
        older_than: timedelta | datetime | None = None,
        newer_than: timedelta | datetime | None = None,
        text: str | None = None,
        limit: int | None = 100,
        after: str | None = None,
    ) -> Page:
        """Like open, on an event loop."""
        return await self._adrive(
            self._page(graph, node, thread_id, namespace, older_than, newer_than, text, limit, after)
        )

    def get(self, question_id: str, *, thread_id: str | None = None) -> Question | None:
        """An open question; None if it is not open. The thread is needed if a copy of it asks the same."""
        return self._drive(finding.find_one(self.saver, question_id, thread_id))

    async def aget(self, question_id: str, *, thread_id: str | None = None) -> Question | None:
        """Like get, on an event loop."""
        return await self._adrive(finding.find_one(self.saver, question_id, thread_id))

    def why_closed(self, question_id: str, *, thread_id: str | None = None) -> SignoffError:
        """Why a question is not open: who answered it, say. It is the error that an answer would get."""
        return self._drive(answering.refusal(self.saver, question_id, thread_id))

    async def awhy_closed(self, question_id: str, *, thread_id: str | None = None) -> SignoffError:
        """Like why_closed, on an event loop."""
        return await self._adrive(answering.refusal(self.saver, question_id, thread_id))

    def history(self, thread_id: str) -> Sequence[Event]:
        """What happened in a thread: asked, answered, by whom, when, what ran. Empty if it has not begun."""
        return self._drive(events.history(self.saver, thread_id))

    async def ahistory(self, thread_id: str) -> Sequence[Event]:
        """Like history, on an event loop."""
        return await self._adrive(events.history(self.saver, thread_id))

    def threads(self, *, limit: int | None = 100) -> Sequence[Thread]:
        """The threads, those that changed last first."""
        return self._drive(listing.threads(self.saver, checked_limit(limit)))

    async def athreads(self, *, limit: int | None = 100) -> Sequence[Thread]:
        """Like threads, on an event loop."""
        return await self._adrive(listing.threads(self.saver, checked_limit(limit)))

    # Answering

    def answer(self, question_id: str, value: Any, *, by: str | None = None, thread_id: str | None = None) -> Question:
        """Check and store an answer, in one transaction. Nothing runs yet. Returns the question.

        Args:
            question_id: Which question.
            value: The answer. It must fit the question's response_schema, if that has one.
            by: Who answers, for the history, and for whoever is late.
            thread_id: The thread, if it is known: then a late answer is told at once who was first. It is needed if a
                copy of the thread asks the same.
        """
        return self._drive(answering.answer(self.saver, question_id, value, by, thread_id))

    async def aanswer(
        self, question_id: str, value: Any, *, by: str | None = None, thread_id: str | None = None
    ) -> Question:
        """Like answer, on an event loop."""
        return await self._adrive(answering.answer(self.saver, question_id, value, by, thread_id))

    # Details

    def _page(
        self,
        graph: str | None,
        node: str | None,
        thread_id: str | None,
        namespace: str | None,
        older_than: timedelta | datetime | None,
        newer_than: timedelta | datetime | None,
        text: str | None,
        limit: int | None,
        after: str | None,
    ) -> Steps[Page]:
        _check_texts(graph=graph, node=node, namespace=namespace, text=text)
        wanted = Wanted(
            thread_id=None if thread_id is None else thread_name(thread_id),
            graph=graph,
            node=node,
            asked_before=_moment(older_than),
            asked_after=_moment(newer_than),
            text=text,
            limit=checked_limit(limit),
            after=behind(after),
        )
        return finding.find_page(self.saver, wanted, namespace)

    def _drive(self, steps: Steps[T]) -> T:
        with showing():
            return drive(steps, lambda effect: perform(self.saver, effect))

    async def _adrive(self, steps: Steps[T]) -> T:
        with showing():
            return await adrive(steps, lambda effect: aperform(self.saver, effect))


def _check_texts(**given: Any) -> None:
    """Refuse what would find nothing: a graph, say, in place of its name."""
    for name, one in given.items():
        if not isinstance(one, str | None):
            raise InvalidInput(f"{name}={one!r} is no text. Give its name, or a part of what is asked.")


def _checked_saver(saver: Any) -> Any:
    if hasattr(saver, "get_tuple") and not isinstance(saver, type):
        if hasattr(saver, "with_allowlist"):  # one of LangGraph's
            make_known(saver)
        return saver
    mend = "Inbox(graph.checkpointer)" if hasattr(saver, "checkpointer") else "Inbox(saver)"
    raise InvalidInput(f"An inbox is of a saver, and this is {saver!r}. Open it with the saver of your graph: {mend}.")


def _moment(bound: timedelta | datetime | None) -> str | None:
    """A time as questions have it, from itself or from how long ago it is."""
    if bound is None:
        return None
    if not isinstance(bound, timedelta | datetime):
        raise InvalidInput(f"older_than and newer_than take a timedelta, such as timedelta(days=1), not {bound!r}.")
    try:
        at = datetime.now(UTC) - bound if isinstance(bound, timedelta) else bound.astimezone(UTC)
    except (OverflowError, ValueError):  # before or behind all the time that there is
        is_past = bound > timedelta(0) if isinstance(bound, timedelta) else bound.year == MINYEAR
        at = (datetime.min if is_past else datetime.max).replace(tzinfo=UTC)
    return at.isoformat(timespec="microseconds")
