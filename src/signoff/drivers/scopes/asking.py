"""Asking: what happens between a call of interrupt() and the answer that it returns."""

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from signoff import forms
from signoff._copies import copied
from signoff._tuples import made
from signoff._words.questions import Interrupt
from signoff.drivers.scopes import meanwhile
from signoff.drivers.scopes.digests import digest
from signoff.drivers.scopes.lines import in_turn
from signoff.drivers.scopes.typed_answers import typed_answer
from signoff.engine import ids, origin, pending
from signoff.engine.answers import Answer, shown
from signoff.engine.origin import Origin, Site
from signoff.engine.stepping import branching
from signoff.engine.task import Record, Task
from signoff.errors import InvalidAnswer, InvalidInput

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


class Here(NamedTuple):
    """Where a task stands as it asks."""

    site: Site
    after: str
    """A digest of what the graphs came to that it has called before; empty if there are none."""
    first: str = ""
    """The id of what it asked here before others have changed the state, if that was something else."""
    left: dict[str, list[str]] | None = None
    """What it had asked, and has not come to again."""


def here(scope: "Scope", site: Site, line: str | None) -> Here:
    """Where a task stands; or a line beside it, which knows of the graphs that it has called itself."""
    if not scope.came_to or not scope.host.run.is_saved:
        return made(Here, (site, "", "", None))
    seen = [value for by, value in scope.came_to if line is None or by == line]
    return Here(site, digest(sorted(map(digest, seen))) if seen else "")


def next_place(scope: "Scope", key: str | None, value: Any, *, is_beside: bool) -> int | str:
    """What tells the question that a task asks now from its others: its key, or its place among those without one.

    Coroutines and threads beside a task ask in any order, so there it goes by what is asked.
    """
    if key is None and is_beside:
        return _as_said(scope, digest(value))
    if key is None:
        scope.asked += 1
        return scope.asked - 1
    if key in scope.keys:
        raise InvalidInput(
            f"Node {scope.task.name!r} asks twice with key={key!r}, so both would get the same answer. Give each "
            f'question a key of its own, such as key=f"{key}-{{attempt}}".'
        )
    if not key.isascii() and any("\ud800" <= character <= "\udfff" for character in key):
        raise InvalidInput(f"The key {key!r} of a question is not valid text: it has half of a surrogate pair.")
    scope.keys.add(key)
    return f"key\0{key}"


def _as_said(scope: "Scope", payload: str) -> str:
    """What stands for a question that goes by what it says: it may be asked several times."""
    with in_turn:
        said = next(said for nth in count() if (said := ids.said(payload, nth)) not in scope.keys)
        scope.keys.add(said)
    return said


def id_of(scope: "Scope", place: int | str) -> str:
    """The id of a question."""
    return ids.question_id(asker_id(scope), place)


def asker_id(scope: "Scope") -> str:
    """The task that the questions of a scope are named after."""
    return pending.asker_id(scope.task, scope.host.run.known)


def asked_in_other_kind(scope: "Scope", place: int | str, value: Any) -> tuple[str, Answer | None]:
    """The answer to a question that a run of the other kind has asked: sync, and this one is async, or so.

    A runnable may do beside its task in the one what it does itself in the other, and the question has another place.
    """
    payload, is_async = digest(value), scope.host.loop is not None
    asker, answers = asker_id(scope), scope.host.run.answers
    with in_turn:
        for other in _other_places(scope, place, payload, len(answers)):
            id = ids.question_id(asker, other)
            asked = answers[id].get("asked") if id in answers else None
            if asked and asked.get("payload") == payload and asked.get("is_async", False) != is_async:
                _take(scope, other)
                return id, answers[id]
    return ids.question_id(asker, place), None


def _other_places(scope: "Scope", place: int | str, payload: str, count: int) -> list[int | str]:
    """Where the same may have been asked, and is not asked again yet.

    By the task itself, later than now: what was asked beside it in one of the runs counts in the other. And beside it.
    """
    later = [at for at in range(scope.asked, scope.asked + count + 1) if _as_key(at) not in scope.keys]
    if isinstance(place, str):
        return [*later]
    return [*(said for said in (ids.said(payload, nth) for nth in range(count)) if said not in scope.keys), *later]


def _take(scope: "Scope", place: int | str) -> None:
    """Note that what was asked in a place is asked again: it is nobody else's."""
    if place == scope.asked:
        scope.asked += 1
    else:
        scope.keys.add(_as_key(place))


def _as_key(place: int | str) -> str:
    return place if isinstance(place, str) else f"at\0{place}"


def question(
    scope: "Scope", id: str, value: Any, form: Any, key: str | None, update: Any, here: Here
) -> Interrupt[Any]:
    """A new question. What is wrong with it is said here, at the call.

    update: what it tells the state, if that is not told yet.
    """
    schema = None if form is None else forms.published(form)
    if update is not None:
        scope.asides.append(_told(scope, id, update))
    if not scope.host.run.is_saved:
        return Interrupt(value, id, response_schema=schema, key=key)
    scope.host.check_question(value, scope.task.node.name, key)
    return Interrupt(value, id, response_schema=schema, key=key, origin=_origin(scope, value, here))


def handed_over(scope: "Scope", id: str, answer: Answer, value: Any, form: Any, here: Here) -> Any:
    """The answer to a question, if it is still the question that was answered."""
    run = scope.host.run
    then = answer.get("asked")
    if then is not None and not run.terms.accepts_changes and (here.site != then.get("site") or "is_edited" in then):
        now = _origin(scope, value, here)
        if not origin.is_same(then, now):
            scope.refusal = origin.mismatch(scope.task.name, id, then, now)
            if "is_edited" in then:
                run.given.setdefault(id, None)  # whenever it came, it is taken back: nobody was asked this
            raise scope.refusal
    published = None if form is None else _published(scope, id)
    try:
        given = copied(answer["value"])  # whatever the task does to it, the answer stays what it is
        typed = given if form is None else typed_answer(scope, id, given, form, published)
    except InvalidAnswer as error:
        has_changed = forms.published(form) != published
        scope.refusal = InvalidAnswer(f"{error} {_OTHER_FORM}") if has_changed else error
        run.given.setdefault(id, None)  # though it may have come earlier, it is taken back: nobody can use it
        raise scope.refusal from error
    run.given.pop(id, None)
    if run.found:
        run.found.pop(id, None)
    if then is not None and (node := scope.task.node.name) not in _warned_of:
        _warn_of_other_words(node, then, value)
    return typed


_warned_of: set[str] = set()


def _warn_of_other_words(node: str, then: Origin, value: Any) -> None:
    """Say once for a node that it has got the answer to other words than it asks by now."""
    if type(value) is str and then.get("shown") == repr(value):
        return  # a short text, which is shown whole: as mostly
    if then.get("payload", "") in ("", digest(value)):
        return
    _warned_of.add(node)
    import logging

    logging.getLogger("signoff").warning(
        "Node %r asked %s, and was answered. Now that it runs again it asks %s in the same place, and has got the "
        "answer. If that is not just a time, or the like, what was approved may not be what is done: make it in a "
        "node before, or in a @task, whose result is kept. A question with a key is not looked at.",
        node,
        then.get("shown"),
        shown(value),
    )


_OTHER_FORM = (
    "It was asked with another form than the code has now: answer in the form of now with "
    'on_changed="accept", or go on with the code that asked.'
)


def _published(scope: "Scope", id: str) -> dict[str, Any] | None:
    """The form that a question was asked with, as far as that is known."""
    return next((question.response_schema for question in meanwhile.asked_before(scope) if question.id == id), None)


def _origin(scope: "Scope", value: Any, here: Here) -> Origin:
    task = scope.task.visible
    asked: Origin = {
        "path": task.node.name if not task.ns else ids.stateful_ns(task.ns_inside),
        "site": here.site,
        "payload": digest(value),
        "shown": shown(value),
        "at": scope.host.run.terms.now(),
    }
    if task.caller is not None:
        asked["node"] = task.of_step.name
    if scope.task.node.has_both_kinds and scope.host.loop is not None:
        asked["is_async"] = True
    if here.after:
        asked["after"] = here.after
    if here.first:
        asked["first"] = here.first
    if here.left:
        asked["left"] = here.left
    meanwhile.note(scope, asked)
    if not getattr(scope.host.saver, "has_questions", False):
        asked["graph"] = scope.host.root.run.program.name
    return asked


def _told(scope: "Scope", id: str, update: Any) -> Record:
    """What a task tells the state as it asks, as a record to be stored with the question."""
    task = scope.task.of_step
    program = scope.host.run.program
    if program.is_one_function:
        raise InvalidInput(
            "interrupt(update=...) writes to the state of a graph, and an @entrypoint has none. Leave update out; "
            "what a @task returned is kept anyway."
        )
    program.check_update(update)
    # Savers sort by this: what was told earlier comes first, then by task, by the calls in it, and by their questions.
    path = f"{pending.place_beside(scope.host.run.known):06d}~{task.saved_path}~{_told_in(scope)}"
    return ids.aside_id(id), task.node.updates(update), path


def _told_in(scope: "Scope") -> str:
    """The place in the task of a step where something is told: the call, and which of its questions it is."""
    return f"{_place_of_call(scope.task)}~{scope.asked + len(scope.keys):06d}"


def was_told(scope: "Scope", id: str, place: int | str, value: Any, here: Here) -> bool:
    """Whether the state knows what a question tells it: the question is only asked again, in the same step, or words,
    since a person has changed the state, or gone back to when it was open."""
    if branching.has_told(scope.task, place, _told_in(scope)):
        return True
    known = scope.host.run.known
    if known is None:
        return False
    before = known.asked.get(scope.task.id, ())
    is_same = any(
        one.id == id and origin.is_asked_again(one.origin, lambda: digest(value), here.after) for one in before
    )
    return is_same or ids.aside_id(here.first or id) in known.results


def _place_of_call(task: Task) -> str:
    """The place of a call among those of its step's task; nothing for the task itself."""
    places = []
    while task.caller is not None:
        places.append(f"{task.path[-1]:06d}" if task.is_call else str(task.path[-1]))
        task = task.caller
    return ".".join(reversed(places))
