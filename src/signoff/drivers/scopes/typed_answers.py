"""Typed answers: the same one each time that their task runs again.

A form may make what an answer does not say, such as an id. That is kept with what the task asks next, or fails with:
what a person approves then is what is done.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from signoff import forms
from signoff._copies import copied
from signoff.constants import MISSING, RETURN
from signoff.engine import ids
from signoff.engine.program import Write
from signoff.errors import InvalidAnswer

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


def typed_answer(scope: "Scope", id: str, given: Any, form: Any, published: dict[str, Any] | None) -> Any:
    """The answer to a question as the type of its form."""
    if not scope.host.run.is_saved or not forms.makes_values(form):
        return forms.filled_in(form, given, published)
    kept = _kept(scope, ids.completed_id(id))
    if kept:
        with suppress(InvalidAnswer):  # another form by now, which may take what was answered
            return forms.filled_in(form, copied(dict(kept)[RETURN]), published)
    typed = forms.filled_in(form, given, published)
    if not kept and (completed := forms.completed(form, typed)) is not MISSING:
        _keep(scope, ids.completed_id(id), [(RETURN, completed)])
    return typed


def _kept(scope: "Scope", id: str) -> list[Write]:
    """What a form has made of an answer when the task ran before; nothing if it has not."""
    run = scope.host.run
    if run.known is not None and id in run.known.results:
        return run.known.results[id]
    if id in run.called:  # the task tries again, and nothing is stored yet
        _keep(scope, id, run.called[id])
    return run.called.get(id, [])


def _keep(scope: "Scope", id: str, writes: list[Write]) -> None:
    scope.host.run.called[id] = writes
    scope.asides.append((id, writes, scope.task.saved_path))
