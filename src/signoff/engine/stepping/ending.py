"""The end of a step: what its tasks wrote is folded in, and it is known what is due next."""

from collections.abc import Sequence

from signoff.engine.effects import Save
from signoff.engine.planning.breakpoints import stops
from signoff.engine.planning.fold import fold
from signoff.engine.planning.plan import next_tasks
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.storing.ledger import Ledger
from signoff.engine.task import Outcome, Task, names_of


def conclude(run: Run, state: State, ledger: Ledger, outcomes: Sequence[Outcome]) -> tuple[list[Task], Save | None]:
    """End a step: fold what its tasks wrote. Returns the tasks that are due next, and what to store."""
    fold(run.program, state, outcomes)
    if run.is_saved:
        if run.known is not None and run.known.asked:
            run.note_dropped()
        records = ledger.records(outcomes) if run.durability != "exit" else ()
        state.writers = outcomes[0].task.node.alone if len(outcomes) == 1 else names_of(outcomes)
        ledger.renew(state)
    tasks = next_tasks(run.program, state, run.stop)
    state.stopped = stops(run, outcomes, tasks) if run.has_breakpoints else ()
    if not run.is_saved:
        return tasks, None
    return tasks, ledger.checkpoint(state, "loop", records, ends=not tasks or bool(state.stopped))
