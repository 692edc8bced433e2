"""A changed program: noticed before it goes on where another one stopped."""

from collections.abc import Container, Mapping
from typing import Any

from signoff.constants import TASKS, TRIGGER
from signoff.engine.fitting import has_opened, parts_of_join
from signoff.engine.ids import BESIDE, stateful_ns
from signoff.engine.origin import Origin
from signoff.engine.pending import Pending
from signoff.engine.planning.plan import due_nodes, sent_to, untouched, waiting_nodes
from signoff.engine.program import Program
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.errors import GraphChanged, StateChanged


def check_nodes(run: Run, state: State) -> None:
    """Refuse to go on if a node that is due is gone."""
    program = run.program
    gone = due_and_gone(program, state)
    if TASKS in state.values:
        gone += sorted(sent_to(state.values[TASKS]) - program.nodes.keys())
    if state.gone:
        gone += [name.removeprefix(TRIGGER) for name in state.gone if name.startswith(TRIGGER)]
    if gone:
        name = gone[0]
        raise GraphChanged(f"Thread {run.thread_id!r} goes on at node {name!r}, {_what_to_do(run)}")


def check_joins(run: Run, state: State, due: Container[str]) -> None:
    """Refuse to go on if a join is gone where somebody has come: what is behind it would never run."""
    is_due = due or any(has_opened(name, stored) for name, stored in state.gone.items() if name in state.updated)
    if is_due and not run.terms.accepts_changes:
        starts, end = parts_of_join(next(iter(state.gone)))
        raise GraphChanged(
            f"Thread {run.thread_id!r} goes on before node {end!r}, which was to run once all of {starts} had. The "
            f"{run.program.shown} does not have this join any more, so {end!r} would not run. {untouched(run.ns)}, and "
            "what is open stays open: go on with the graph that stopped, give it its join back, or move the thread "
            "with update_state(config, ..., as_node=...); or, if nothing has to run there, call the graph with "
            'on_changed="accept".'
        )
    state.lose(state.gone)


def due_and_gone(program: Program, state: State) -> list[str]:
    """The nodes that are gone, and that an edge led to."""
    unknown = [name for name in state.updated if name not in program.channels]
    return [name.removeprefix(TRIGGER) for name in unknown if name.startswith(TRIGGER)] if unknown else []


def check_asking(run: Run, due: Mapping[str, Any], known: Pending) -> None:
    """Refuse to go on if a node that waits for an answer is gone. Those that are due go by their ids."""
    if not known.asked.keys() <= due.keys():
        gone = [id for id in known.asked if id not in due]
        question = known.asked[gone[0]][0]
        where = (question.origin or {}).get("path", "?")
        asked = f"Question {question.id!r} of thread {run.thread_id!r} was asked by node {where!r}"
        is_there = not run.program.pauses_branch and asker_of(run.ns, question.origin) in run.program.nodes
        raise GraphChanged(f"{asked}, {_not_due(run) if is_there else _what_to_do(run)}")


def asker_of(ns: str, origin: Origin | None) -> str:
    """The node of a graph that asked, itself or for a graph nested in it."""
    origin = origin or Origin()
    path = (origin.get("path") or "?").split("|")
    path[-1] = origin.get("node") or path[-1]
    depth = len(stateful_ns(ns).split("|")) if ns else 0
    return path[min(depth, len(path) - 1)]


def check_readable(run: Run, state: State) -> None:
    """Refuse to go on if a node cannot read the state any more that it, or one beside it, has read before."""
    if not (state.stopped or (run.known is not None and _has_run(run.known))):
        return
    program = run.program
    for name in [*due_nodes(program, state), *waiting_nodes(state)]:
        try:
            program.nodes[name].read(state.values, state.step + 1, run.stop)
        except Exception as error:
            raise StateChanged(
                f"Thread {run.thread_id!r} goes on at node {name!r} of the {program.shown}, which cannot read what is "
                f"stored any more: {_fields(error) or error}. {untouched(run.ns)}, and an answer stands. Give "
                "a new field a default, put in what is missing with update_state(config, ...), or take the code that "
                "stopped; then go on with invoke(None, config)."
            ) from error


def _has_run(known: Pending) -> bool:
    """Whether a task of the step under way has left something: so the state was read for all of them."""
    return bool(known.asked or known.errors or known.mended) or any(not id.startswith(BESIDE) for id in known.results)


def _fields(error: Any) -> str:
    """What pydantic says is wrong, in a line."""
    details = error.errors(include_url=False) if type(error).__module__.startswith("pydantic") else ()
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'the state'}: {detail['msg']}" for detail in details)


def _not_due(run: Run) -> str:
    return (
        f"which the {run.program.shown} has, but which is not due there: others have gone on beside it, as "
        'compile(pause="branch") lets them, or what led to it is gone. '
        f"{untouched(run.ns)}, and what is open stays open: compile the graph with "
        'pause="branch" until this thread has its answers, go on with the graph that stopped, or move the thread with '
        "update_state(config, ..., as_node=...)."
    )


def _what_to_do(run: Run) -> str:
    program = run.program
    names = ", ".join(repr(name) for name in program.nodes if not name.startswith("__"))
    return (
        f"which the {program.shown} does not have any more. Its nodes are: {names}. {untouched(run.ns)}, and what is "
        "open stays open: go on with the graph that stopped, give the node its old name back, or move the thread with "
        "update_state(config, ..., as_node=...)."
    )
