"""What others do to the state while a task waits: they tell it something as they ask, or go on beside it, or a person
changes it by hand.

The task runs on the state as it is by then, so it may ask something else than what was asked, or answered.
"""

from itertools import count
from typing import TYPE_CHECKING, Any

from signoff.drivers.digests import digest
from signoff.engine import ids, origin
from signoff.engine.answers import Answer, origin_of
from signoff.engine.calls_before import told_by
from signoff.engine.origin import Origin

if TYPE_CHECKING:
    from signoff.drivers.asking import Here
    from signoff.drivers.scope import Scope


def note(scope: "Scope", asked: Origin) -> None:
    """Note with a question what its task knows of the state."""
    run = scope.host.run
    if run.program.pauses_branch:
        asked["step"] = scope.task.step
    if run.known is not None and run.known.beside:
        asked["seen"] = len(run.known.beside)


def asked_by_now(
    scope: "Scope", id: str, answer: Answer | None, value: Any, here: "Here"
) -> tuple[str, Answer | None, "Here"]:
    """The question that a task asks by now, its answer, if it has one, and where it stands.

    Others may have changed the state since it has asked. If it says something else now, it is another question, with an
    id of its own: whoever answers the old one, or sends that answer twice, has not answered this one.
    """
    if answer is not None and not _has_changed(scope, answer):
        return id, answer, here
    run, first = scope.host.run, id
    before = {} if run.known is None else {one.id: one.origin or Origin() for one in run.known.asked_by(scope.task)}
    later = _asked_since(first, {**{id: origin_of(given) for id, given in run.answers.items()}, **before})
    for nth in count(1):
        later.discard(id)
        if answer is not None:
            is_over = _has_changed(scope, answer) and not _says(origin_of(answer), value, here)
        elif id in before:
            is_over = "is_edited" in before[id] and not _says(before[id], value, here)
        else:
            is_over = bool(later)
        if not is_over:
            break
        again = ids.again_id(first, nth)
        if answer is not None and run.terms.accepts_changes and again not in run.answers:
            break
        id, answer, here = again, run.answers.get(again), here._replace(first=first)
    return id, answer, here


def _asked_since(first: str, origins: dict[str, Origin]) -> set[str]:
    """The ids of what was asked in the place of a question, since its task said something else."""
    return {id for id, asked in origins.items() if asked.get("first") == first}


def _says(then: Origin, value: Any, here: "Here") -> bool:
    return origin.says_the_same(then, lambda: digest(value), here.after)


def _has_changed(scope: "Scope", answer: Answer) -> bool:
    """Whether others have changed the state since a task has asked what this is the answer to."""
    run, task, known = scope.host.run, scope.task, scope.host.run.known
    if "is_taken" in (answer.get("asked") or ()):
        return True  # by hand
    goes_on = run.program.pauses_branch
    if not goes_on and (known is None or not known.beside):
        return False
    if task.of_step.is_sent or (task.caller is not None and not task.is_given_other):
        return False  # it does not read the state
    then = origin_of(answer)
    if goes_on and then.get("step", task.step) != task.step:
        return True
    if known is None:
        return False
    since = {*known.beside[then.get("seen", 0) :]} - {answer.get("told_with")}
    if task.caller is None:  # what callers told is marked where a task itself asks
        since = {*filter(ids.is_aside, since)}
    return bool(since) and not since <= told_by(known, task.of_step)
