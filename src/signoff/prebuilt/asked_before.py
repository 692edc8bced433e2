"""What a node has asked before, when it runs again: its program may be another one by then."""

from collections.abc import Iterator
from typing import Any

from signoff._words.questions import Interrupt
from signoff.engine import ids

__all__ = ["own_questions"]


def own_questions(scope: Any) -> Iterator[Interrupt[Any]]:
    """What the running task itself has asked, and not a graph that it has called: what is open, or just answered."""
    known = None if scope is None else scope.host.run.known
    if known is None or not known.asked:
        return
    task = scope.task
    path = task.node.name if not task.ns else ids.stateful_ns(task.ns_inside)
    for question in known.asked.get(task.id, ()):
        if (question.origin or {}).get("path") == path:
            yield question
