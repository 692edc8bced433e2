"""Tidying up: what of a thread goes, and what is copied. Scripts do it, and are told how."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from signoff._redis.effects import Ask, Run
from signoff.checkpoint.encoding import packed, packed_for_lua
from signoff.checkpoint.log.backend import Cleanup, Copied, Everything
from signoff.checkpoint.redis import index, scripts, writing
from signoff.checkpoint.redis.names import GRACE_S, Names, field_of, parts_of_field
from signoff.checkpoint.redis.rows import asked_of, pairs_of, row_of, run_id_of, writes_in
from signoff.steps import Steps

__all__ = ["copy_thread", "tidy"]


def tidy(names: Names, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
    """Remove and rewrite what a rule says of all that a thread has."""
    while True:  # until nobody has changed anything in between
        found = yield from _everything(names, thread_id)
        cleanup = rule(found)
        # Whoever only counts leaves the thread as it is: somebody may be about to take it.
        if cleanup.is_nothing:
            return cleanup
        noted = (yield from index.note(names, thread_id, cleanup.asked)) if cleanup.asked else None
        script = packed_for_lua({**_cleaning(found, cleanup), "noted_asking": noted, "grace": GRACE_S})
        if (yield Run(scripts.CLEAN, names.of_thread(thread_id), (script,))):
            return cleanup


def copy_thread(names: Names, source: str, target: str) -> Steps[Copied]:
    """Copy a thread, and say whether that was done: the target must not have begun."""
    raw = yield Run(scripts.EVERYTHING, names.of_thread(source), (1,))
    if not raw[1] and not raw[2]:
        exists = yield Ask(("EXISTS", *names.of_thread(target)[1:3]))
        return "not empty" if exists else "not there"
    copy = {**_copied(raw), "token": uuid4().hex, "grace": GRACE_S}
    asked = [asked_of(question) for _, question in copy["questions"]]
    answer = scripts.NOT_NOTED
    while answer == scripts.NOT_NOTED:
        copy["noted"] = yield from writing.note(names.threads, target)
        copy["noted_asking"] = (yield from index.note(names, target, asked)) if asked else None
        answer = yield Run(scripts.COPY, names.of_thread(target), (packed_for_lua(copy),))
    return "copied" if answer == scripts.DONE else "not empty"


def _everything(names: Names, thread_id: str) -> Steps[Everything]:
    raw = yield Run(scripts.EVERYTHING, names.of_thread(thread_id), (0,))
    changes, rows, writes, lineages, blobs, _, epoch = raw
    return Everything(
        [(parts_of_field(field)[0], *row_of(field.partition(b"\0")[2], row), run_id_of(row), None)
         for field, row in pairs_of(rows).items()],
        [(*parts_of_field(field), *one) for field, kept in pairs_of(writes).items() for one in writes_in(kept)],
        [(int(lineage), 0, count, size) for lineage, count, size, _ in lineages],
        [(digest, size) for digest, size, _ in blobs],
        (epoch, changes),
        changes,
    )  # fmt: skip


def _cleaning(found: Everything, cleanup: Cleanup) -> dict[str, Any]:
    gone = set(cleanup.removed)
    heads: dict[str, Any] = {}
    for ns, id, *_ in found.rows:
        heads.setdefault(ns, None)
        if (ns, id) not in gone and (heads[ns] is None or id.encode() > heads[ns].encode()):
            heads[ns] = id
    return {
        "changes": found.token,
        "rewritten": [writing.rewritten(one) for one in cleanup.rewritten],
        "removed": [field_of(*place) for place in cleanup.removed],
        "closes_all": cleanup.closes_all,
        "asked": [(question[0], packed(tuple(question))) for question in cleanup.asked],
        "writes": list({field_of(ns, id) for ns, id, *_ in cleanup.writes}),  # all that a checkpoint has
        "lineages": [str(lineage) for lineage, _ in cleanup.items],
        "blobs": cleanup.blobs,
        "heads": [(writing.field_ns(ns), id and field_of("", id)[1:]) for ns, id in heads.items()],
    }


def _copied(raw: Sequence[Any]) -> dict[str, Any]:
    _, rows, writes, lineages, blobs, asked, _ = raw
    heads: dict[bytes, bytes] = {}
    for field in pairs_of(rows):
        ns, _, id = field.partition(b"\0")
        heads[ns] = max(heads.get(ns, b""), id)
    return {
        "rows": list(pairs_of(rows).items()),
        "writes": list(pairs_of(writes).items()),
        "blobs": [(digest, data) for digest, _, data in blobs],
        "lineages": [(lineage, items) for lineage, _, _, items in lineages],
        "heads": list(heads.items()),
        "questions": list(pairs_of(asked).items()),
    }
