"""Answers that nobody has taken: a task has finished, and its code does not ask any more what it had asked.

What it did stands: to do it again could be worse. But whoever has answered, a "no" perhaps, must be heard of.
"""

from collections.abc import Iterable
from functools import partial
from itertools import count, takewhile
from typing import Any

from signoff._words.questions import Interrupt
from signoff.constants import MISSING
from signoff.engine import ids
from signoff.engine.answers import Answer, origin_of, shown
from signoff.engine.calls.earlier_calls import calls_left
from signoff.engine.effects import Tell
from signoff.engine.pending import asker_id, is_own
from signoff.engine.run import Run
from signoff.engine.task import Outcome, Task
from signoff.steps import Steps


def hear(run: Run, outcomes: Iterable[Outcome]) -> Steps[None]:
    """Say which answers tasks that have finished in this run did not take, and note them for the history."""
    for outcome in outcomes:
        if outcome.is_done and not outcome.is_known:
            for question in _asked(run, outcome.task):
                if _take(run, outcome.task, question):
                    path = (question.origin or {}).get("path", outcome.task.name)
                    yield from _note(run, path, question.id, shown(question.value))
            for id, text in {**_left(run, outcome.task), **_left_in_calls(run, outcome.task)}.items():
                if run.found.pop(id, None) is not None:
                    yield from _note(run, outcome.task.name, id, text)


def _note(run: Run, path: str, id: str, text: str) -> Steps[None]:
    run.unread.append(id)
    if not _was_asked_anew(run, id):
        yield Tell(partial(_warn, run, path, id, text, run.answers[id]))


def _was_asked_anew(run: Run, id: str) -> bool:
    """Whether somebody has answered what was asked in the place of a question since: that was acted on."""
    firsts = {later: origin_of(answer).get("first") for later, answer in run.answers.items()}
    return any(id in ids.asked_before(later, first) for later, first in firsts.items() if first is not None)


def _asked(run: Run, task: Task) -> Iterable[Interrupt[Any]]:
    """What a task, and the calls and graphs inside of it, had asked when the run began."""
    return () if run.known is None else run.known.asked_by(task)


def _take(run: Run, task: Task, question: Interrupt[Any]) -> bool:
    """Whether a question of a task was answered, and nobody has taken that; from now on it counts as taken.

    Of an answer that was there before the run, an earlier run may have handed it to a call or a graph inside of the
    task that has finished then: so only the task that has asked can tell.
    """
    if run.given.pop(question.id, MISSING) is not MISSING:
        return True
    known, id = run.known, question.id
    if known is None or id not in run.found or not is_own(known, task, id, question.key, question.origin):
        return False
    return run.found.pop(id, None) is not None


def _left(run: Run, task: Task) -> dict[str, str]:
    """Which questions a task was answered before, and does not ask any more; and what they were."""
    asker, found = asker_id(task, run.known), run.found.copy()  # tasks in other threads take theirs meanwhile
    places = (ids.question_id(asker, place) for place in count())
    own = [id for id in takewhile(run.answers.__contains__, places) if id in found]
    keyed = {id: answer["key"] for id, answer in found.items() if "key" in answer and id in run.answers}
    own += [id for id, key in keyed.items() if ids.question_id(asker, f"key\0{key}") == id]
    return {id: str(found[id].get("shown")) for id in own}


def _left_in_calls(run: Run, task: Task) -> dict[str, str]:
    """The same for calls that a task has made before, and does not make any more.

    What a call asked inside of one that has come to its end was for that, which has taken it, be it before it failed.
    """
    known = run.known
    if known is None or not known.asking_calls or task.caller is not None:
        return {}
    over = calls_left(known, task) - run.called.keys() - run.ended_calls
    asked = [question for id in over for question in known.asking_calls.get(id, ())]
    return {question.id: shown(question.value) for question in asked if question.id in run.found}


def _warn(run: Run, path: str, id: str, text: str, answer: Answer) -> None:
    import logging  # no run needs it but this one

    logging.getLogger("signoff").warning(
        "Node %r of thread %r has finished without the answer %s that %s gave to %s (question %r): it does not ask "
        "that any more. What it did stands, and nobody has acted on the answer. Look at what it did, and whether its "
        "code, or the state, was changed while the thread waited.",
        path,
        run.thread_id,
        shown(answer.get("value")),
        answer.get("by") or "somebody",
        text,
        id,
    )
