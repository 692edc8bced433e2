"""The namespaces of a thread in memory: the moments of each, and what was written since."""

from collections.abc import Iterable, Mapping, Sequence, Set
from copy import copy
from typing import Any

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import Moment, PendingWrite
from signoff.checkpoint.lease import removed
from signoff.checkpoint.memory.lists import Lists
from signoff.checkpoint.memory.written import Written

__all__ = ["Space", "WholeMoment"]

WHOLE_EVERY = 64
"""After how many moments all values are noted again, so that an old one is found quickly."""

Whole = tuple[Mapping[str, Any], Mapping[str, Any]]
"""All values of a moment, and their versions."""


class Space:
    """The moments of one thread and namespace, and the writes kept with them, both by checkpoint id."""

    __slots__ = ("lists", "moments", "newest", "ns", "thread_id", "values", "versions", "writes")

    def __init__(self, thread_id: str, ns: str) -> None:
        self.thread_id = thread_id
        self.ns = ns
        self.moments: dict[str, Moment] = {}
        self.writes: dict[str, list[Any] | Written] = {}
        """As they came, (task id, writes, path), until somebody reads them."""
        self.newest = ""
        self.values: dict[str, Any] = {}
        """All values of the newest moment."""
        self.versions: dict[str, Any] = {}
        self.lists = Lists()

    def add(self, moment: Moment, parent_id: str | None) -> None:
        """Keep a moment."""
        moment.make, moment.parent_id = None, parent_id
        if moment.whole is not None:
            if moment.id in self.moments:
                self._set_apart(moment.id)
            self._inherit(moment, parent_id)
            self._put_whole(moment)
        elif not self.moments:
            self._begin_with(moment)
        elif parent_id is None or parent_id != self.newest:
            self._put_aside(moment, parent_id)
        else:
            # The next moment after the newest one; so it is with almost every step.
            changed, version, versions = moment.changed, moment.version, self.versions
            self.values.update(changed)
            for name in changed:
                versions[name] = version
            for name in moment.gone:
                self.values.pop(name, None)
                versions.pop(name, None)
            if not len(self.moments) % WHOLE_EVERY:
                moment.whole = self.values.copy(), versions.copy()
            self.newest = moment.id
        self.moments[moment.id] = moment

    def check_parent(self, id: str | None) -> None:
        """Refuse to go on from a checkpoint that was removed."""
        if id not in self.moments:
            raise removed(self.thread_id, id)

    def _begin_with(self, moment: Moment) -> None:
        changed = moment.changed
        self.values, self.versions = {**changed}, dict.fromkeys(changed, moment.version)
        moment.whole, self.newest = (changed, self.versions.copy()), moment.id

    def _put_aside(self, moment: Moment, parent_id: str | None) -> None:
        """A moment on another branch, or the first that is left of its own."""
        before = self.all_of(parent_id) if parent_id in self.moments else ({}, {})
        moment.whole = _changed(before, [moment])
        self._put_whole(moment)

    def _set_apart(self, id: str) -> None:
        """Note all values of those that stand on a moment: another one is about to take its place."""
        for moment in self.moments.values():
            if moment.parent_id == id and moment.whole is None:
                values, versions = self.all_of(moment.id)
                moment.whole = dict(values), dict(versions)

    def _inherit(self, moment: Moment, parent_id: str | None) -> None:
        """What a checkpoint that was put as a whole has in the version of its parent is what the parent has."""
        if parent_id not in self.moments:
            return
        (values, versions), (before, before_versions) = moment.whole, self.all_of(parent_id)
        for name in values.keys() & before.keys() - moment.changed.keys():
            if versions.get(name) == before_versions.get(name):
                values[name] = before[name]

    def _put_whole(self, moment: Moment) -> None:
        if moment.id >= self.newest:
            self.newest = moment.id
            values, versions = moment.whole
            self.values, self.versions = dict(values), dict(versions)

    def all_of(self, id: str | None) -> Whole:
        """All values of a moment, and their versions."""
        if id == self.newest:
            return self.values, self.versions
        later: list[Moment] = []
        moment = self.moments[id or ""]
        while moment.whole is None:
            later.append(moment)
            moment = self.moments[moment.parent_id or ""]
        return _changed(moment.whole, reversed(later))

    def keep(self, id: str, records: Sequence[Any]) -> None:
        """Keep what tasks wrote."""
        before = self.writes.get(id)
        if before is None:
            self.writes[id] = list(records)
        elif isinstance(before, Written):
            before.add(records)
        else:
            before.extend(records)

    def kept(self, id: str | None) -> Iterable[PendingWrite]:
        """What tasks wrote: (task id, channel, value), in the order of their paths."""
        if not id or (records := self.writes.get(id)) is None:
            return ()
        if isinstance(records, Written):
            return records
        if len(records) == 1 and len(records[0][1]) == 1:
            return [(records[0][0], *records[0][1][0])]  # as in most threads that wait
        written = self.writes[id] = Written(records)
        return written

    def drop(self, ids: Set[str]) -> None:
        """Forget checkpoints. Where a parent goes, the history begins."""
        for moment in self.moments.values():
            if moment.id not in ids and moment.parent_id in ids:
                moment.whole, moment.parent_id = self.all_of(moment.id), None
        for id in ids:
            self.moments.pop(id, None)
            self.writes.pop(id, None)
        self.newest = max(self.moments, default="")
        found = self._whole_of_newest()
        self.values, self.versions = (dict(part) for part in found)

    def forget_lost_parents(self) -> None:
        """Have no moment name a parent that is not there, or is itself: all its values are noted."""
        for moment in self.moments.values():
            if moment.parent_id == moment.id or moment.parent_id not in self.moments:
                moment.parent_id = None

    def _whole_of_newest(self) -> Whole:
        newest, self.newest = self.newest, ""
        found = self.all_of(newest) if newest else ({}, {})
        self.newest = newest
        return found

    def begin_with(self, staying: Set[str]) -> None:
        """Forget all checkpoints but some, each of which is the beginning of a history."""
        wholes = {id: self.all_of(id) for id in staying}
        self.drop((self.moments.keys() | self.writes.keys()) - staying)
        for id, moment in self.moments.items():
            values, versions = wholes[id]
            moment.whole, moment.parent_id = (dict(values), dict(versions)), None

    def copy_to(self, thread_id: str) -> "Space":
        """The same in another thread."""
        other = Space(thread_id, self.ns)
        other.moments = {id: copy(moment) for id, moment in self.moments.items()}
        other.writes = {id: records.copy() for id, records in self.writes.items()}
        other.newest = self.newest
        other.values, other.versions = dict(self.values), dict(self.versions)
        return other


def _changed(whole: Whole, moments: Iterable[Moment]) -> tuple[dict[str, Any], dict[str, Any]]:
    """All values and their versions, after moments that come one after the other."""
    values, versions = dict(whole[0]), dict(whole[1])
    for moment in moments:
        values.update(moment.changed)
        versions.update(dict.fromkeys(moment.changed, moment.version))
        for name in moment.gone:
            values.pop(name, None)
            versions.pop(name, None)
    return values, versions


class WholeMoment(Moment):
    """A checkpoint that was put as a whole, with everything that its caller says about it."""

    __slots__ = ("head",)

    def __init__(
        self,
        head: dict[str, Any],
        metadata: Any,
        changed: dict[str, Any],
        values: dict[str, Any],
        versions: dict[str, Any],
    ) -> None:
        super().__init__(head["id"], 0, "", 0, changed, (), None, (), (), (), metadata, None)
        self.head = head
        self.whole = values, versions

    def metadata(self) -> dict[str, Any]:
        copied: dict[str, Any] = _metadata.copied(self.about)
        return copied

    def go_on_from(self, branch: Any) -> None:
        self.about = {**self.about, "branched_off": branch}

    def heading(self) -> dict[str, Any]:
        copied: dict[str, Any] = _metadata.copied(self.head)
        return copied
