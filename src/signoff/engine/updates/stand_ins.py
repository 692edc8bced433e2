"""Stand-ins: tasks that return what a person says, in the place of those that are due."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signoff._snapshots import StateUpdate
from signoff.constants import PULL, START
from signoff.engine import answers, ids
from signoff.engine.effects import Await
from signoff.engine.planning.fold import bulk_update
from signoff.engine.program import Action, Node
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.task import Outcome, Task
from signoff.engine.threads.remains import taken
from signoff.engine.updates.still_due import is_led, names_nobody
from signoff.errors import InvalidUpdateError, TaskNotFound
from signoff.steps import Steps


def stood_in(run: Run, state: State, tasks: Sequence[Task], updates: Sequence[StateUpdate]) -> Steps[list[Outcome]]:
    """What comes of updates, each in the place of a task that is due, with the conditional edges behind its node."""
    stand_ins: list[Task] = []
    left = sorted(tasks, key=lambda task: not task.is_sent)  # as snapshots show them
    for update in updates:
        stand_ins.append(_stand_in(run, state, left, update))
        left = [task for task in left if task.id != stand_ins[-1].id]
    outcomes: list[Outcome] = []
    # What the edges were answered before counts only if they ask the same on what the person says.
    given, run.answers = run.answers, {id: {**one, "asked": taken(one)} for id, one in run.answers.items()}
    try:
        while len(outcomes) < len(stand_ins):
            outcomes += yield Await([] if outcomes else stand_ins)
    finally:
        run.answers = given
    for outcome in outcomes:
        if outcome.untold is not None or not outcome.is_done:
            raise _asking(outcome) if outcome.cause is None else outcome.cause
    return sorted(outcomes, key=lambda outcome: stand_ins.index(outcome.task))


def _stand_in(run: Run, state: State, tasks: Sequence[Task], update: StateUpdate) -> Task:
    """A task whose function returns the values of an update, in the place of a pending one of its node: of the first,
    or of the one that the update names."""
    place = _named(tasks, update) if update.task_id else None
    name = place.name if place is not None else update.as_node or _last_writer(run, state)
    place = place or next((task for task in tasks if task.name == name), None)
    node = _returning(run.program.nodes[name], update.values)
    if place is None:
        return Task(node, None, (PULL, name), (), state)
    task = place.retargeted(node, place.path)
    # One that has led back to its own node has finished; the next one is due, and nobody has said what it comes to.
    task.id = ids.behind_id(place.id) if names_nobody(update) and is_led(run.program, place) else place.id
    return task


def _named(tasks: Sequence[Task], update: StateUpdate) -> Task:
    """The pending task that an update names."""
    task = next((task for task in tasks if task.id == update.task_id), None)
    if task is None:
        raise TaskNotFound(f"No task {update.task_id!r} is pending. Pending are: {[task.id for task in tasks]}.")
    if update.as_node not in (None, task.name):
        raise InvalidUpdateError(
            f"Task {task.id!r} is one of {task.name!r}, not of {update.as_node!r}. Leave out as_node, "
            f"or take the id of a task of {update.as_node!r} from get_state(config).tasks."
        )
    return task


def _returning(node: Node, values: Any) -> Node:
    said = Action(node.name, lambda _: values, runs_inline=True)
    return replace(node, action=said, retry=(), cache=None, timeout=None, handler=None)


def _last_writer(run: Run, state: State) -> str:
    names = [name for name in dict.fromkeys(state.writers) if name in run.program.nodes]
    if len(names) == 1:
        return names[0]
    nodes = [*run.program.nodes]
    if not names and (START in nodes or len(nodes) == 1):
        return START if START in nodes else nodes[0]
    raise InvalidUpdateError(
        f"Ambiguous update, specify as_node: the last step ran {', '.join(map(repr, names)) or 'nothing'}. "
        f"Say which node the values come from: update_state(config, values, as_node=...).{_all_of(names)}"
    )


def _all_of(names: Sequence[str]) -> str:
    """What it means to choose one of several nodes, and how to have an update come from all of them."""
    if not names:
        return ""
    first, *others = names
    return (
        " Then only the edges of that node are followed, and what others have led to is not due any more. "
        f"To follow the edges of all of them: {bulk_update([f'StateUpdate(values, {first!r})'], others)}."
    )


def _asking(outcome: Outcome) -> InvalidUpdateError:
    """The refusal of an update behind which an edge asks: there is nobody to wait for the answer."""
    asked = ", ".join(answers.shown(question.value) for question in outcome.questions or ())
    return InvalidUpdateError(
        f"After an update as {outcome.task.name!r} comes the edge behind that node, which asks {asked}, and an update "
        "cannot wait for an answer. Nothing was changed. Give the change together with the answer, "
        "Command(resume=..., update=...), or update as another node."
    )
