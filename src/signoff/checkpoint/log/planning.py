"""Planning: entries, in their order, become a plan."""

from collections.abc import Iterable, Mapping, Sequence
from random import getrandbits
from typing import Any, NamedTuple

from signoff._tuples import made
from signoff.checkpoint.encoding import Blob, with_name
from signoff.checkpoint.lease import removed
from signoff.checkpoint.log.body import NOTHING, Changes, between, packed
from signoff.checkpoint.log.entries import Entry, InItems, InLists, NewCheckpoint, NewWrites, encoded_whole
from signoff.checkpoint.log.growth import Edit
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.plans import MAX_DEPTH, NewRow, Place2, Plan, rows_of
from signoff.checkpoint.log.ready import Ready
from signoff.checkpoint.log.shortening import short_id, short_path, short_task
from signoff.checkpoint.log.values import LARGE, Kept, Stored, kept, laid_out, sliced
from signoff.checkpoint.log.writes import packed_writes
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.errors import NotStorable

__all__ = ["Planned", "Planner", "by_thread", "planned_at_once"]


class Planner:
    """Makes a plan out of the entries of one thread, in their order.

    known: what is known of the checkpoints that they stand on.
    may_append: whether the ends of lineages are where they are thought to be.
    carries: whether a checkpoint carries the writes that led to it.
    """

    def __init__(
        self, serde: Any, thread_id: str, known: dict[Place2, Known | None], *, carries: bool, may_append: bool = True
    ) -> None:
        self._serde = serde
        self._known = known
        self._carries = carries
        self._may_append = may_append
        self._spans: dict[int, Stored] = {}
        """Where the items of lists are, by the identity of their edits."""
        self.plan = Plan(thread_id, is_usual=type(serde) is JsonPlusSerializer)
        self.news: dict[tuple[str, str], Known] = {}
        """The newest checkpoint of each namespace, by thread and namespace, once all is written."""

    def replace(self, place: Place2, standing: Iterable[tuple[str, bytes]]) -> None:
        """Plan to replace a checkpoint; those that stand on it become snapshots, with these bodies."""
        ns, id = place[0], short_id(place[1])
        self.plan.replaced.add((ns, id))
        for child, body in standing:
            self.plan.rewritten.append((ns, short_id(child), id, body))

    def add_row(self, entry: Ready) -> bool:
        """Plan for a row that is made already; False if what it stands on is not what it was made for."""
        row, known, below = entry.row, entry.known, self._known.get((entry.ns, entry.parent_id or ""))
        if row is None or known is None or below is None:
            return False
        if row.parent_seal not in (None, below.seal) or self.plan.replaced:
            return False
        if entry.filing is not None:
            self.plan.filing.append(entry.filing)
        self.plan.rows.append(row)
        self._known[entry.ns, known.id] = self.news[self.plan.thread_id, entry.ns] = known
        return True

    def add(self, entry: Entry | Ready) -> bool:
        """Plan for one entry; False if the checkpoint that it stands on has to be looked at first."""
        new, place = entry.checkpoint, (entry.ns, entry.parent_id or "")
        if entry.filing is not None:
            self.plan.filing.append(entry.filing)
        if new is None:
            self._add_writes(place, entry.writes, {})
            return True
        if entry.parent_id is None:
            self._add_checkpoint(entry, new, None)
        elif place in self._known:
            self._add_checkpoint(entry, new, self._known[place])
        else:
            return False
        return True

    def _add_checkpoint(self, entry: Entry | Ready, new: NewCheckpoint, parent: Known | None) -> None:
        ns, parent_id = entry.ns, entry.parent_id
        changes = self._changes(entry, new, parent)
        short_parent = parent_id and short_id(parent_id)
        known = self._known[ns, new.id] = self.news[self.plan.thread_id, ns] = Known(
            new.id, parent.depth + 1 if parent else 0, new.seal, changes, parent
        )
        if parent is None or known.depth > MAX_DEPTH or (ns, short_parent) in self.plan.replaced:
            # A snapshot is made of bytes that are stored already: the values themselves may have changed since.
            known.depth, parent_seal, body = 0, None, packed(new.metadata, new.head, known.held)
        else:
            parent_seal, body = parent.seal, packed(new.metadata, new.head, changes)
        carried = self._writes(entry, changes.values) if entry.writes else None
        self.plan.rows.append(
            NewRow(ns, short_id(new.id), short_parent, parent_seal, known.depth, new.run_id, new.seal, body, carried)
        )

    def _changes(self, entry: Entry | Ready, new: NewCheckpoint, parent: Known | None) -> Changes:
        """What a checkpoint changes in its parent, as it is stored."""
        versions, fresh, unversioned, gone = self._told(entry, new, parent)
        if new.is_small and fresh is new.fresh:
            return Changes(versions, fresh, unversioned, gone)  # type: ignore[arg-type]
        base = parent.held.values if parent is not None and parent.seal == new.base else {}
        values = {name: self._stored(new, name, value, base) for name, value in fresh.items()}
        return Changes(versions, values, unversioned, gone)

    def _told(self, entry: Entry | Ready, new: NewCheckpoint, parent: Known | None) -> Sequence[Any]:
        """What a checkpoint changes, as it was prepared."""
        if new.gone is None:
            before = parent.held if parent else NOTHING
            return between(before, new.versions, new.values.keys(), new.fresh, lambda name: self._late(new, name))
        if parent is None and entry.parent_id is not None:
            raise removed(entry.thread_id, entry.parent_id)
        return new.versions, new.fresh, new.gone, new.gone

    def _writes(self, entry: Entry | Ready, values: Mapping[str, Stored]) -> bytes | None:
        """What a checkpoint carries of the writes that led to it."""
        parent_id = entry.parent_id
        assert parent_id is not None, "writes are kept with a checkpoint"
        if not self._carries:
            self._add_writes((entry.ns, parent_id), entry.writes, values)
            return None
        carried = []
        for task_id, path, writes in entry.writes:
            stored = writes if entry.is_small else self._written(writes, values)
            carried.append((short_task(task_id, parent_id), short_path(path), stored))
        return packed_writes(carried)

    def _late(self, new: NewCheckpoint, name: str) -> Blob | Edit:
        try:
            return encoded_whole(self._serde, new.values[name])
        except NotStorable as error:
            raise with_name(self._serde, [(name, new.values[name])]) or error from error

    def _stored(self, new: NewCheckpoint, name: str, fresh: Any, base: Mapping[str, Stored]) -> Stored:
        if isinstance(fresh, Edit):
            return self._spans.get(id(fresh)) or self._laid_out(new, name, fresh, base)
        return self._in_lists(fresh, base) if isinstance(fresh, InLists) else self._alone(fresh)

    def _alone(self, fresh: Blob | dict[str, Blob]) -> Stored:
        if isinstance(fresh, dict):
            return {key: self._blob(blob) for key, blob in fresh.items()}
        return self._blob(fresh)

    def _in_lists(self, fresh: InLists, base: Mapping[str, Stored]) -> Stored:
        """A dict of lists, in those of the next checkpoint: they are laid out before it."""
        edits = {name: fresh.edits[name] for name in fresh.parts}
        if not all(edit.stands_alone or _is_list(base.get(name)) for name, edit in edits.items()):
            return self._alone(fresh.alone)
        found: dict[str, Any] = {}
        for name, edit in edits.items():
            spans = self._spans[id(edit)] = self._appended(edit, base.get(name, ()))
            found[name] = self._part(fresh.parts[name], {name: spans})
        return found

    def _blob(self, blob: Blob) -> Blob | Kept:
        if len(blob[1]) <= LARGE:
            return blob
        reference = kept(blob)
        self.plan.blobs[reference[1]] = blob[1]
        return reference

    def _laid_out(self, new: NewCheckpoint, name: str, edit: Edit, base: Mapping[str, Stored]) -> Stored:
        before: Any = base.get(name, ())
        if not edit.stands_alone and not _is_list(before):
            # What it stands on is gone or another one, so all of it is stored, as it is by now.
            late = self._late(new, name)
            if not isinstance(late, Edit):
                return self._blob(late)
            edit, before = late, ()
        return self._appended(edit, before)

    def _appended(self, edit: Edit, before: Any) -> Stored:
        base = before if _is_list(before) else ()  # a list that was short until now is stored as a whole
        spans, items = laid_out(base, edit.parts, _new_lineage, may_append=self._may_append)
        self.plan.items += items
        return spans

    def _add_writes(self, place: Place2, writes: Iterable[NewWrites], values: Mapping[str, Stored]) -> None:
        ns, checkpoint_id = place
        for task_id, path, fresh in writes:
            task = short_task(task_id, checkpoint_id), short_path(path)
            self.plan.writes += rows_of(ns, short_id(checkpoint_id), *task, self._written(fresh, values))

    def _written(
        self, writes: Iterable[tuple[int, str, Blob | InItems]], values: Mapping[str, Stored]
    ) -> list[tuple[int, str, Any]]:
        """Writes, as they are stored."""
        return [(index, channel, self._part(value, values)) for index, channel, value in writes]

    def _part(self, value: Blob | InItems, values: Mapping[str, Stored]) -> Any:
        if not isinstance(value, InItems):
            return self._blob(value)
        spans: Any = values[value.channel]
        found = tuple(sliced(spans, value.first, value.first + value.length))
        return found if value.is_list else found[0][:2]


class Planned(NamedTuple):
    """A plan, and the newest checkpoint of each namespace, by thread and namespace, once all of it is written."""

    plan: Plan
    news: Mapping[tuple[str, str], Known]


def planned_at_once(thread_id: str, entries: Sequence[Entry | Ready]) -> Planned | None:
    """The plan for entries of one thread, if their rows are made, and the database sees whether they fit."""
    plan, news = Plan(thread_id), dict[tuple[str, str], Known]()
    for entry in entries:
        if type(entry) is not Ready:
            return None
        row, known = entry.row, entry.known
        if row is not None and known is not None:
            if row.parent_seal is None and row.parent_id is not None:
                return None  # the database would not see whether the checkpoint below is there
            plan.rows.append(row)
            news[thread_id, entry.ns] = known
        plan.writes += entry.rows
        if entry.filing is not None:
            plan.filing.append(entry.filing)
    return made(Planned, (plan, news))


def _is_list(stored: Any) -> bool:
    return isinstance(stored, tuple) and bool(stored) and isinstance(stored[0], tuple)


def _new_lineage() -> int:
    return getrandbits(31)  # short, since it is told often; should there be one, it does not end where it begins


def by_thread(entries: Iterable[Entry | Ready]) -> dict[str, list[Entry | Ready]]:
    """Entries by the thread that they belong to."""
    threads: dict[str, list[Entry | Ready]] = {}
    for entry in entries:
        threads.setdefault(entry.thread_id, []).append(entry)
    return threads
