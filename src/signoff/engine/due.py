"""What is due when a run goes on: hundreds of tasks, perhaps, of which few have to run."""

from collections.abc import Sequence
from typing import Any

from signoff.constants import PULL, TASKS
from signoff.engine import pending
from signoff.engine.handling import handler_task, with_handlers
from signoff.engine.ids import send_digests
from signoff.engine.pending import Pending
from signoff.engine.plan import due_nodes, next_tasks
from signoff.engine.program import Node, Write
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.task import Outcome, Row, Task
from signoff.types import Interrupt

Due = dict[str, Node]
"""The nodes of the tasks that are due, by the ids of these, in the order in which their writes will be folded."""


def due_by_id(run: Run, state: State) -> Due:
    """What is due, tasks that handle the errors of others included."""
    program = run.program
    if not _is_plain(run, state):
        tasks = next_tasks(program, state, run.stop)
        return {task.id: task.node for task in (tasks if run.known is None else with_handlers(tasks, run.known))}
    place, nodes = state.place, program.nodes
    due = {place + nodes[name].digest: nodes[name] for name in due_nodes(program, state)}
    if sends := state.values.get(TASKS):
        placed = zip(sends, send_digests(len(sends)), strict=False)
        due.update({place + digest: nodes[send.node] for send, digest in placed if send.node in nodes})
    return due


def row_of(run: Run, state: State, due: Due) -> Row:
    """The tasks that have to run, and in between the outcomes of the others, as far as these can be told so early."""
    known = run.known
    if known is None or len(due) == 1 or not _is_plain(run, state):
        return sorted_out(run, next_tasks(run.program, state, run.stop))
    tasks = {task.id: task for task in next_tasks(run.program, state, run.stop, _unsettled(run, due, known))}
    row: list[Task | _Settled] = []
    settled: _Settled | None = None
    for id, node in due.items():
        if id in tasks:
            row.append(tasks[id])
            settled = None
            continue
        if settled is None or settled.node is not node:
            settled = _Settled(node)
            row.append(settled)
        if id in known.results:
            settled.is_done = True
            settled.writes += known.results[id]
        else:
            settled.questions += known.asked[id]
    return [one for part in row for one in (part.outcomes(state) if isinstance(part, _Settled) else (part,))]


def sorted_out(run: Run, tasks: Sequence[Task]) -> Row:
    """Tasks, with outcomes in place of those that need not run; behind them, the handlers of such as have failed."""
    known = run.known
    if known is None:
        return tasks
    row: list[Task | Outcome] = [pending.settled(task, known, run.answers) or task for task in tasks]
    if known.failures:
        for place, one in enumerate(tasks):
            error = known.failures.get(one.id)
            if row[place] is one and error is not None and one.node.handler is not None:
                row[place] = Outcome(one, error=error, is_known=True)
                handler = handler_task(one, error)
                row.append(pending.settled(handler, known, run.answers) or handler)
    return row


def _unsettled(run: Run, due: Due, known: Pending) -> set[str]:
    """The ids of the tasks that have to run: neither have they finished, nor do they wait for an answer."""
    results, asked, given = known.results, known.asked, run.answers
    answered = {
        id for id, questions in asked.items() if id not in results for question in questions if question.id in given
    }
    return {id for id in due if id not in results and (id not in asked or id in answered)}


class _Settled:
    """Neighbours in a row, all of one node, that need not run: what they came to, taken together."""

    __slots__ = ("is_done", "node", "questions", "writes")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.is_done = False
        """Whether any of them has finished."""
        self.writes: list[Write] = []
        self.questions: list[Interrupt[Any]] = []

    def outcomes(self, state: State) -> list[Outcome]:
        """One for those that have finished, one for those that wait."""
        task = Task(self.node, None, (PULL, self.node.name), (), state)
        done = [Outcome(task, self.writes, is_known=True)] if self.is_done else []
        return [*done, Outcome(task, questions=tuple(self.questions), is_known=True)] if self.questions else done


def _is_plain(run: Run, state: State) -> bool:
    """Whether the id of a task is all that it takes to see how it stands."""
    known = run.known
    return run.program.is_simple and bool(state.place) and (known is None or not (known.failures or known.renamed))
