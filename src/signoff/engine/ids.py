"""Ids that come out the same after a crash: digests of what they stand for."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain, count, islice, takewhile
from operator import itemgetter

from signoff.constants import NS_END, NS_SEP

BESIDE = "00000000-0000-0000-"
"""How ids begin under which is kept what no task came to."""

_CALLER = f"{BESIDE}0000-"

_ASIDE = f"{BESIDE}0002-"

STOP_ID = f"{BESIDE}0001-000000000000"
"""Under which a breakpoint is noted that stopped a thread without a new checkpoint."""

JOINS_ID = f"{BESIDE}0004-000000000000"
"""Under which is noted which joins a program had that waits."""

HAD_ASKED_ID = f"{BESIDE}0005-000000000000"
"""Under which is noted what tasks had asked, and have not come to again."""


_numbers = count(1)


def fleeting_id() -> str:
    """An id for a run that is not saved: no other one of this process has it, and nobody will look for it."""
    return f"00000000-0000-0000-0003-{next(_numbers):012x}"


def node_digest(name: str) -> str:
    """Twelve hex digits that stand for the name of a node."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


_SENT = "5e"
"""What the digests of Sends begin with."""

_digests: Sequence[str] = ()
_MOST_KEPT = 10_000
"""For how many Sends the digests are kept; for more of them, they are made each time."""


def send_digests(count: int) -> Sequence[str]:
    """Twelve hex digits for the place of each Send in a step, as a node has them for its name: `count` or more."""
    global _digests
    digests = _digests
    if len(digests) < count:
        is_kept = count <= _MOST_KEPT
        digests = [f"{_SENT}{place:010x}" for place in range(2 * count if is_kept else count)]
        if is_kept:
            _digests = digests
    return digests


def place_of_send(task_id: str) -> int:
    """The place of the Send that has brought a task, by the task's id; -1 if it was a node that has."""
    return int(task_id[26:], 16) if task_id.startswith(_SENT, 24) else -1


def place_in_step(task_id: str, checkpoint_id: str) -> str:
    """The end of a task's id, by which it differs from others of its step; empty if it did not begin there."""
    return task_id[24:] if task_id[:24] == checkpoint_id[:24] else ""


def question_id(task_id: str, index: int | str) -> str:
    """The id of the n-th question of a task, or of the one with a key."""
    return _digits(f"{task_id}\0{index}".encode())


def said(payload: str, nth: int) -> str:
    """The place of a question that goes by what it says, given a digest of that: the n-th that says so."""
    return f"said\0{payload}\0{nth}"


def again_id(question_id: str, nth: int) -> str:
    """The id of what is asked in the place of a question that says something else by now: the n-th time."""
    return _digits(f"again\0{question_id}\0{nth}".encode())


def asked_before(id: str, first: str) -> Iterator[str]:
    """The ids of what was asked, one after the other, in the place of a question before this was; itself first."""
    again = (again_id(first, nth) for nth in count(1))
    return takewhile(lambda one: one != id, chain([first], islice(again, _MOST_TIMES)))


_MOST_TIMES = 1_000
"""How often a question may have said something else: no data that is stored makes this go on for ever."""


def is_question_of(asker_id: str, id: str, key: str | None, payload: str, most: int) -> bool:
    """Whether a question has an id that one of a task has: the one with a key, or one of so many others."""
    if key is not None:
        return id == question_id(asker_id, f"key\0{key}")
    return any(id == question_id(asker_id, at) for place in range(most) for at in (place, said(payload, place)))


def caller_id(place: int) -> str:
    """The id under which a Command of the caller writes to the state: so much was written beside the tasks before."""
    return f"{_CALLER}{place:012d}"


def caller_place(task_id: str) -> int:
    """How much was written before what the caller wrote under this id."""
    return int(task_id[len(_CALLER) :])


def is_caller(task_id: str) -> bool:
    """Whether the caller wrote this, and no task."""
    return task_id.startswith(_CALLER)


def aside_id(question_id: str) -> str:
    """The id under which is kept what a task told the state as it asked."""
    return _ASIDE + question_id[:12]


def is_aside(task_id: str) -> bool:
    """Whether this was told with a question."""
    return task_id.startswith(_ASIDE)


def came_to_id(task_id: str) -> str:
    """The id under which is kept what the function of a task came to, while an edge behind it asks."""
    return as_uuid(f"came to\0{task_id}")


def behind_id(task_id: str) -> str:
    """The id of what a person says behind the last task of a node, whose next one is due."""
    return as_uuid(f"behind\0{task_id}")


def answer_id(question_id: str) -> str:
    """The id under which an answer is stored: one for each question, so that a second one shows."""
    return as_uuid(f"answer\0{question_id}")


def completed_id(question_id: str) -> str:
    """The id under which is kept what the form of a question has made of its answer."""
    return as_uuid(f"completed\0{question_id}")


def alias_id(task_id: str, channel: str) -> str:
    """The id under which is kept which task the questions, or the calls, of another one are named after.

    One for each of the two: some savers keep only the first of what is stored under one id.
    """
    return as_uuid(f"{channel}\0{task_id}")


def graphs_id(task_id: str) -> str:
    """What stands for the graphs that a task calls, where it is kept which task these are named after."""
    return as_uuid(f"graphs\0{task_id}")


def failure_id(call_id: str, nth: int) -> str:
    """What stands for the n-th failure of a call that its task has caught."""
    return as_uuid(f"failure\0{call_id}\0{nth}")


def short_of(task_id: str) -> str:
    """Twelve hex digits that stand for a task. The end of its id does not: another checkpoint may have one like it."""
    return blake2b(task_id.encode(), digest_size=6).hexdigest()


def as_uuid(text: str) -> str:
    """A digest of a text, in the form of a UUID."""
    return "-".join(_parts_of_uuid(_digits(text.encode("utf-8", "surrogatepass"))))


_parts_of_uuid = itemgetter(slice(8), slice(8, 12), slice(12, 16), slice(16, 20), slice(20, None))

_begun = blake2b(digest_size=16)


def _digits(text: bytes) -> str:
    """Thirty-two hex digits that stand for a text."""
    digest = _begun.copy()  # in half the time of a new one
    digest.update(text)
    return digest.hexdigest()


def child_ns(ns: str, node: str, task_id: str) -> str:
    """The namespace of what runs inside a task."""
    level = f"{node}{NS_END}{task_id}"
    return f"{ns}{NS_SEP}{level}" if ns else level


def stateful_ns(ns: str) -> str:
    """A namespace that is the same in every run: the names of the nodes, without their tasks."""
    return NS_SEP.join(level.partition(NS_END)[0] for level in ns.split(NS_SEP))


def is_question_id(text: object) -> bool:
    """Whether a key of an answer looks like the id of a question."""
    return isinstance(text, str) and len(text) == 32 and _HEX_DIGITS.issuperset(text)


_HEX_DIGITS = frozenset("0123456789abcdef")
