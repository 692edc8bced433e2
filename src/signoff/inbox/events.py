"""The history of a thread: what was asked and answered, by whom and when, and what ran."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from signoff._words.questions import Interrupt
from signoff.checkpoint.base import CheckpointTuple
from signoff.checkpoint.places import checked_thread
from signoff.checkpoint.questions import Wanted
from signoff.constants import CHECKPOINT_NS, CONF, END, START
from signoff.engine import pending
from signoff.engine.answers import Answer, origin_of
from signoff.engine.ids import stateful_ns
from signoff.engine.storing.stored_answers import replaced
from signoff.graph.schema import ROOT
from signoff.inbox.asking import Walk
from signoff.inbox.finding import find
from signoff.steps import Steps

Kind = Literal["input", "ran", "updated", "forked", "dropped", "unread", "asked", "answered", "failed"]

_KINDS: Mapping[str, Kind] = {"input": "input", "loop": "ran", "update": "updated", "fork": "forked"}


_RANKS = {"answered": 1, "asked": 2}
"""The order of what happened at the same time: a question follows what led to it."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a thread."""

    kind: Kind
    at: str
    """When, as an ISO time in UTC. A question of the past has the time of the checkpoint that it was asked after."""
    checkpoint_id: str
    step: int
    path: str = ""
    """What ran, or who asked: the names of the nodes from the root, several of one step joined by commas."""
    question_id: str | None = None
    value: Any = None
    """What was asked, answered or went wrong; of a step, the keys that it changed with their new values."""
    by: str | None = None
    """Who answered."""
    took_s: float | None = None
    """How long a step took, without the time that it waited for an answer."""


def history(saver: Any, thread_id: str) -> Steps[list[Event]]:
    """What happened in a thread, in order."""
    thread_id = checked_thread(thread_id)
    found: list[CheckpointTuple] = []

    def keep(saved: CheckpointTuple) -> bool:
        found.append(saved)
        return False

    yield Walk({CONF: {"thread_id": thread_id}}, keep)
    filed = (yield from find(saver, Wanted(thread_id=thread_id, limit=None))) if found else ()
    asked_at = {question.id: question.asked_at for question in filed}
    return in_order(found, asked_at)


def in_order(found: Iterable[CheckpointTuple], asked_at: Mapping[str, str]) -> list[Event]:
    """The events of checkpoints."""
    events: list[Event] = []
    since: dict[str, str] = {}
    told: set[tuple[str, str | None, str]] = set()
    for saved in sorted(found, key=lambda one: one.checkpoint["id"]):
        ns = saved.config[CONF].get(CHECKPOINT_NS, "")
        events += _steps(saved, ns, since.get(ns))
        here = [] if ns else _around(saved, asked_at)
        # What is still open when a person changes the state is stored again, and answers that nobody has taken.
        events += [event for event in here if event.kind == "failed" or _essence(event) not in told]
        told.update(map(_essence, here))
        since[ns] = max([saved.checkpoint["ts"], *(event.at for event in here if event.kind == "answered")])
    return sorted(events, key=lambda event: (event.at, _RANKS.get(event.kind, 0)))


def _steps(saved: CheckpointTuple, ns: str, since: str | None) -> list[Event]:
    """What a checkpoint tells of the step before it."""
    at, id, step = saved.checkpoint["ts"], saved.checkpoint["id"], saved.metadata.get("step", -1)
    kind = _KINDS.get(str(saved.metadata.get("source")), "ran")
    written: Any = saved.checkpoint.get("writers") or ()
    writers = [name for name in written if name != START]
    if kind == "ran" and not writers:
        return []  # the input, on its way into the state
    path = "|".join(part for part in (stateful_ns(ns) if ns else "", ", ".join(writers)) if part)
    took = _seconds(since, at) if kind == "ran" else None
    events = [Event(kind, at, id, step, path, value=_changed(saved), took_s=took)]
    told: list[tuple[Kind, Sequence[str]]] = [
        ("dropped", saved.metadata.get("discarded", ())),
        ("unread", saved.metadata.get("unread_answers", ())),
    ]
    return [*(Event(kind, at, id, step, question_id=one) for kind, ids in told for one in ids), *events]


def _changed(saved: CheckpointTuple) -> dict[str, Any]:
    values = saved.checkpoint["channel_values"]
    names = saved.checkpoint.get("updated_channels") or ()
    changed = own_values({name: values[name] for name in names if name in values})
    given = values.get(START)
    return changed or (given if isinstance(given, dict) else {"input": given} if given is not None else {})


def own_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The state that a program knows, out of the channels of a checkpoint."""
    own = {name: value for name, value in values.items() if ":" not in name and not name.startswith("__")}
    if ROOT in values:
        own |= values[ROOT] if isinstance(values[ROOT], dict) else {"value": values[ROOT]}
    return {**own, "result": values[END]} if END in values else own


def _around(saved: CheckpointTuple, asked_at: Mapping[str, str]) -> list[Event]:
    """What was asked, answered and went wrong after a checkpoint."""
    known = pending.by_task(saved.pending_writes)
    given, asked = known.answers, pending.all_asked(known)
    events = []
    for one in asked:
        at = asked_at.get(one.id) or (one.origin or {}).get("at") or _after(saved, one, given)
        events.append(_event(saved, "asked", at, one.origin, one.id, one.value))
    origins = {question.id: question.origin for question in asked}
    for id, answer in given.items():
        if id not in origins:
            events.append(_asked_before(saved, id, answer))
        origin = origins.get(id) or origin_of(answer)
        events.append(
            _event(saved, "answered", answer.get("at", ""), origin, id, answer.get("value"), answer.get("by"))
        )
    errors = {**known.mended, **known.errors}
    failed = (_event(saved, "failed", saved.checkpoint["ts"], None, None, text) for text in errors.values())
    dropped = (_event(saved, "dropped", saved.checkpoint["ts"], None, id, None) for id in replaced(known))
    return [*events, *dropped, *failed]


def _essence(event: Event) -> tuple[str, str | None, str]:
    """What tells that a question was asked before, or answered by the same answer, or dropped."""
    return event.kind, event.question_id, event.at if event.kind == "answered" else ""


def _after(saved: CheckpointTuple, question: Interrupt[Any], given: Mapping[str, Answer]) -> str:
    """When a question was asked, for lack of better: after the checkpoint, and after the answers before it."""
    path = (question.origin or {}).get("path")
    before = [one for id, one in given.items() if id != question.id and origin_of(one).get("path") == path]
    own = given.get(question.id, {}).get("at")
    times = [one.get("at", "") for one in before]
    return max([saved.checkpoint["ts"], *(at for at in times if own is None or at <= own)])


def _asked_before(saved: CheckpointTuple, id: str, answer: Answer) -> Event:
    """A question whose task has asked another one since: only the beginning of its payload is kept."""
    origin = origin_of(answer)
    return _event(saved, "asked", origin.get("at") or saved.checkpoint["ts"], origin, id, answer.get("shown"))


def _event(
    saved: CheckpointTuple, kind: Kind, at: str, origin: Any, id: str | None, value: Any, by: str | None = None
) -> Event:
    path = (origin or {}).get("path") or ""
    return Event(kind, at, saved.checkpoint["id"], saved.metadata.get("step", -1), path, id, value, by)


def _seconds(since: str | None, at: str) -> float | None:
    if since is None:
        return None
    return max(0.0, (datetime.fromisoformat(at) - datetime.fromisoformat(since)).total_seconds())


__all__ = ["Event", "history"]
