"""Planning: which tasks are due at a state."""

from collections.abc import Collection, Iterable
from typing import Any

from signoff.constants import MISSING, PULL, PUSH, TASKS, WAITING
from signoff.engine.ids import place_of_send, send_digests
from signoff.engine.program import Node, Program
from signoff.engine.state import State
from signoff.engine.task import Task
from signoff.errors import GraphChanged, UnknownNode

_BY_SEND = (PUSH,)


def next_tasks(
    program: Program, state: State, stop: int, only: Collection[str] | None = None, *, reads: bool = True
) -> list[Task]:
    """The tasks that are due, or only those with certain ids, in the order in which their writes will be folded.

    Whoever just looks at them, and runs none, leaves the state unread: it may not fit the nodes any more.
    """
    tasks: list[Task] = []
    for name in due_nodes(program, state):
        node = program.nodes[name]
        if only is not None and state.place + node.digest not in only:
            continue
        triggers = node.triggers if len(node.triggers) == 1 else _fired(program, state, node)
        input = node.read(state.values, state.step + 1, stop) if reads else None
        tasks.append(Task(node, input, (PULL, name), triggers, state))
    if TASKS in state.values:
        _add_pushed(program, state, tasks, only)
    if program.pauses_branch and WAITING in state.values:
        held = held_nodes(program, state)
        tasks = [task for task in tasks if task.is_sent or task.name not in held]
        tasks += [_waiting(program, state, stored, stop, reads) for stored in state.values[WAITING]]
    return tasks


def held_nodes(program: Program, state: State) -> set[str]:
    """The nodes behind tasks that wait: they are not due before those have finished."""
    return {name for node in waiting_nodes(state) for name in program.behind(node)}


def waiting_nodes(state: State) -> list[str]:
    """The nodes of tasks that wait while others go on, by name."""
    return [stored["node"] for stored in state.values.get(WAITING, ())]


def has_more(program: Program, state: State) -> bool:
    """Whether something is still to be done at a state."""
    return bool(state.values.get(TASKS) or state.values.get(WAITING) or due_nodes(program, state))


def due_nodes(program: Program, state: State) -> list[str]:
    """The nodes that listen to what the last step wrote, by name."""
    listeners, values = program.listeners, state.values
    due: list[str] = []
    for channel in state.updated:
        if channel in listeners and channel in values:
            if channel in program.opaque and not _is_open(program, state, channel):
                continue
            due += listeners[channel]
    if due and (len(due) > 1 or TASKS in values):
        due = _without_early(program, state, sorted(set(due)))
    return due


def _without_early(program: Program, state: State, due: list[str]) -> list[str]:
    """Names without those of nodes that need what others come to which are due, too, and lead to them."""
    early = [name for name in due if program.nodes[name].waits_for]
    if not early:
        return due
    busy = {*due, *(send.node for send in state.values.get(TASKS, ()))}
    return [name for name in due if name not in early or busy.isdisjoint(program.nodes[name].waits_for)]


def _is_open(program: Program, state: State, channel: str) -> bool:
    return program.channels[channel].get(state.values[channel]) is not MISSING


def _fired(program: Program, state: State, node: Node) -> tuple[str, ...]:
    """Those of a node's triggers that make it due now."""
    written = (channel for channel in node.triggers if channel in state.updated and channel in state.values)
    return tuple(channel for channel in written if channel not in program.opaque or _is_open(program, state, channel))


def _waiting(program: Program, state: State, stored: Any, stop: int, reads: bool) -> Task:
    """A task that waits since an earlier checkpoint, with the id that it had there."""
    node = program.nodes.get(stored["node"])
    if node is None:
        raise GraphChanged(
            f"Node {stored['node']!r} waits for an answer, but the {program.shown} does not have it any more. "
            f"{untouched(state.ns)}: go on with the graph that asked, or give the node its old name back."
        )
    is_read = reads and "arg" not in stored
    input = node.read(state.values, state.step + 1, stop) if is_read else stored.get("arg")
    task = Task(node, input, tuple(stored["path"]), (), state)
    task.id = stored["id"]
    task.began_at = stored["began_at"]
    return task


def untouched(ns: str) -> str:
    """What errors say of the work of a graph that does not go on: of a nested one, tasks around it may have run."""
    return "Nothing of the nested graph was run" if ns else "Nothing was run"


def sent_to(sends: Iterable[Any]) -> set[str]:
    """The nodes that Sends go to, by name: mostly it is one."""
    return {send.node for send in sends}


def _add_pushed(program: Program, state: State, tasks: list[Task], only: Collection[str] | None) -> None:
    """The tasks that Sends ask for. There may be thousands."""
    nodes, sends = program.nodes, state.values[TASKS]
    digests, places = send_digests(len(sends)), range(len(sends))
    for index in places if only is None else sorted(place for id in only if (place := place_of_send(id)) in places):
        send = sends[index]
        if send.node not in nodes:
            raise UnknownNode(f"A Send names the node {send.node!r}, which the {program.shown} does not have.")
        path = (PUSH, index, False)
        tasks.append(Task(nodes[send.node], send.arg, path, _BY_SEND, state, send.timeout, digests[index]))
