"""Nodes that a thread stands at, and its program does not have any more: shown to readers, and run by nobody."""

from collections.abc import Iterable
from dataclasses import replace

from signoff.constants import PULL, TASKS
from signoff.engine.pending import Pending
from signoff.engine.planning.error_handlers import with_handlers
from signoff.engine.planning.plan import next_tasks, waiting_nodes
from signoff.engine.planning.program_changes import asker_of, due_and_gone
from signoff.engine.program import Action, Node, Program
from signoff.engine.state import State
from signoff.engine.task import Task


def with_gone(program: Program, state: State, known: Pending) -> Program:
    """A program, for readers, that has every node that a state needs."""
    sent = [send.node for send in state.values.get(TASKS, ())]
    asking = [asker_of(state.ns, questions[0].origin) for questions in known.asked.values()]
    names = {*due_and_gone(program, state), *sent, *waiting_nodes(state), *asking} - program.nodes.keys()
    return (
        replace(program, nodes={**program.nodes, **{name: _gone(name) for name in sorted(names)}}) if names else program
    )


def tasks_with_gone(program: Program, state: State, known: Pending) -> list[Task]:
    """The tasks that are due, and those that are not due any more since the program was changed."""
    tasks = next_tasks(program, state, state.step + 1, reads=False)
    planned = {task.id for task in with_handlers(tasks, known)}
    for name in due_and_gone(program, state):
        tasks += _new(planned, Task(program.nodes[name], None, (PULL, name), (), state))
    for id, questions in known.asked.items():
        asker = asker_of(state.ns, questions[0].origin)
        task = Task(program.nodes[asker], None, (PULL, asker), (), state)
        task.id = id
        tasks += _new(planned, task)
    return tasks


def all_due(program: Program, state: State, known: Pending) -> list[Task]:
    """The same, given the program as it is: new input, or a person, moves a thread on from nodes that are gone, too."""
    return tasks_with_gone(with_gone(program, state, known), state, known)


def _new(planned: set[str], task: Task) -> Iterable[Task]:
    if task.id not in planned:
        planned.add(task.id)
        yield task


def _gone(name: str) -> Node:
    return Node(name, Action(name, None, None), (), lambda values, step, stop: None, lambda result: [])
