"""Where a task has failed: a note on its error says so. A traceback names functions, and no nodes, tasks or threads."""

import re
from contextlib import suppress

from signoff.constants import NS_SEP
from signoff.engine import ids
from signoff.engine.run import Run
from signoff.engine.task import Task

_NOTE = re.compile(r"In '(.*)' \(task [0-9a-f-]{36}(, thread .*)?\)\.", re.DOTALL)


def tell_where(error: Exception, task: Task, run: Run) -> None:
    """Note on an error in which task it was, unless one inside of that has done so."""
    if not task.node.is_hidden:
        with suppress(Exception):  # classes may refuse to be changed
            _note(error, ids.stateful_ns(task.shown_ns), task.id, run.thread_id if run.is_saved else None)


def _note(error: Exception, place: str, task_id: str, thread_id: str | None) -> None:
    notes: list[str] = getattr(error, "__notes__", [])
    if any(own[1].startswith(place + NS_SEP) for own in map(_NOTE.fullmatch, notes) if own is not None):
        return
    thread = "" if thread_id is None else f", thread {thread_id!r}"
    # An error that is raised again and again, as a constant is, tells where it was raised last.
    others = [note for note in notes if not _NOTE.fullmatch(note)]
    error.__notes__ = [*others, f"In '{place}' (task {task_id}{thread})."]
