"""What others do to the state while a task waits: they tell it something as they ask, or go on beside it.

The task runs on the state as it is by then, so it may ask something else than what was answered.
"""

from itertools import count
from typing import TYPE_CHECKING, Any

from signoff.drivers.digests import digest
from signoff.engine import ids, origin, pending
from signoff.engine.answers import Answer, origin_of
from signoff.engine.origin import Origin
from signoff.engine.pending import Pending

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
    id of its own: whoever sends the old answer twice has not answered this one.
    """
    run, first = scope.host.run, id
    for nth in count(1):
        if answer is None or not _has_changed(scope, answer) or _says(origin_of(answer), value, here):
            break
        again = ids.again_id(first, nth)
        if run.terms.accepts_changes and again not in run.answers:
            break
        id, answer, here = again, run.answers.get(again), here._replace(first=first)
    return id, answer, here


def _says(then: Origin, value: Any, here: "Here") -> bool:
    return origin.says_the_same(then, lambda: digest(value), here.after)


def _has_changed(scope: "Scope", answer: Answer) -> bool:
    """Whether others have changed the state since a task has asked what this is the answer to."""
    run, task, known = scope.host.run, scope.task, scope.host.run.known
    goes_on = run.program.pauses_branch
    if not goes_on and (known is None or not known.beside):
        return False
    if task.caller is not None or task.is_sent:
        return False  # it does not read the state
    then = origin_of(answer)
    if goes_on and then.get("step", task.step) != task.step:
        return True
    if known is None:
        return False
    since = {id for id in known.beside[then.get("seen", 0) :] if ids.is_aside(id)}
    return bool(since) and not since <= _told_by(scope, known)


def _told_by(scope: "Scope", known: Pending) -> set[str]:
    """The ids of what a task has told the state itself as it asked, or a call inside of it that waits."""
    task = scope.task
    own = [one.id for one in pending.all_asked(known) if pending.is_own(known, task, one.id, one.key, one.origin)]
    for id, answer in known.answers.items():
        if pending.is_own(known, task, id, answer.get("key"), origin_of(answer)):
            own.append(id)
    return {ids.aside_id(id) for id in (*own, *(one.id for one in known.asked_by(task)))}
