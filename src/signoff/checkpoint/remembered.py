"""Which checkpoints of a thread stay, and what nested graphs that remember need then.

A nested graph whose namespace has no task in it is the same in every run, and goes on from what it knew. That may be
older than all that stays of the root; on a thread that went back, it is what the graph knew where the branch began.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from signoff.checkpoint.records import Branch
from signoff.constants import NS_END, NS_SEP

__all__ = ["Made", "made_at", "not_among_newest", "not_newest", "rebased", "start_of"]

Made = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The metadata of checkpoints, by namespace and id."""

_NOT_YET = "\U0010ffff"
"""In the place of the first checkpoint of a branch that has none: it comes after all others."""


def not_among_newest(made: Made, tasks: Mapping[str, Collection[str]], count: int) -> set[tuple[str, str]]:
    """The checkpoints that do not belong to the newest ones of the root, and that nested graphs do not need there.

    tasks: those that something is kept of with a checkpoint of the root. One that waits while others go on is kept with
        each that they make; its graph was begun under the first of these.
    """
    roots = sorted(made.get("", ()), reverse=True)[:count]
    waiting = frozenset(task_id for id in roots for task_id in tasks.get(id, ()))
    staying = {
        ns: _belonging(made, ns, roots, count, waiting)
        | _recalled(made, ns, roots)
        | _standing(made, ns, roots, waiting)
        for ns in made
    }
    return _without(made, staying)


def not_newest(made: Made, tasks: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    """The checkpoints that are not the newest of their namespace; of a graph that remembers, not what it knows now,
    nor where tasks stand in it that wait."""
    newest = {ns: {max(of_ns)} for ns, of_ns in made.items() if of_ns}
    root = max(made.get("", ()), default=None)
    if root is None:
        return _without(made, newest)
    waiting = {*tasks.get(root, ())}
    remembering = [ns for ns in made if _remembers(ns)]
    known = {ns: _recalled(made, ns, [root]) | _standing(made, ns, [root], waiting) for ns in remembering}
    return _without(made, {**newest, **known})


def rebased(made: Made, going: Collection[tuple[str, str]]) -> dict[str, Branch]:
    """The branches that begin at checkpoints of the root which go, with those that they begin on.

    By the checkpoints that are on them and stay.
    """
    on_branches = {
        id: about["branched_off"]
        for id, about in made.get("", {}).items()
        if "branched_off" in about and ("", id) not in going
    }
    found = {id: _rebased(made, going, branch) for id, branch in on_branches.items()}
    return {id: branch for id, branch in found.items() if branch != on_branches[id]}


def _rebased(made: Made, going: Collection[tuple[str, str]], branch: Branch) -> Branch:
    around = _around(made, branch) if "on" in branch or ("", branch["at"]) in going else None
    return branch if around is None else {**branch, "on": _rebased(made, going, around)}


def _around(made: Made, branch: Branch) -> Branch | None:
    """The branch that another one begins on."""
    around: Branch | None = branch.get("on") or made[""].get(branch["at"], {}).get("branched_off")
    return around


def _without(made: Made, staying: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    return {(ns, id) for ns, of_ns in made.items() for id in of_ns if id not in staying[ns]}


def _belonging(made: Made, ns: str, roots: Sequence[str], count: int, waiting: Collection[str]) -> set[str]:
    """Those that were made under the roots that stay. Where there is no telling, or the graph waits, the newest."""
    newest = set(sorted(made[ns], reverse=True)[:count])
    waits = not _remembers(ns) and any(not _tasks_around(about, ns).isdisjoint(waiting) for about in made[ns].values())
    under = {id: about.get("parents", {}).get("") for id, about in made[ns].items() if ns and roots}
    return {id for id in made[ns] if under.get(id) in roots or (id in newest and (waits or under.get(id) is None))}


def _tasks_around(about: Mapping[str, Any], ns: str = "") -> set[str]:
    """The tasks of the root, and the calls inside of these, that a checkpoint of a nested graph was made in."""
    named = (around.partition(NS_SEP)[0].partition(NS_END)[2] for around in (ns, *about.get("parents", ())))
    return {*named, *about.get("called_in", ()), about.get("called_by", "")}


def _remembers(ns: str) -> bool:
    return bool(ns) and NS_END not in ns


def _recalled(made: Made, ns: str, roots: Sequence[str]) -> set[str]:
    """What a graph that remembers knows at the newest root, and would know if the thread went back to another."""
    if not _remembers(ns) or not roots:
        return set()
    return {id for branch in _branches(made, roots) if (id := _recalled_on(made, ns, branch)) is not None}


def _standing(made: Made, ns: str, roots: Sequence[str], waiting: Collection[str]) -> set[str]:
    """Where tasks stand in a graph that remembers, in the middle of their turns, and what it knew before these.

    Several may have called it, and others may call it yet.
    """
    if not _remembers(ns):
        return set()
    halves = {id: about for id, about in made[ns].items() if _is_under_way(about, roots, waiting)}
    newest = {halves[id]["called_by"]: id for id in sorted(halves)}
    before = {id: about for id, about in made[ns].items() if id not in halves}
    return {*newest.values(), *(_recalled({**made, ns: before}, ns, roots) if halves else ())}


def _is_under_way(about: Mapping[str, Any], roots: Sequence[str], waiting: Collection[str]) -> bool:
    """Whether a turn belongs to a task that waits with a root that stays, or was begun under it."""
    is_under = about.get("parents", {}).get("") in roots
    return "called_by" in about and (is_under or not _tasks_around(about).isdisjoint(waiting))


def _branches(made: Made, roots: Sequence[str]) -> list[Branch | None]:
    """The branch that the newest root is on, and those that would begin at the others."""
    return [made[""][roots[0]].get("branched_off"), *(Branch(at=id, first=_NOT_YET, inside={}) for id in roots[1:])]


def _recalled_on(made: Made, ns: str, branch: Branch | None) -> str | None:
    id: str | None = max(made[ns], default=None)
    while id is not None and branch is not None:
        start = start_of(branch, ns)
        at = made_at(id, made[ns][id], start)
        if at >= branch["first"]:
            return id
        if branch["inside"].get(ns) in made[ns]:
            return branch["inside"][ns]
        if at >= start:
            bound = min(start, id)
            id = max((one for one in made[ns] if one < bound), default=None)
        else:
            branch = _around(made, branch)
    return id


def start_of(branch: Branch, names: str) -> str:
    """Where a branch begins for a nested graph: if a graph around it began somewhere in its middle, there."""
    return max(
        (id for around, id in branch["inside"].items() if names.startswith(around + NS_SEP)), default=branch["at"]
    )


def made_at(id: str, metadata: Mapping[str, Any], start: str) -> str:
    """When a nested graph made a checkpoint, as an id of its root's, if that can be told.

    Clocks may disagree: where the root stood says more than the id. But what a person told counts from then on.
    """
    root_id: str = metadata.get("parents", {}).get("", "")
    is_told = metadata.get("source") in ("update", "fork")
    return id if is_told or root_id < start else root_id
