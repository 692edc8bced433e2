"""Time travel: a run that begins at an old checkpoint, and takes the graphs nested in it back with it.

A graph that remembers goes on from its newest checkpoint. On a thread with branches, that may be one that it made on
a branch that was left; so each checkpoint of a branch says where that begins, and what its first checkpoint is. Ids
grow with time: what a nested graph made in between is left behind.
"""

from collections.abc import Container, Mapping
from typing import Any

from signoff.checkpoint.base import Branch, CheckpointTuple, checkpoint_config, made_at, start_of
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_NS, CONF, NS_END, NS_SEP, THREAD_ID
from signoff.engine import pending
from signoff.engine.effects import Load
from signoff.engine.ids import place_in_step, stateful_ns
from signoff.engine.run import Run
from signoff.engine.storing.stored_answers import left_behind
from signoff.steps import Steps


def goes_back(run: Run, saved: CheckpointTuple) -> Steps[bool]:
    """Whether a run begins at a checkpoint that is not the newest one, and so begins a branch."""
    if saved.config[CONF].get(CHECKPOINT_NS, "") != run.ns:
        return True
    if run.checkpoint_id is None:
        return False
    is_old = run.newest_id is not None and run.newest_id != run.checkpoint_id
    if run.is_nested:
        # What another task has made, a branch begins at, though nothing is newer: its own turn has to be found again.
        about: Any = saved.metadata
        return is_old or about.get("called_by", "") != run.called_by
    if run.begins_at is not None and not is_old:
        is_old = yield from _any_is_old(run, run.begins_at)
        run.left = left_behind(pending.by_task(saved.pending_writes)) if is_old else ()
    if is_old:
        run.begins = branch_at(saved, run.begins_at or {})
    else:
        run.begins_at = None
    return is_old


def _any_is_old(run: Run, begins_at: dict[str, tuple[str, str]]) -> Steps[bool]:
    for ns, checkpoint_id in begins_at.values():
        head: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, ns))
        if head is not None and head.checkpoint["id"] != checkpoint_id:
            named: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, ns, checkpoint_id))
            if named is None or (yield from newest_in_turn(named)).checkpoint["id"] != checkpoint_id:
                return True
    return False


def newest_in_turn(saved: CheckpointTuple) -> Steps[CheckpointTuple]:
    """How the turn of a graph that remembers stands which a checkpoint belongs to, whoever has called it since."""
    about: Any = saved.metadata
    newest = yield from newest_of(saved.config, {about.get("called_by")})
    return saved if newest is None else newest


def newest_of(config: RunnableConfig, callers: Container[str | None]) -> Steps[CheckpointTuple | None]:
    """The newest checkpoint that some tasks have made in a graph that remembers; in another one, the newest of all."""
    place = checkpoint_config(config[CONF][THREAD_ID], config[CONF][CHECKPOINT_NS])
    at: CheckpointTuple | None = yield Load(place)
    while at is not None and at.metadata.get("called_by") not in callers:
        at = yield Load(place, before=at.config)
    return at


def tasks_around(saved: CheckpointTuple) -> set[str]:
    """The tasks that a checkpoint of a nested graph was made in, and the calls inside of them."""
    about: Any = saved.metadata
    levels = NS_SEP.join([saved.config[CONF][CHECKPOINT_NS], *about.get("parents", ())]).split(NS_SEP)
    named = {about.get("called_by", ""), *about.get("called_in", ()), *(level.partition(NS_END)[2] for level in levels)}
    return named - {""}


def branch_at(saved: CheckpointTuple, begins_at: Mapping[str, tuple[str, str]] = {}) -> Branch:
    """A branch that begins at a checkpoint of the root, and has none of its own yet."""
    inside = {stateful_ns(ns): checkpoint_id for ns, checkpoint_id in begins_at.values()}
    return Branch(at=saved.checkpoint["id"], first="", inside=inside)


def named(run: Run) -> Load | None:
    """What a nested run has to load if the caller named the checkpoint that its graph begins at."""
    if not run.begins_at:
        return None
    chosen = next((way for way in run.begins_at if _leads_to(way, run.ns)), None)
    if chosen is None:
        return None
    ns, checkpoint_id = run.begins_at.pop(chosen)
    run.checkpoint_id = checkpoint_id if ns == run.ns else None
    run.continues = lambda saved: True
    return Load(checkpoint_config(run.thread_id, ns, checkpoint_id))


def begins_inside(named: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The (namespace, checkpoint) where nested graphs begin, by the ways to them, given those that a caller named."""
    return {_way(ns, named): (ns, checkpoint_id) for ns, checkpoint_id in named.items() if ns}


def _way(ns: str, checkpoints: Mapping[str, str]) -> str:
    """A namespace as it is on a branch, too: of each task on the way, the node and its place in the step.

    A task that began before, or a call inside of one, goes by its name alone.
    """
    ways, around = [], ""
    for level in ns.split(NS_SEP):
        name, _, task_id = level.partition(NS_END)
        place = place_in_step(task_id, checkpoints.get(around, ""))
        ways.append(f"{name}{NS_END}{place}" if place else name)
        around = f"{around}{NS_SEP}{level}" if around else level
    return NS_SEP.join(ways)


def _leads_to(way: str, ns: str) -> bool:
    """Whether a namespace is at the end of a way. The ids of its tasks end with their places in the step."""
    levels, wanted = ns.split(NS_SEP), way.split(NS_SEP)
    return len(levels) == len(wanted) and all(map(_fits, wanted, levels))


def _fits(wanted: str, level: str) -> bool:
    name, _, place = wanted.partition(NS_END)
    own_name, _, task_id = level.partition(NS_END)
    return name == own_name and task_id.endswith(place)


def recalled_now(head: CheckpointTuple) -> Steps[CheckpointTuple | None]:
    """What a nested graph knows on the branch that its thread is on, given its newest checkpoint."""
    place = head.config[CONF]
    if place[CHECKPOINT_NS] != stateful_ns(place[CHECKPOINT_NS]):
        return head
    root: CheckpointTuple | None = yield Load(checkpoint_config(place[THREAD_ID], ""))
    branched_off = root.metadata.get("branched_off") if root is not None else None
    return head if branched_off is None else (yield from recalled(head, branched_off))


def recalled(head: CheckpointTuple, branched_off: Branch) -> Steps[CheckpointTuple | None]:
    """What a nested graph knows on a branch of its root, given the newest checkpoint that it has made on any."""
    place = head.config[CONF]
    thread_id, ns = place[THREAD_ID], place.get(CHECKPOINT_NS, "")
    saved: CheckpointTuple | None = head
    branch: Branch | None = branched_off
    while saved is not None and branch is not None:
        id, start = saved.checkpoint["id"], start_of(branch, stateful_ns(ns))
        at = made_at(id, saved.metadata, start)
        if at >= branch["first"]:
            break
        if (chosen := branch["inside"].get(stateful_ns(ns))) is not None:
            # It has made nothing since: it was at its end there.
            known: CheckpointTuple | None = yield Load(checkpoint_config(thread_id, ns, chosen))
            if known is not None:
                return known
        if at >= start:
            before = checkpoint_config(thread_id, ns, min(start, id))
            saved = yield Load(checkpoint_config(thread_id, ns), before=before)
        else:
            # Older than the branch; but that may begin on another one.
            branch = yield from _around(thread_id, branch)
    return saved


def _around(thread_id: str, branch: Branch) -> Steps[Branch | None]:
    """The branch that another one begins on."""
    if "on" in branch:
        return branch["on"]
    root: CheckpointTuple | None = yield Load(checkpoint_config(thread_id, "", branch["at"]))
    return root.metadata.get("branched_off") if root is not None else None
