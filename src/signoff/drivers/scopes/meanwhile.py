"""What others do to the state while a task waits: they tell it something as they ask, or go on beside it, or a person
changes it by hand.

The task runs on the state as it is by then, so it may ask something else than what was asked, or answered.
"""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from signoff._words.questions import Interrupt
from signoff.drivers.scopes.digests import digest
from signoff.engine import ids, origin, pending
from signoff.engine.answers import Answer, origin_of
from signoff.engine.calls.earlier_calls import told_by
from signoff.engine.origin import Origin

if TYPE_CHECKING:
    from signoff.drivers.scopes.asking import Here
    from signoff.drivers.scopes.scope import Scope


def note(scope: "Scope", asked: Origin) -> None:
    """Note with a question what its task knows of the state."""
    run = scope.host.run
    if run.program.pauses_branch:
        asked["step"] = scope.task.step
    if run.known is not None and run.known.beside:
        asked["seen"] = len(run.known.beside)


def asked_before(scope: "Scope") -> Sequence[Interrupt[Any]]:
    """The questions that are stored with a task; for a call, with the task of the step that it is made in."""
    known = scope.host.run.known
    return () if known is None else known.asked.get(scope.task.of_step.id, ())


def has_asked(scope: "Scope") -> bool:
    """Whether anything is known of what a task, or the one that a call is made in, has asked before."""
    known = scope.host.run.known
    return known is not None and bool(known.had_asked or asked_before(scope))


def asked_by_now(
    scope: "Scope", id: str, answer: Answer | None, value: Any, here: "Here"
) -> tuple[str, Answer | None, "Here"]:
    """The question that a task asks by now, its answer, if it has one, and where it stands.

    Others may have changed the state since it has asked. If it says something else now, it is another question, with an
    id of its own: whoever answers the old one, or sends that answer twice, has not answered this one.
    """
    if answer is not None and not _has_changed(scope, id, answer):
        return id, answer, here
    run, first, before = scope.host.run, id, Before(scope)
    for nth in count(1):
        if not before.is_over(id, answer, value, here):
            break
        again = ids.again_id(first, nth)
        if answer is not None and run.terms.accepts_changes and again not in run.answers:
            break
        id, answer, here = again, run.answers.get(again), here._replace(first=first)
    here = here._replace(first=first if before.has_others(first) else "")
    return id, answer, here if answer is not None else here._replace(left=before.left_by(id))


def was_asked_anew(answer: Answer) -> bool:
    """Whether what was answered was asked in the place of something else, since others have changed the state."""
    return "first" in (answer.get("asked") or answer)


def is_another(scope: "Scope", call_id: str) -> bool:
    """Whether a task that calls a function in the place of a call, with something else, does not make that again:

    somebody was asked about what that was given, and others have changed the state since.
    """
    if scope.host.run.terms.accepts_changes:
        return False
    given = scope.host.run.answers
    own = [
        _has_changed(scope, id, answer, of_call=True)
        for id, answer in given.items()
        if pending.is_of(call_id, id, answer.get("key"), origin_of(answer), len(given) + 1)
    ]
    return bool(own) and all(own)


class Before:
    """What a task has asked before: what is stored with it, and what it was answered."""

    def __init__(self, scope: "Scope") -> None:
        run = scope.host.run
        self._scope = scope
        self._asked = {one.id: one for one in asked_before(scope)}
        self._origins = {id: origin_of(answer) for id, answer in run.answers.items()}
        self._origins.update((id, one.origin or Origin()) for id, one in self._asked.items())
        had_asked = {} if run.known is None else run.known.had_asked
        left = (asked.get("left", {}) for asked in self._origins.values())
        self._left = {id: words for asked in (had_asked, *left) for id, words in asked.items()}
        self._passed: set[str] = set()

    def is_over(self, id: str, answer: Answer | None, value: Any, here: "Here") -> bool:
        """Whether a question is not the one that is asked now in its place, or was passed over before."""
        self._passed.add(id)
        asked_since = self._in_place_of(here.first or id) - self._passed
        if answer is not None:
            is_past = not self._scope.host.run.answers.keys().isdisjoint(asked_since)
            return _has_changed(self._scope, id, answer) and (is_past or not _says(origin_of(answer), value, here))
        if id in self._asked:
            return "is_edited" in self._origins[id] and not _says(self._origins[id], value, here)
        if id in self._left:
            return self._left[id] != [digest(value), here.after]
        return bool(asked_since)

    def _in_place_of(self, first: str) -> set[str]:
        return {id for id, asked in self._origins.items() if asked.get("first") == first}

    def has_others(self, first: str) -> bool:
        """Whether something else was asked in the place of a question, now or before."""
        return len(self._passed) > 1 or bool(self._in_place_of(first))

    def left_by(self, id: str) -> dict[str, list[str]]:
        """What the task had asked itself and nobody has answered, beside what it asks now: it may come to it again."""
        given = self._scope.host.run.answers
        own = {one.id: origin.words_of(one.origin) for one in self._asked.values() if self._is_own(one)}
        return {one: words for one, words in {**self._left, **own}.items() if one != id and one not in given}

    def _is_own(self, question: Interrupt[Any]) -> bool:
        """Whether the task asks a question itself, or one that calls it, and nothing beside it, or inside of it."""
        known, asked = self._scope.host.run.known, question.origin
        if known is None or not asked or "is_beside" in asked or question.id in self._scope.host.run.answers:
            return False
        return any(pending.is_own(known, one, question.id, question.key, asked) for one in self._scope.task.way_in)


def _says(then: Origin, value: Any, here: "Here") -> bool:
    return origin.says_the_same(then, lambda: digest(value), here.after)


def _has_changed(scope: "Scope", id: str, answer: Answer, *, of_call: bool = False) -> bool:
    """Whether others have changed the state since a task, or a call of it, has asked what this is the answer to."""
    run, asked = scope.host.run, answer.get("asked")
    known = run.known
    if asked is not None and "is_edited" in asked:
        # By hand. What it is asking, and is answered now, it may not ask any more: then the run ends.
        return "is_taken" in asked or known is None or all(one.id != id for one in known.asked_by(scope.task))
    goes_on = run.program.pauses_branch
    if not goes_on and (known is None or not known.beside):
        return False
    task = scope.task.of_step
    if not task.reads_state:
        return False
    then = origin_of(answer)
    if goes_on and then.get("step", task.step) != task.step:
        return True
    if known is None:
        return False
    since = known.beside[then.get("seen", 0) :]
    is_marked = not (of_call or scope.task.caller is not None or task.is_sent)
    if not is_marked and any(ids.is_caller(id) and id != answer.get("told") for id in since):
        return True  # what a task itself asks, that was not sent, is marked if a caller tells the state something
    told = {*filter(ids.is_aside, since)}
    return bool(told) and not told <= told_by(known, task)
