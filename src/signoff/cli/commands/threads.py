"""Commands that look inside: threads, history, state, diff."""

from datetime import UTC, datetime
from typing import Any

from signoff._diffs import unified
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.serde.unread import showing
from signoff.cli.codes import NotFound
from signoff.cli.databases import opened
from signoff.cli.output import show, show_block
from signoff.cli.plain import ago, as_json, plain, question_fields, short, short_id
from signoff.inbox import Event, Inbox, Thread
from signoff.inbox.events import own_values


def list_threads(limit: int, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        found = Inbox(saver).threads(limit=limit)
    show({"threads": found}, json, lambda out: _table(out, found))


def _table(out: Any, found: Any) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not found:
        out.print("There are no threads yet.")
        return
    table = Table("thread", "status", "step", "changed", box=SIMPLE_HEAD, pad_edge=False)
    now = datetime.now(UTC)
    for one in found:
        table.add_row(one.thread_id, _status(one), str(one.step), f"{ago(one.changed_at, now)} ago")
    show_block(out, table)


def _status(thread: Thread) -> str:
    return f"paused ({thread.questions})" if thread.questions > 1 else thread.status


# What happened


def history(thread: str, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        events = Inbox(saver).history(thread)
    if not events:
        raise _no_thread(thread)
    show({"thread": thread, "events": events}, json, lambda out: _timeline(out, events))


def _timeline(out: Any, events: Any) -> None:
    for event in events:
        took = f"  ({event.took_s:.1f} s)" if event.took_s is not None and event.took_s >= 0.1 else ""
        out.print(f"{event.at[:10]} {event.at[11:19]}  {short_id(event.checkpoint_id)}  {_told(event)}{took}")


def _told(event: Event) -> str:
    what = short(event.value, 60)
    match event.kind:
        case "input":
            return f"input     {what}"
        case "asked":
            return f"asked     {event.path}: {what}"
        case "answered":
            return f"answered  {what} by {event.by or 'somebody'}"
        case "dropped":
            return f"dropped   question {short_id(event.question_id)}"
        case "unread":
            return f"unread    the answer to question {short_id(event.question_id)}"
        case "failed":
            return f"failed    {what}"
        case kind:
            return f"{kind:9} {event.path}: {what}" if event.value else f"{kind:9} {event.path}"


# States


def state(thread: str, checkpoint: str | None, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        saved = at(saver, thread, checkpoint)
        asked = list(Inbox(saver).open(thread_id=thread, limit=None)) if checkpoint is None else []
    data = {
        "thread": thread,
        "checkpoint": saved.checkpoint["id"],
        "created_at": saved.checkpoint["ts"],
        "step": saved.metadata.get("step"),
        "source": saved.metadata.get("source"),
        "values": values_of(saved),
        "questions": [question_fields(one) for one in asked],
    }
    show(data, json, lambda out: _state(out, data))


def _state(out: Any, data: dict[str, Any]) -> None:
    out.print(f"thread {data['thread']}, step {data['step']}, {data['created_at']}")
    for name, value in data["values"].items():
        out.print(f"  {name}: {short(value, 300)}")
    for question in data["questions"]:
        out.print(f"waits at {question['path']}: {short(question['value'])}  [{short_id(question['id'])}]")


def values_of(saved: CheckpointTuple) -> dict[str, Any]:
    """The state of a checkpoint, without what the engine keeps for itself."""
    return {name: plain(value) for name, value in own_values(saved.checkpoint["channel_values"]).items()}


def at(saver: Any, thread: str, checkpoint: str | None) -> CheckpointTuple:
    """A checkpoint of a thread, by its id, by the beginning of it, or the newest."""
    with showing():
        saved: CheckpointTuple | None = saver.get_tuple(checkpoint_config(thread, "")) if checkpoint is None else None
        if saved is not None:
            return saved
        found: list[CheckpointTuple] = list(saver.list(checkpoint_config(thread, "")))
    if not found:
        raise _no_thread(thread)
    fitting = [one for one in found if one.checkpoint["id"].startswith(checkpoint or "")]
    if len(fitting) != 1:
        raise NotFound(
            f"{len(fitting)} checkpoints of thread {thread!r} begin with {checkpoint!r}. See `signoff history`."
        )
    return fitting[0]


def _no_thread(thread: str) -> NotFound:
    return NotFound(f"There is no thread {thread!r}. See `signoff threads`.")


def diff(thread: str, before: str | None, after: str | None, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        newer = at(saver, thread, after)
        if before is not None:
            older: CheckpointTuple | None = at(saver, thread, before)
        else:
            older = saver.get_tuple(newer.parent_config) if newer.parent_config else None
    then, now = values_of(older) if older else {}, values_of(newer)
    names = [name for name in {**then, **now} if then.get(name) != now.get(name) or (name in then) != (name in now)]
    changed = {name: {"before": then.get(name), "after": now.get(name)} for name in names}
    data = {"thread": thread, "from": older.checkpoint["id"] if older else None, "to": newer.checkpoint["id"],
            "changed": changed}  # fmt: skip
    show(data, json, lambda out: _diff(out, changed))


def _diff(out: Any, changed: dict[str, dict[str, Any]]) -> None:
    from signoff.cli.prompt.panel import coloured

    if not changed:
        out.print("Nothing differs.")
    for name, values in changed.items():
        before, after = (("" if value is None else as_json(value, indent=2)) for value in values.values())
        out.print(coloured(unified(name, before, after)))
