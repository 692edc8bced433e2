"""Planning: which tasks are due at a state."""

from signoff.constants import MISSING, PULL, PUSH, TASKS
from signoff.engine.program import Node, Program
from signoff.engine.state import State
from signoff.engine.task import Task
from signoff.errors import UnknownNode
from signoff.types import Send


def next_tasks(program: Program, state: State, stop: int) -> list[Task]:
    """The tasks that are due, in the order in which their writes will be folded."""
    tasks: list[Task] = []
    for name in due_nodes(program, state):
        node = program.nodes[name]
        triggers = node.triggers if len(node.triggers) == 1 else _fired(program, state, node)
        tasks.append(Task(node, node.read(state.values, state.step + 1, stop), (PULL, name), triggers, state))
    if TASKS in state.values:
        tasks += [_pushed(program, state, send, index) for index, send in enumerate(state.values[TASKS])]
    return tasks


def due_nodes(program: Program, state: State) -> list[str]:
    """The nodes that listen to what the last step wrote, by name."""
    listeners, values = program.listeners, state.values
    due: list[str] = []
    for channel in state.updated:
        if channel in listeners and channel in values:
            if channel in program.opaque and not _is_open(program, state, channel):
                continue
            due += listeners[channel]
    return sorted(set(due)) if len(due) > 1 else due


def _is_open(program: Program, state: State, channel: str) -> bool:
    return program.channels[channel].get(state.values[channel]) is not MISSING


def _fired(program: Program, state: State, node: Node) -> tuple[str, ...]:
    """Those of a node's triggers that make it due now."""
    written = (channel for channel in node.triggers if channel in state.updated and channel in state.values)
    return tuple(channel for channel in written if channel not in program.opaque or _is_open(program, state, channel))


def _pushed(program: Program, state: State, send: Send, index: int) -> Task:
    node = program.nodes.get(send.node)
    if node is None:
        raise UnknownNode(f"A Send names the node {send.node!r}, which {program.name!r} does not have.")
    return Task(node, send.arg, (PUSH, index, False), (PUSH,), state, send.timeout)
