"""Time travel: a run that begins at an old checkpoint, and takes the graphs nested in it back with it."""

from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.constants import CHECKPOINT_NS, CONF
from signoff.engine.effects import Load
from signoff.engine.ids import stateful_ns
from signoff.engine.run import Run, Travel
from signoff.steps import Steps


def goes_back(run: Run, saved: CheckpointTuple) -> Steps[bool]:
    """Whether a run begins at a checkpoint that is not the newest one, and so begins a branch."""
    if saved.config[CONF].get(CHECKPOINT_NS, "") != run.ns:
        return True
    if run.checkpoint_id is None:
        return False
    is_old = run.newest_id is not None and run.newest_id != run.checkpoint_id
    if run.is_nested:
        return is_old
    if run.travels is not None and not is_old:
        is_old = yield from _any_nested_is_old(run, run.travels)
    run.travels = (run.travels or Travel(run.checkpoint_id)) if is_old else None
    return is_old


def _any_nested_is_old(run: Run, travel: Travel) -> Steps[bool]:
    for ns, checkpoint_id in travel.begins_at.values():
        head: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, ns))
        if head is not None and head.checkpoint["id"] != checkpoint_id:
            return True
    return False


def travelled(run: Run) -> Load | None:
    """What a nested run has to load in a run that goes back in time; None in any other."""
    travel = run.travels
    if travel is None or not run.is_nested:
        return None
    names = stateful_ns(run.ns)
    if names in travel.begins_at:
        ns, checkpoint_id = travel.begins_at.pop(names)
        run.checkpoint_id = checkpoint_id if ns == run.ns else None
        run.continues = lambda saved: True
        travel.arrived.add(names)
        return Load(checkpoint_config(run.thread_id, ns, checkpoint_id))
    if run.ns == names and names not in travel.arrived:
        # A stateful graph begins with what it remembered then, not with what it has learned since.
        travel.arrived.add(names)
        before = checkpoint_config(run.thread_id, run.ns, travel.root_id)
        return Load(checkpoint_config(run.thread_id, run.ns), before=before)
    return None
