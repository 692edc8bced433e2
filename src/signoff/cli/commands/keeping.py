"""Commands that keep house: prune, check."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.answered import noted
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.serde.unread import showing, unread_in
from signoff.cli.apps import find
from signoff.cli.codebase import Code
from signoff.cli.codes import CHANGED
from signoff.cli.databases import opened
from signoff.cli.given import length_of
from signoff.cli.output import leave, show
from signoff.cli.plain import ago, short
from signoff.constants import CHECKPOINT_NS, CONF, THREAD_ID
from signoff.engine import pending
from signoff.engine.planning.due import due_to_go_on
from signoff.engine.planning.program_changes import check_readable
from signoff.engine.run import Run, Terms
from signoff.engine.showing.snapshot import due_at
from signoff.engine.state import State
from signoff.errors import GraphChanged, InvalidInput, StateChanged
from signoff.inbox import Inbox, Thread

# What can go


def prune(older_than: str | None, keep: int, delete: bool, yes: bool, db: str | None, json: bool) -> None:
    age = length_of(older_than)
    if delete and age is None:
        raise InvalidInput("--delete removes whole threads, so it needs an age: --older-than 7d.")
    cutoff = datetime.now(UTC) - age if age is not None else None
    with opened(db) as saver:
        old = [one for one in Inbox(saver).threads(limit=None) if cutoff is None or _changed_at(one) < cutoff]
        with showing():
            counts = Counter(one.config[CONF][THREAD_ID] for one in saver.list({CONF: {CHECKPOINT_NS: ""}}))
        spared = 0 if delete else keep
        going = {one.thread_id: counts[one.thread_id] - spared for one in old if _may_go(saver, one)}
        going = {thread_id: count for thread_id, count in going.items() if count > 0}
        if delete:
            freed = saver.cleanup_before(cutoff, dry_run=not yes)
        else:
            freed = saver.keep_last(keep, list(going), dry_run=not yes)
    data = {"done": yes, "deletes_threads": delete, "keeps": spared, "threads": going}
    data |= {"checkpoints": sum(going.values()), "bytes": freed.bytes}
    show(data, json, lambda out: _tell_pruned(out, data))


def _may_go(saver: Any, thread: Thread) -> bool:
    """A thread that waits for an answer, has one waiting, or is run just now is never touched."""
    if thread.status in ("paused", "answered"):
        return False
    standing = saver.look(checkpoint_config(thread.thread_id, ""))[1]
    return standing.holder is None or bool(standing.is_expired)


def _changed_at(thread: Thread) -> datetime:
    return datetime.fromisoformat(thread.changed_at)


def _tell_pruned(out: Any, data: dict[str, Any]) -> None:
    what = "whole threads" if data["deletes_threads"] else f"all but the newest {data['keeps']}"
    did = "Removed" if data["done"] else "Would remove"
    out.print(
        f"{did} {data['checkpoints']} checkpoints of {len(data['threads'])} threads ({what}, {data['bytes']} bytes)."
    )
    for thread_id, count in list(data["threads"].items())[:20]:
        out.print(f"  {thread_id}: {count}")
    if not data["done"] and data["threads"]:
        out.print("Nothing was changed. Do it with --yes.")


# What would not go on


def check(app: str, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        graph = find(app, saver)
        code = Code()
        found = [_checked(graph, code, saved) for saved in _waiting(saver, graph.program.name)]
    bad = [one for one in found if one["status"] not in ("fits", "unsure")]
    unsure = [one for one in found if one["status"] == "unsure"]
    data = {"graph": graph.program.name, "checked": len(found), "threads": bad, "unsure": unsure}
    show(data, json, lambda out: _tell_checked(out, data))
    if bad:
        leave(CHANGED)


def _waiting(saver: Any, graph: str) -> Iterator[CheckpointTuple]:
    """The heads of the threads of a graph that wait for answers, or have one that no run has taken yet."""
    questions = [one for one in Inbox(saver).open(limit=None) if one.graph in (graph, "")]
    with showing():
        notes = [note for name in (graph, "") for note in saver.find_questions(noted(name))]
    for thread_id in dict.fromkeys(one.thread_id for one in [*questions, *notes]):
        with showing():
            saved = saver.get_tuple(checkpoint_config(thread_id, ""))
        if saved is not None:
            yield saved


def _checked(graph: Any, code: Code, saved: CheckpointTuple) -> dict[str, Any]:
    """A thread that waits, and whether it would go on under the code that is there now."""
    _, state, known, _ = due_at(graph.program, saved, "")
    run = Run(graph.program, Terms(), saved.config[CONF][THREAD_ID])
    run.known = known
    questions = pending.all_asked(known)
    status, why = _state_verdict(run, state, saved) or _code_verdict(code, questions)
    return {
        "thread": run.thread_id,
        "questions": [question.id for question in questions],
        "since": saved.checkpoint["ts"],
        "asked": [short(question.value) for question in questions],
        "status": status,
        "why": why,
    }


def _state_verdict(run: Run, state: State, saved: CheckpointTuple) -> tuple[str, str] | None:
    """Why a thread would not go on with what is stored; None if it would."""
    if unread := unread_in((saved.checkpoint["channel_values"], saved.pending_writes)):
        return "changed", str(unread.why)
    try:
        due_to_go_on(run, state)
        check_readable(run, state)
    except GraphChanged as error:
        return "orphaned", str(error)
    except StateChanged as error:
        return "changed", str(error)
    return None


def _code_verdict(code: Code, questions: Sequence[Interrupt[Any]]) -> tuple[str, str]:
    """Whether the functions that asked would ask the same again."""
    changed = sorted({name for question in questions for name in code.changed_since(question)})
    if changed:
        return "changed", (
            f"The code of {', '.join(changed)} is another one than when it asked: the answer is handed over only if "
            "the same question is asked in the same place."
        )
    before = sorted({name for question in questions for name in code.may_ask_before(question, questions)})
    if before:
        return "unsure", (
            f"{', '.join(before)} may ask something before it, and has asked nothing so far. If that is new, an answer "
            "is not handed over."
        )
    return "fits", ""


def _tell_checked(out: Any, data: dict[str, Any]) -> None:
    bad, now = data["threads"], datetime.now(UTC)
    out.print(f"{data['checked']} threads of {data['graph']!r} wait; {len(bad)} would not simply go on.")
    for one in [*bad, *data["unsure"]]:
        out.print(f"  {one['thread']}  {one['status']}  (waits {ago(one['since'], now)}: {'; '.join(one['asked'])})")
        out.print(f"    {one['why']}")
