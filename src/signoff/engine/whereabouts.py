"""Where a task has failed: a note on its error says so. A traceback names functions, and no nodes, tasks or threads."""

from contextlib import suppress

from signoff.constants import NS_SEP
from signoff.engine import ids
from signoff.engine.run import Run
from signoff.engine.task import Task

_BEGINS = "In '"


def tell_where(error: Exception, task: Task, run: Run) -> None:
    """Note on an error in which task it was, unless one inside of that has done so."""
    if not task.node.is_hidden:
        with suppress(Exception):  # classes may refuse to be changed
            _note(error, ids.stateful_ns(task.shown_ns), task.id, run.thread_id if run.is_saved else None)


def _note(error: Exception, place: str, task_id: str, thread_id: str | None) -> None:
    notes: list[str] = getattr(error, "__notes__", [])
    if any(note.startswith(f"{_BEGINS}{place}{NS_SEP}") for note in notes):
        return
    thread = "" if thread_id is None else f", thread {thread_id!r}"
    # An error that is raised again and again, as a constant is, tells where it was raised last.
    others = [note for note in notes if not note.startswith(_BEGINS)]
    error.__notes__ = [*others, f"{_BEGINS}{place}' (task {task_id}{thread})."]
