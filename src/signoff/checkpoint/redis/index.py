"""The index of open questions: where they may be. What is open, the thread itself says.

A question is noted down before its thread asks it, and crossed out after that has closed it. Who looks for questions
and finds one that is not open crosses it out, too, but not before a while has passed: its thread may be about to ask.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from signoff._redis.effects import Ask, Run, asked
from signoff.checkpoint.places import reading_of
from signoff.checkpoint.questions import Wanted
from signoff.checkpoint.redis import scripts
from signoff.checkpoint.redis.names import GRACE_S, QUESTIONS, Names, by_id, by_time, of_id, parts_of_member, span_of
from signoff.checkpoint.redis.rows import asked_of
from signoff.errors import SaverUnavailable, Undecodable
from signoff.steps import Steps

__all__ = ["cross_out", "find", "note"]

_PAGE = 100
"""How much of the index is read at once."""

Place = tuple[str, str, str]
"""When a question was asked, its id, its thread."""


def note(names: Names, thread_id: str, questions: Iterable[Sequence[Any]]) -> Steps[float]:
    """Note down what a thread is about to ask; when that was."""
    places = [(question[4], question[0], thread_id) for question in questions]
    members = [member for place in places for member in (by_time(*place), by_id(*place))]
    return float((yield Run(scripts.NOTE_ASKED, (names.asked, names.noted), members)))


def cross_out(names: Names, thread_id: str, closed: Sequence[bytes]) -> Steps[None]:
    """Cross out what a thread has closed: ids, and behind each when it was noted down."""
    pairs = zip(closed[::2], closed[1::2], strict=True)
    with suppress(SaverUnavailable):  # what was to be done is done; who looks next does this
        yield from _cross_out(names, [(_text(id), thread_id, noted) for id, noted in pairs])


def _cross_out(names: Names, questions: Iterable[tuple[str, str, bytes]]) -> Steps[None]:
    parts = [part for id, thread_id, noted in questions for part in (of_id(id, thread_id), noted)]
    if parts:
        yield Run(scripts.CROSS_OUT_ASKED, (names.asked, names.noted), (GRACE_S, *parts))


def find(names: Names, wanted: Wanted) -> Steps[list[Sequence[Any]]]:
    """The open questions that are wanted, oldest first; behind each its thread."""
    if wanted.thread_id is not None:
        found = yield from _in_thread(names, wanted.thread_id, wanted.id)
    elif wanted.id is not None:
        found = yield from _by_id(names, wanted.id)
    else:
        found = yield from _from_the_oldest_on(names, wanted)
    found.sort(key=lambda one: (one[4], one[0]))
    return list(islice(_fitting(found, wanted), wanted.limit))


def _by_id(names: Names, id: str) -> Steps[list[Sequence[Any]]]:
    begin = of_id(id)
    members = yield Ask(("ZRANGEBYLEX", names.asked, b"[" + begin, b"(" + begin + b"\xff"))
    return (yield from _open(names, members))


def _from_the_oldest_on(names: Names, wanted: Wanted) -> Steps[list[Sequence[Any]]]:
    found: list[Sequence[Any]] = []
    begin, end = span_of(wanted.after, wanted.asked_after, wanted.asked_before)
    while True:
        page = yield Ask(("ZRANGEBYLEX", names.asked, begin, end, "LIMIT", 0, _PAGE))
        found += _fitting((yield from _open(names, page)), wanted)
        if len(page) < _PAGE or (wanted.limit is not None and len(found) >= wanted.limit):
            return found
        begin = b"(" + page[-1]


def _in_thread(names: Names, thread_id: str, id: str | None) -> Steps[list[Sequence[Any]]]:
    key = _questions_of(names, thread_id)
    packed = (yield Ask(("HVALS", key))) if id is None else [(yield Ask(("HGET", key, _field(id))))]
    with reading_of(thread_id):
        return [(*asked_of(one), thread_id) for one in packed if one is not None]


def _open(names: Names, members: Sequence[bytes]) -> Steps[list[Sequence[Any]]]:
    """Those questions of a part of the index that are open indeed."""
    places = _places(members)
    found: list[Sequence[Any]] = []
    gone: list[tuple[str, str, bytes]] = []
    rows = yield from asked([("HGET", _questions_of(names, thread), _field(id)) for _, id, thread in places])
    for (asked_at, id, thread_id), packed in zip(places, rows, strict=True):
        if packed is None:
            gone.append((id, thread_id, b""))
            continue
        with reading_of(thread_id):
            question = asked_of(packed)
        if question[4] == asked_at:  # else it was asked again, and stands in the place of the first time
            found.append((*question, thread_id))
    yield from _cross_out(names, gone)
    return found


def _places(members: Sequence[bytes]) -> list[Place]:
    try:
        return [parts_of_member(member) for member in members]
    except ValueError as error:
        raise Undecodable(f"The index of open questions is broken or was changed ({error}).") from error


def _fitting(questions: Iterable[Sequence[Any]], wanted: Wanted) -> Iterator[Sequence[Any]]:
    for one in questions:
        id, graph, _, node, asked_at, text, _, _, thread_id = one
        is_fitting = wanted.fits(id, thread_id, graph, node, asked_at)
        if is_fitting and (wanted.text is None or wanted.text.casefold() in text):
            yield one


def _questions_of(names: Names, thread_id: str) -> bytes:
    return names.of_thread(thread_id)[QUESTIONS]


def _field(id: str) -> bytes:
    return id.encode("utf-8", "surrogatepass")


def _text(id: bytes) -> str:
    return id.decode("utf-8", "surrogatepass")
