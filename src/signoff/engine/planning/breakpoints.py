"""Static breakpoints: stop before or after nodes that the graph or the caller named."""

from collections.abc import Sequence

from signoff.engine.run import Nodes, Run
from signoff.engine.task import Outcome, Task


def stops(run: Run, done: Sequence[Outcome], due: Sequence[Task]) -> list[str]:
    """The nodes to stop at between what is done and what is due. What waits since an earlier step has begun before."""
    fresh = [task for task in due if task.began_at == task.checkpoint_id]
    return _named(run.terms.after, [outcome.task for outcome in done]) or _named(run.terms.before, fresh)


def _named(nodes: Nodes, tasks: Sequence[Task]) -> list[str]:
    if nodes is not None and not nodes:
        return []
    return [task.name for task in tasks if not task.node.is_hidden and (nodes is None or task.name in nodes)]
