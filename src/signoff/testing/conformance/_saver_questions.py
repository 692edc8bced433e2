"""The index of open questions."""

from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.answered import note_of, noted
from signoff.checkpoint.base import Commit, Lease
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.errors import LeaseLost
from signoff.testing.conformance._odd_names import ODD
from signoff.testing.conformance._saver_words import T, after, ids, made, store
from signoff.testing.conformance.checks import cases, raises


def _question(
    id: str, value: Any = "ok?", *, thread: str = T, graph: str = "g", path: str = "node", at: str = ""
) -> Question:
    return Question(id, thread, graph, path, f"2030-01-01T00:00:{at or id:0>2}", Interrupt(value=value, id=id))


def _file(saver: Any, asked: Any = (), closed: Any = (), *, thread: str = T) -> None:
    store(saver, Commit(after(thread=thread), filing=Filing(asked, closed)))


def _found(saver: Any, **wanted: Any) -> list[str]:
    return [one.id for one in saver.find_questions(Wanted(**wanted))]


def a_question_that_is_answered_is_not_found_among_the_open_ones(saver: Any) -> None:
    answered, still_open = _question("1", "Pay?"), _question("2", "Pay, too?")
    _file(saver, [answered, still_open])
    _file(saver, [note_of(answered)], ["1"])
    for wanted in ({}, {"thread_id": T}, {"limit": 1}, {"id": "2"}):
        assert _found(saver, **wanted) == ["2"]
    assert _found(saver, id=note_of(answered).id) == _found(saver, node=note_of(answered).node) == []
    assert saver.find_questions(noted("g")) == [note_of(answered)]
    assert _found(saver, answered=None) == [note_of(answered).id, "2"]


def _crowd(saver: Any) -> None:
    _file(saver, [_question("3", {"text": "Pay 5 €?"}, path="outer|pay"), _question("1", "Ship?")])
    _file(saver, [_question("2", ["ÜBER"], thread="u", graph="h")], thread="u")


def what_is_asked_is_found_oldest_first_and_whole(saver: Any) -> None:
    _crowd(saver)
    found = saver.find_questions(Wanted())
    assert [one.id for one in found] == ["1", "2", "3"]
    assert found[2] == _question("3", {"text": "Pay 5 €?"}, path="outer|pay")
    assert found[2].interrupt.value == {"text": "Pay 5 €?"}


@cases(
    ("wanted", "expected"),
    [
        ({"id": "2"}, "2"),
        ({"thread_id": T}, "13"),
        ({"thread_id": "nobody"}, ""),
        ({"graph": "h"}, "2"),
        ({"node": "pay"}, "3"),
        ({"node": "outer"}, ""),
        ({"text": "PAY"}, "3"),
        ({"text": "über"}, "2"),
        ({"text": "' OR 1=1 --"}, ""),
        ({"text": "%"}, ""),
        ({"asked_after": "2030-01-01T00:00:01"}, "23"),
        ({"asked_before": "2030-01-01T00:00:03"}, "12"),
        ({"limit": 2}, "12"),
        ({"limit": 0}, ""),
        ({"limit": None}, "123"),
        ({"after": ("2030-01-01T00:00:01", "1"), "limit": 1}, "2"),
        ({"after": ("2030-01-01T00:00:01", "1"), "thread_id": T}, "3"),
    ],
)
def questions_are_found_by_all_that_is_said(saver: Any, wanted: Any, expected: Any) -> None:
    _crowd(saver)
    assert _found(saver, **wanted) == list(expected)


def a_page_of_questions_begins_after_one_of_any_name(saver: Any) -> None:
    _file(saver, [_question(name, at="1") for name in ODD])
    seen: list[Question] = []
    while found := saver.find_questions(Wanted(limit=1, after=(seen[-1].asked_at, seen[-1].id) if seen else None)):
        seen += found
    assert [one.id for one in seen] == sorted(ODD)


def what_is_closed_is_gone(saver: Any) -> None:
    _crowd(saver)
    _file(saver, closed=["1", "no such question"])
    assert _found(saver) == ["2", "3"]
    _file(saver, [_question("4")], closed=None)
    assert _found(saver) == ["2", "4"]


def a_question_that_is_asked_again_keeps_its_time(saver: Any) -> None:
    _crowd(saver)
    _file(saver, [_question("1", at="9")])
    assert saver.find_questions(Wanted(id="1"))[0].asked_at == "2030-01-01T00:00:01"


def a_commit_that_is_refused_files_nothing(saver: Any) -> None:
    _crowd(saver)
    lease = Lease(T, "ana", None, epoch=99)
    commit = Commit(after(), (), made("1", {}), {}, (), filing=Filing([_question("5")], None))
    with raises(LeaseLost):
        store(saver, commit, lease)
    assert _found(saver) == ["1", "2", "3"]
    assert ids(saver.list(None)) == []


def a_deleted_thread_has_no_questions(saver: Any) -> None:
    _crowd(saver)
    saver.delete_thread(T)
    assert _found(saver) == ["2"]
