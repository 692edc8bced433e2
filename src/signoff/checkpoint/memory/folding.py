"""Folding: a thread is written down. It is taken apart before, which takes half as long as `pickle` alone would."""

import pickle
from operator import attrgetter
from typing import Any

from signoff.checkpoint.base import Moment
from signoff.checkpoint.memory.threads import Thread
from signoff.checkpoint.questions import Question

__all__ = ["folded", "unfolded"]

_thread_parts: Any = attrgetter("epoch", "changes", "holder", "heard_at")
_question_parts: Any = attrgetter("id", "thread_id", "graph", "path", "asked_at")
_space_parts: Any = attrgetter("newest", "values", "versions", "writes")
_moment_parts: Any = attrgetter(
    "id", "at", "source", "step", "changed", "gone", "version", "updated", "writers", "stopped", "about", "make"
)
"""What a moment is made of, in the order in which it takes them."""


def folded(thread: Thread) -> bytes:
    """A thread, written down. Nobody else gets to see, or can change, what is written here: it stays in the saver."""
    questions = [(*_question_parts(question), packed) for question, packed in thread.questions.values()]
    spaces = [
        (space.thread_id, space.ns, _space_parts(space), [_taken_apart(moment) for moment in space.moments.values()])
        for space in thread.spaces.values()
    ]
    return pickle.dumps((_thread_parts(thread), questions, spaces), pickle.HIGHEST_PROTOCOL)


def _taken_apart(moment: Moment) -> Any:
    # One that was put as a whole has more in it, and is rare.
    return (_moment_parts(moment), moment.parent_id, moment.whole) if type(moment) is Moment else moment


def unfolded(data: bytes) -> Thread:
    """The thread that was folded."""
    thread_parts, questions, spaces = pickle.loads(data)
    thread = Thread()
    thread.epoch, thread.changes, thread.holder, thread.heard_at = thread_parts
    thread.questions = {parts[0]: (Question(*parts), parts[-1]) for parts in questions}
    for thread_id, ns, space_parts, moments in spaces:
        space = thread.new_space(thread_id, ns)
        space.newest, space.values, space.versions, space.writes = space_parts
        space.moments = {moment.id: moment for moment in map(_put_together, moments)}
    return thread


def _put_together(taken_apart: Any) -> Moment:
    if isinstance(taken_apart, Moment):
        return taken_apart
    parts, parent_id, whole = taken_apart
    moment = Moment(*parts)
    moment.parent_id, moment.whole = parent_id, whole
    return moment
