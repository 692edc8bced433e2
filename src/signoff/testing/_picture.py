"""What is left of a thread when all is over, in a form that can be compared: ids and times are left out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from signoff._words.questions import Interrupt
from signoff.constants import CHECKPOINT_NS, CONF, INTERRUPT, WAITING
from signoff.engine.ids import stateful_ns
from signoff.testing._caller import THREAD, Notebook

__all__ = ["Picture", "difference", "picture_of"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A thread, as far as it must not depend on what happened to the processes."""

    state: Any
    """Its values, and what is due."""
    questions: Any
    """What is open, in the state and in the index."""
    history: Any
    """Of each checkpoint its values, what was due, where it came from, its step."""
    nested: Any
    """The same of the graphs inside, by the names of the nodes around them."""


def picture_of(app: Any, saver: Any) -> Picture:
    """Look at the thread of a world."""
    state = app.get_state(THREAD)
    return Picture(
        (state.values, state.next),
        (_payloads(state.interrupts), _index(saver, state.interrupts)),
        [_shape(one) for one in app.get_state_history(THREAD)],
        sorted((_nested_shape(saved) for saved in saver.list(THREAD) if saved.config[CONF][CHECKPOINT_NS]), key=repr),
    )


def difference(clean: Picture, picture: Picture, *, leaving_out: Collection[str] = ()) -> str | None:
    """What is not as it should be."""
    for one in fields(Picture):
        if one.name in leaving_out:
            continue
        expected, found = getattr(clean, one.name), getattr(picture, one.name)
        if expected != found:
            return f"the {one.name} of the thread is\n  {found}\nand not\n  {expected}"
    return None


def false_chunk(clean: Notebook, notebook: Notebook) -> str | None:
    """Something that a stream has shown, and that a run without a crash does not.

    Pauses do not count: after a crash, questions may be answered in another order.
    """
    expected = [_told(payload) for _, payload in clean.shown]
    for mode, payload in notebook.shown:
        is_pause = isinstance(payload, dict) and INTERRUPT in payload
        if not is_pause and _told(payload) not in expected:
            return f"a stream of {mode} showed {payload}, which a run without a crash does not"
    return None


def _told(payload: Any) -> Any:
    """A chunk without the note that it comes from an earlier run."""
    if not isinstance(payload, dict):
        return payload
    return {name: value for name, value in payload.items() if name != "__metadata__"}


def _shape(state: Any) -> Any:
    metadata = state.metadata or {}
    return state.values, state.next, metadata.get("source"), metadata.get("step")


def _nested_shape(saved: Any) -> Any:
    ns, metadata = saved.config[CONF][CHECKPOINT_NS], saved.metadata
    values = [(name, value) for name, value in saved.checkpoint["channel_values"].items() if name != WAITING]
    return stateful_ns(ns), metadata.get("step"), metadata.get("source"), sorted(values)


def _index(saver: Any, questions: Sequence[Interrupt[Any]]) -> Any:
    if not getattr(saver, "has_questions", False):
        return _payloads(questions)
    from signoff.checkpoint.questions import Wanted

    return _payloads([question.interrupt for question in saver.find_questions(Wanted())])


def _payloads(questions: Sequence[Interrupt[Any]]) -> list[Any]:
    return sorted(((question.key or "", question.value) for question in questions), key=repr)
