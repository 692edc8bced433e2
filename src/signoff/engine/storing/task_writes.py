"""As stored: what tasks have come to, as the writes that a checkpoint keeps of it."""

from collections.abc import Sequence
from typing import Any

from signoff._reprs import repr_of
from signoff.constants import (
    ASKS,
    ASKS_AS,
    CALLED,
    ERROR,
    ERROR_SOURCE,
    HAD_ASKED,
    INTERRUPT,
    LEADS,
    NO_WRITES,
    TAKEN_BACK,
)
from signoff.engine import ids
from signoff.engine.pending import Pending
from signoff.engine.planning.error_handlers import is_handled
from signoff.engine.program import Write
from signoff.engine.state import without_unsaved
from signoff.engine.task import Outcome


def stored_outcome(outcome: Outcome, unsaved: frozenset[str], known: Pending | None) -> Sequence[Write]:
    """What is stored of a task that has come to something.

    unsaved: the keys that are not stored.
    known: what is stored of it already.
    """
    if outcome.error is not None:
        beside: list[Write] = [(INTERRUPT, outcome.beside)] if outcome.beside else []
        error: list[Write] = [(ERROR, repr_of(outcome.error)), *beside]
        # A handler runs on the exception itself, perhaps after a crash, so it has to survive the trip.
        return [*error, (ERROR_SOURCE, outcome.error)] if is_handled(outcome) else error
    if outcome.questions is not None or outcome.beside:
        return [(INTERRUPT, outcome.questions or outcome.beside), *_mended(outcome, known)]
    if outcome.signal is not None:
        return [(LEADS, stored_commands(outcome.signal))]
    writes = outcome.writes
    if unsaved:
        writes = [(name, without_unsaved(value, unsaved)) for name, value in writes if name not in unsaved]
    return writes or [(NO_WRITES, None)]


def _mended(outcome: Outcome, known: Pending | None) -> list[Write]:
    """What is stored with the question of a task that had failed before: that this is over."""
    if outcome.questions is None or known is None or outcome.task.id not in known.errors:
        return []
    return [(ERROR, [known.errors[outcome.task.id]])]


def stored_result(known: Pending, id: str) -> list[Write]:
    """What a task that has finished is stored with."""
    return [(LEADS, known.leads[id])] if id in known.leads else list(known.results[id]) or [(NO_WRITES, None)]


def stored_commands(signal: Any) -> list[dict[str, Any]]:
    """The Commands for the graph around, as they are stored."""
    return [{"graph": told.graph, "update": told.update, "goto": told.goto} for told in signal.args]


def saved_failures(known: Pending) -> dict[str, list[Write]]:
    """The failures of tasks, and those that they have caught, as they were saved; and which are not caught any more."""
    failures = {known.failure_stored_as(id): [(ERROR_SOURCE, error)] for id, error in known.failures.items()}
    failed = [id for id in known.taken_back if not ids.is_caller(id)]
    return {**failures, **{ids.alias_id(id, TAKEN_BACK): [(TAKEN_BACK, id)] for id in failed}}


def as_saved(known: Pending) -> dict[str, list[Write]]:
    """All but the answers, by task, as it was saved."""
    writes = {id: stored_result(known, id) for id in known.results}
    others: list[tuple[str, dict[str, Any]]] = [
        (INTERRUPT, known.asked),
        (ASKS, known.asking_calls),
        (CALLED, known.marks),
        (ERROR, known.errors | {id: [text] for id, text in known.mended.items()}),
    ]
    for channel, by_id in others:
        for id, value in by_id.items():
            writes.setdefault(id, []).append((channel, value))
    for id, failure in saved_failures(known).items() if known.failures or known.taken_back else ():
        writes.setdefault(id, []).extend(failure)
    for channel, names in ((ASKS_AS, known.renamed), (CALLED, known.calling_as)):
        for id, named in names.items():
            writes.setdefault(ids.alias_id(id, channel), []).append((channel, {id: named}))
    if known.had_asked:
        writes[ids.HAD_ASKED_ID] = [(HAD_ASKED, known.had_asked)]
    return writes
