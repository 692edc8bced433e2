"""What is due when a run goes on: hundreds of tasks, perhaps, of which few have to run."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from signoff._words.questions import Interrupt
from signoff.constants import PULL, TASKS
from signoff.engine import pending
from signoff.engine.ids import send_digests
from signoff.engine.origin import unsettled
from signoff.engine.pending import Pending
from signoff.engine.planning.edge_questions import pass_over_functions
from signoff.engine.planning.error_handlers import handler_task, with_handlers
from signoff.engine.planning.plan import due_nodes, next_tasks, sent_to
from signoff.engine.planning.program_changes import check_asking, check_joins, check_nodes, check_readable
from signoff.engine.program import Node, Write
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.task import Outcome, Row, Task

Due = dict[str, Node]
"""The nodes of the tasks that are due, by the ids of these, in the order in which their writes will be folded."""


def due_by_id(run: Run, state: State) -> Due:
    """What is due, tasks that handle the errors of others included."""
    program = run.program
    if not _is_plain(run, state):
        tasks = next_tasks(program, state, run.stop, reads=False)
        return {task.id: task.node for task in (tasks if run.known is None else with_handlers(tasks, run.known))}
    place, nodes = state.place, program.nodes
    due = {place + nodes[name].digest: nodes[name] for name in due_nodes(program, state)}
    if sends := state.values.get(TASKS):
        ids = [place + digest for digest in send_digests(len(sends))[: len(sends)]]
        named = sent_to(sends)
        if len(named) == 1 and named <= nodes.keys():
            due |= dict.fromkeys(ids, nodes[named.pop()])
        else:
            due |= {id: nodes[send.node] for id, send in zip(ids, sends, strict=True) if send.node in nodes}
    return due


def due_to_go_on(run: Run, state: State) -> Due:
    """What is due where a thread stopped; refused, if the program was changed so that it cannot go on there."""
    check_nodes(run, state)
    due = due_by_id(run, state)
    if state.gone:
        check_joins(run, state, due)
    if run.known is not None:
        check_asking(run, due, run.known)
    return due


def row_of(run: Run, state: State, due: Due) -> Row:
    """The tasks that have to run, and in between the outcomes of the others, as far as these can be told so early."""
    known = run.known
    if known is None or len(due) == 1 or not _is_plain(run, state):
        return sorted_out(run, planned(run, state))
    row: list[Task | Outcome] = []
    ids, begin = list(due), 0
    for task in planned(run, state, _have_to_run(run, due, known)):
        place = ids.index(task.id, begin)
        row += [*_settled(state, due, known, ids[begin:place]), task]
        begin = place + 1
    return [*row, *_settled(state, due, known, ids[begin:])]


def planned(run: Run, state: State, only: Collection[str] | None = None) -> list[Task]:
    """The tasks that are due, or only some, where a thread goes on. What they could read before, they still can."""
    try:
        tasks = next_tasks(run.program, state, run.stop, only)
    except Exception:
        check_readable(run, state)
        raise
    if run.known is not None:
        pass_over_functions(tasks, run.program, run.known)
    return tasks


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


def _have_to_run(run: Run, due: Due, known: Pending) -> set[str]:
    """The ids of the tasks that neither have finished, nor just wait for an answer."""
    asked, results = known.asked, known.results
    found = {id for id in due if id not in asked and id not in results}
    found.update([id for id in unsettled(asked, run.answers, results) if id in due])
    return found


def _settled(state: State, due: Due, known: Pending, ids: Sequence[str]) -> Iterator[Outcome]:
    """What tasks that need not run came to. Of neighbours with one node, those that have finished are one outcome."""
    results, asked = known.results, known.asked
    for node, group in groupby(ids, due.__getitem__):
        task = Task(node, None, (PULL, node.name), (), state)
        done: list[list[Write]] = []
        questions: list[Interrupt[Any]] = []
        for id in group:
            if id in results:
                done.append(results[id])
            else:
                questions += asked[id]
        if done:
            yield Outcome(task, [*chain.from_iterable(done)], is_known=True)
        if questions:
            yield Outcome(task, questions=tuple(questions), is_known=True)


def _is_plain(run: Run, state: State) -> bool:
    """Whether the id of a task is all that it takes to see how it stands."""
    known = run.known
    if known is not None and (known.failures or known.renamed or known.leads):
        return False
    return run.program.is_simple and bool(state.place)
