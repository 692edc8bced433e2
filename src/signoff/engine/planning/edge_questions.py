"""At the edges: the function of a task has come to its end, and a conditional edge behind it asks.

What the function came to is kept with the question. The answer is for that, and the function is not called again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signoff.constants import NO_WRITES, TASKS
from signoff.engine import ids
from signoff.engine.pending import Pending
from signoff.engine.program import Action, Program, Write
from signoff.engine.task import Record, Task


def is_kept_at_edges(program: Program, scope: Any, writes: Sequence[Write]) -> bool:
    """Whether all that a function came to are its writes, and all of these can be kept.

    One that has asked or called something itself is called again: the questions of its edges have places behind that.
    """
    task, output = scope.task, scope.output
    if task.node.is_hidden or not scope.host.run.is_saved:
        return False
    if scope.asked or scope.keys or scope.calls or scope.asides or scope.writes or scope.came_to or scope.led_by:
        return False
    is_seen_whole = not isinstance(output, dict) or output.keys() <= program.channels.keys()
    return is_seen_whole and program.unsaved.isdisjoint(key for key, _ in writes)


def result_at_edges(task: Task, writes: Sequence[Write]) -> Record:
    """What is stored of a function that has come to its end."""
    return ids.came_to_id(task.id), list(writes) or [(NO_WRITES, None)], task.saved_path


def pass_over_functions(tasks: Sequence[Task], program: Program, known: Pending) -> None:
    """Have tasks begin at their edges whose functions have come to their end before."""
    for task in tasks:
        if task.node.branches and (writes := known.results.get(ids.came_to_id(task.id))) is not None:
            go_to_edges(task, program, writes)


def go_to_edges(task: Task, program: Program, writes: Sequence[Write]) -> None:
    """Have a task begin at its edges: what its function comes to is known."""
    told = told_in(program, writes)
    came_to = Action(task.name, lambda _: told, runs_inline=True)
    task.node = replace(task.node, action=came_to, updates=lambda _: list(writes), cache=None)


def told_in(program: Program, writes: Sequence[Write]) -> dict[str, Any]:
    """What writes say of the state, by key."""
    return {key: value for key, value in writes if key not in program.listeners and key != TASKS}
