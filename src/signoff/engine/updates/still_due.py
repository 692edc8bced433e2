"""What stays due when a person changes the state and names no node: nobody has said that anything is over.

The last writer is what such an update comes from, and its edges are followed once more: they may lead elsewhere now.
Where it, or a caller, has led to by a `goto` or a Send, no edge leads.
"""

from collections.abc import Sequence
from typing import Any

from signoff._snapshots import StateUpdate
from signoff._words.commands import Command, Send
from signoff.constants import TASKS
from signoff.engine.program import Program, Write
from signoff.engine.state import State
from signoff.engine.task import Outcome, Task


def names_nobody(update: StateUpdate) -> bool:
    """Whether an update says neither which node nor which task it comes as."""
    return update.as_node is None and update.task_id is None


def is_led(program: Program, task: Task) -> bool:
    """Whether an edge, a `goto` or a Send has led to a task, and not the input, or a channel that its node reads."""
    return task.name in program.nodes and (task.is_sent or program.flags.issuperset(task.triggers))


def lead_on(
    program: Program, state: State, tasks: Sequence[Task], updates: Sequence[StateUpdate], outcomes: Sequence[Outcome]
) -> None:
    """Have tasks that are due, and have come to nothing yet, stay due behind the outcomes of updates.

    Not so if a person says where to go on, nor behind a conditional edge, which has decided anew.
    """
    unnamed = [outcome for update, outcome in zip(updates, outcomes, strict=True) if names_nobody(update)]
    is_said = any(_says_where(update.values) for update in updates)
    if unnamed and not is_said and not any(outcome.task.node.branches for outcome in unnamed):
        written = {name for outcome in outcomes for name, _ in outcome.writes}
        led = [task for task in tasks if is_led(program, task) and written.isdisjoint(task.triggers)]
        unnamed[0].writes = [*unnamed[0].writes, *(write for task in led for write in _leading_to(state, task))]


def _says_where(values: Any) -> bool:
    several = values if isinstance(values, list | tuple) else [values]
    return any(isinstance(one, Send) or (isinstance(one, Command) and bool(one.goto)) for one in several)


def _leading_to(state: State, task: Task) -> list[Write]:
    if task.is_sent:
        return [(TASKS, Send(task.name, task.input, timeout=state.values[TASKS][task.path[1]].timeout))]
    return [(trigger, state.values[trigger]) for trigger in task.triggers]
