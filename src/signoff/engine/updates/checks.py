"""What is wrong with updates by a person, as far as the program can tell: whom they come as, and what they say."""

from collections.abc import Sequence
from typing import Any

from signoff._snapshots import StateUpdate
from signoff._words.commands import Command
from signoff.constants import COPY, END, INPUT, MISSING, START
from signoff.engine.program import Program
from signoff.errors import InvalidInput, InvalidUpdateError, UnknownNode

_ALONE = (END, COPY, INPUT)


def check_updates(program: Program, supersteps: Sequence[Sequence[StateUpdate]]) -> None:
    """Refuse updates that no state could take, before anything is looked at."""
    if not supersteps:
        raise InvalidInput("No supersteps provided: give bulk_update_state at least one list of updates.")
    for updates in supersteps:
        if not updates:
            raise InvalidInput("No updates provided: each superstep needs at least one StateUpdate.")
        for update in updates:
            _check_node(program, update, len(updates))


def _check_node(program: Program, update: StateUpdate, count: int) -> None:
    name = update.as_node
    if not isinstance(name, str | None):
        raise UnknownNode(f"as_node is {name!r}, which cannot name a node: names are texts.")
    if name in _ALONE:
        if count > 1:
            raise InvalidUpdateError(f"An update as {name!r} must be the only one of its superstep.")
        if name == END and update.values is not None:
            raise InvalidUpdateError("An update as END ends what is pending and takes no values. Use values=None.")
    elif name is not None and name not in program.nodes:
        names = ", ".join(repr(node) for node in program.nodes if node != START)
        raise UnknownNode(f"as_node is {name!r}, which the {program.shown} does not have. Its nodes are: {names}.")
    elif name is None or program.nodes[name].graph is None:
        _refuse_answer(update.values)
        program.check_update(update.values)


def _refuse_answer(values: Any) -> None:
    if isinstance(values, Command) and values.resume is not MISSING:
        raise InvalidUpdateError(
            f"The update is {values!r}, with an answer in it, and an update answers nothing. Nothing was changed. "
            "Answer with invoke(Command(resume=...), config)."
        )
