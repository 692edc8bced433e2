"""A caller: plays a script, and knows after a crash what it has to do again.

What it has written into its notebook survives: a caller is not the process that runs the graph.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from signoff._snapshots import StateSnapshot
from signoff.constants import CHECKPOINT_ID, CONF, THREAD_ID
from signoff.errors import AlreadyAnswered, InvalidInput, LeaseLost, SignoffError, ThreadBusy
from signoff.steps import Steps
from signoff.testing._witness import Violation
from signoff.testing.acts import Act, GoOn, Input, Script, Update, Where

__all__ = ["Do", "Notebook", "READS", "THREAD", "THREAD_NAME", "Wait", "play"]

THREAD_NAME = "1"
THREAD: Any = {CONF: {THREAD_ID: THREAD_NAME}}
"""The thread of a world."""

READS = ("get_state", "get_state_history")

MAX_TRIES = 50
"""How often a caller tries what fails before it gives up."""

MAX_CALLS = 1_000
"""How many calls the acts of a script may need."""


class Do(NamedTuple):
    """Call a method of the graph."""

    method: str
    args: tuple[Any, ...] = ()


class Wait(NamedTuple):
    """Let time pass, in parts of a lease: with more than one, every lease runs out that is not renewed."""

    leases: float = 2.0


@dataclass(slots=True)
class Notebook:
    """What a caller remembers."""

    position: int = 0
    """The act that is under way, or next."""
    head: str | None = None
    """The newest checkpoint before that act: as long as it is the newest, the act has not been stored."""
    given: Any = None
    """The answer whose call has not come back."""
    shown: list[Any] = field(default_factory=list)
    """What streams have shown."""
    calls: int = 0
    failures: int = 0
    error: Exception | None = None
    """What the last run has failed with."""


def play(script: Script, notebook: Notebook) -> Steps[None]:
    """Play a script to its end, from where the notebook says."""
    if notebook.given is not None:
        yield from _give_again(notebook)
    while notebook.position < len(script.acts):
        yield from _carry_out(script.acts[notebook.position], notebook)
        yield from push_on(script, notebook)
        notebook.position, notebook.head = notebook.position + 1, None


def _give_again(notebook: Notebook) -> Steps[None]:
    """Give an answer again whose call has crashed. That it was given already means that it was stored."""
    while not (yield from _give(notebook, notebook.given)):
        pass
    notebook.given = None


def _carry_out(act: Act, notebook: Notebook) -> Steps[None]:
    """Do something, unless it was done already."""
    notebook.error = None
    while True:
        state: StateSnapshot = yield Do("get_state", (THREAD,))
        head = state.config[CONF].get(CHECKPOINT_ID, "")
        if notebook.head is None:
            notebook.head = head
        if notebook.head != head:
            return
        if notebook.error is not None:
            raise notebook.error  # it failed before anything was stored: trying again would not help
        if (yield from _tried(notebook, _doing(act))) and notebook.error is None:
            return


def push_on(script: Script, notebook: Notebook) -> Steps[None]:
    """Answer what is asked, and go on, until nothing is left to do."""
    while True:
        state: StateSnapshot = yield Do("get_state", (THREAD,))
        if state.interrupts:
            notebook.given = script.command(state.interrupts)
            yield from _give(notebook, notebook.given)
            notebook.given = None
        elif state.next:
            yield from _give(notebook, None)
        else:
            return


def _give(notebook: Notebook, input: Any) -> Steps[bool]:
    return (yield from _tried(notebook, _invoke(input)))


def _invoke(input: Any) -> Steps[Any]:
    return (yield Do("invoke", (input, THREAD)))


def _tried(notebook: Notebook, doing: Steps[Any]) -> Steps[bool]:
    """Try to do something. Returns whether the thread could be had; what came of it shows in its state."""
    notebook.calls += 1
    if notebook.calls > MAX_CALLS:
        raise Violation(f"after {MAX_CALLS} calls the thread has not come to rest")
    try:
        yield from doing
    except ThreadBusy:
        notebook.failures += 1
        if notebook.failures > MAX_TRIES:
            raise
        yield Wait()
        return False
    except LeaseLost:
        return False  # with "exit", what it was given is lost with it
    except AlreadyAnswered:
        return True
    except (SignoffError, Violation):
        raise
    except Exception as error:
        # A node failed, and what the thread has come to is saved: to go on means to try it again.
        notebook.error = error
        notebook.failures += 1
        if notebook.failures > MAX_TRIES:
            raise
    return True


def _doing(act: Act) -> Steps[None]:
    match deepcopy(act):  # what a node changes in place must not be in the input of the next run
        case Input(value):
            yield Do("invoke", (value, THREAD))
        case GoOn(at):
            yield Do("invoke", (None, (yield from _place(at))))
        case Update(values, as_node, at):
            yield Do("update_state", ((yield from _place(at)), values, as_node))


def _place(at: Where | None) -> Steps[Any]:
    if at is None:
        return THREAD
    history: Sequence[StateSnapshot] = yield Do("get_state_history", (THREAD,))
    for state in history:
        if at(state):
            return state.config
    raise InvalidInput("The history has no checkpoint that the act's `at` is true for.")
