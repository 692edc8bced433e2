"""What streams show: the shape of a chunk in each mode."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff._copies import own
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import checkpoint_config
from signoff.config import RunnableConfig
from signoff.constants import INTERRUPT, NS_SEP, RETURN
from signoff.engine.effects import Chunk
from signoff.engine.own_copies import anew
from signoff.engine.pending import Pending
from signoff.engine.program import Program, Values, Write, read_keys
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.task import Outcome, Task

DEBUG = "debug"
OF_TASKS = frozenset({"tasks", DEBUG})
_OF_CHECKPOINTS = frozenset({"checkpoints", DEBUG})
"""The modes that show these."""


def levels(ns: str) -> tuple[str, ...]:
    """A namespace as streams show it: a tuple of its levels, empty for the root."""
    return tuple(ns.split(NS_SEP)) if ns else ()


def values_chunk(run: Run, state: State) -> list[Chunk]:
    """The state after a step, where the step wrote to what is shown."""
    return values_anyway(run, state) if "values" in run.modes and _is_shown(run, state.updated) else []


def values_anyway(run: Run, state: State) -> list[Chunk]:
    """The state that a run goes on from, whatever was written last."""
    return [(levels(run.ns), "values", _shown(state.values, run.terms.output_keys))]


def _shown(values: Values, keys: str | Sequence[str]) -> Any:
    if isinstance(keys, str):
        return own(values.get(keys))
    return {key: own(values[key]) for key in keys if key in values}


def _is_shown(run: Run, updated: Iterable[str]) -> bool:
    keys = run.terms.output_keys
    return keys in updated if isinstance(keys, str) else any(key in updated for key in keys)


def start_chunks(run: Run, tasks: Sequence[Task]) -> list[Chunk]:
    """A task begins."""
    if run.modes.isdisjoint(OF_TASKS):
        return []
    shown = [task for task in tasks if not task.node.is_hidden]
    return [chunk for task in shown for chunk in _both(run, "tasks", "task", task.step, _begun(run, task))]


def _begun(run: Run, task: Task) -> dict[str, Any]:
    facts = {"id": task.id, "name": task.name, "input": anew(task.input), "triggers": task.shown_triggers}
    if run.shown_in is not None:  # the namespace names no task that anybody has been shown
        facts["around"] = run.shown_in
    told = {**(task.node.metadata or {}), **run.told} if task.node.metadata or run.told else None
    return {**facts, "metadata": told} if told else facts


def outcome_chunks(run: Run, outcome: Outcome) -> list[Chunk]:
    """A task came out: its update, then its result."""
    if outcome.task.node.is_hidden:
        return []
    return [*_update_chunk(run, outcome), *_result_chunks(run, outcome)]


def call_chunks(run: Run, outcome: Outcome) -> list[Chunk]:
    """The call of a function came out. What it asks is in the update of the task that has made it."""
    if not outcome.is_paused:
        return outcome_chunks(run, outcome)
    return [] if outcome.task.node.is_hidden else _result_chunks(run, outcome)


def _update_chunk(run: Run, outcome: Outcome) -> list[Chunk]:
    if "updates" not in run.modes or outcome.error is not None or outcome.signal is not None:
        return []
    if outcome.questions is not None:  # without any it is a breakpoint further inside: that is told in the end
        return [(levels(run.ns), "updates", {INTERRUPT: outcome.questions})] if outcome.questions else []
    update = {outcome.task.name: shown_result(outcome.writes, run.terms.output_keys)}
    if outcome.is_cached or outcome.is_known:
        update["__metadata__"] = {"cached": True}
    return [(levels(run.ns), "updates", update)]


def _result_chunks(run: Run, outcome: Outcome) -> list[Chunk]:
    stands_inside = outcome.questions == ()  # at a breakpoint further inside: it has not come out
    has_broken_off = outcome.signal is not None  # led away by a command, drained, or refused: there is no result
    was_there = outcome.is_known or outcome.is_cached
    if was_there or stands_inside or has_broken_off or run.modes.isdisjoint(OF_TASKS):
        return []
    payload = {
        "id": outcome.task.id,
        "name": outcome.task.name,
        "error": outcome.error,
        "result": result_dict(outcome.writes, run.program.stream_keys),
        "interrupts": [_shown_question(question) for question in outcome.questions or ()],
    }
    return _both(run, "tasks", "task_result", outcome.task.step, payload)


def _shown_question(question: Interrupt[Any]) -> dict[str, Any]:
    return {"value": question.value, "id": question.id, "response_schema": question.response_schema}


def checkpoint_chunks(
    run: Run, state: State, source: str, tasks: Sequence[Task], known: Pending | None = None
) -> list[Chunk]:
    """A checkpoint was made, or is gone on from; `known` is what its tasks have come to since."""
    if not run.is_saved or run.modes.isdisjoint(_OF_CHECKPOINTS):
        return []
    tasks = sorted(tasks, key=lambda task: not task.is_sent)  # as readers know it; folding has Sends last
    payload = {
        "config": run.config_of(state.checkpoint_id),
        "parent_config": run.config_of(state.parent_id) if state.parent_id else None,
        "values": _shown(state.values, run.program.stream_keys),
        "metadata": {**run.metadata, "source": source, "step": state.step, "parents": {**run.parents}},
        "next": [task.name for task in tasks],
        "tasks": [_planned(run, task, known) for task in tasks],
    }
    return _both(run, "checkpoints", "checkpoint", state.step, payload)


def _planned(run: Run, task: Task, known: Pending | None) -> dict[str, Any]:
    """A task that is due, and what it had come to before, if anything."""
    facts: dict[str, Any] = {"id": task.id, "name": task.name}
    if known is not None and task.id in known.errors:
        return {**facts, "error": known.errors[task.id], "state": _inside(run, task)}
    if known is not None and task.id in known.results:
        facts.update(_come_to(known.results[task.id], run.terms.output_keys))
    asked = known.asked.get(task.id, ()) if known is not None else ()
    return {**facts, "interrupts": tuple(map(_shown_question, asked)), "state": _inside(run, task)}


def _come_to(writes: Sequence[Write], keys: str | Sequence[str]) -> dict[str, Any]:
    """The result of a task that has finished before, as far as it is of what the reader asked for."""
    found = result_dict(writes, keys)
    if not isinstance(keys, str):
        return {"result": found} if found else {}
    return {"result": next(iter(found.values()))} if found else {}


def _inside(run: Run, task: Task) -> RunnableConfig | None:
    """Where to find the state of the graph that a task runs."""
    return checkpoint_config(run.thread_id, task.ns_of_graph) if task.keeps_graph else None


def pause_chunks(run: Run, before: Values, values: Values, questions: tuple[Interrupt[Any], ...]) -> list[Chunk]:
    """The run pauses: in the values stream with the state as it stands, what finished tasks wrote included.

    before: the values as they were shown last.
    """
    ends = [] if questions else breakpoint_chunks(run)
    if "values" not in run.modes:
        return ends
    visible = _shown(values, run.terms.output_keys)
    if questions:
        visible = {**(visible if isinstance(visible, dict) else {}), INTERRUPT: questions}
    elif run.is_nested or visible == read_keys(before, run.terms.output_keys):
        return ends
    return [(levels(run.ns), "values", visible), *ends]


def breakpoint_chunks(run: Run) -> list[Chunk]:
    """The run stops at a breakpoint."""
    shown = "updates" in run.modes and not run.is_nested
    return [(levels(run.ns), "updates", {INTERRUPT: ()})] if shown else []


def shown_result(writes: Sequence[Write], keys: str | Sequence[str]) -> Any:
    """A task's writes as the update that its node returned."""
    if isinstance(keys, str):
        found = [own(value) for name, value in writes if name in (keys, RETURN)]
        return found if len(found) > 1 else found[0] if found else None
    shown = [(name, own(value)) for name, value in writes if name in keys or name == RETURN]
    if not shown:
        return None
    if shown[0][0] == RETURN:
        return shown[0][1]
    update = dict(shown)
    return update if len(update) == len(shown) else [{name: value} for name, value in shown]


def result_dict(writes: Sequence[Write], keys: str | Sequence[str]) -> dict[str, Any]:
    """A task's writes as one dict, for the tasks stream; several to one key are marked as such."""
    names = (keys, RETURN) if isinstance(keys, str) else (*keys, RETURN)
    grouped: dict[str, list[Any]] = {}
    for name, value in writes:
        if name in names:
            grouped.setdefault(name, []).append(own(value))
    return {name: values[0] if len(values) == 1 else {"$writes": values} for name, values in grouped.items()}


def saved_result(program: Program, writes: Sequence[Write]) -> Any:
    """A task's writes as snapshots show them: a dict, or for a state of one bare value that value."""
    keys = program.stream_keys
    found = result_dict(writes, keys)
    return found.get(keys) if isinstance(keys, str) else found


def _both(run: Run, mode: str, kind: str, step: int, payload: dict[str, Any]) -> list[Chunk]:
    """The chunk for its own mode and, wrapped with the time, for the debug mode."""
    place, chunks = levels(run.ns), []
    if mode in run.modes:
        chunks.append((place, mode, payload))
    if DEBUG in run.modes:
        chunks.append((place, DEBUG, {"step": step, "timestamp": run.terms.now(), "type": kind, "payload": payload}))
    return chunks


def is_pause(chunk: Chunk) -> bool:
    """Whether a chunk that came from inside of a task shows a question."""
    _, mode, payload = chunk
    if mode in OF_TASKS:
        return bool((payload["payload"] if mode == DEBUG else payload).get("interrupts"))
    return mode in ("updates", "values") and isinstance(payload, dict) and bool(payload.get(INTERRUPT))
