"""Leaving a run that failed: what is left is stored, what nobody took is taken back, and the thread is free."""

from signoff.checkpoint.base import Filing, TaskWrites, note_of
from signoff.constants import RESUME, TAKEN_BACK
from signoff.engine import ids, pending
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.question_index import filed_question
from signoff.engine.storing.unstored import again, is_calling_off
from signoff.errors import InvalidAnswer, LeaseLost, ProgramChanged, SaverUnavailable, StateChanged
from signoff.steps import Steps


def leave(run: Run, state: State, ledger: Ledger, error: BaseException) -> Steps[None]:
    """Store what is left, take back what was not delivered, give the thread back."""
    if isinstance(error, LeaseLost) or (isinstance(error, SaverUnavailable) and not ledger.has_taken):
        return
    yield from again(error, ledger)
    if is_calling_off(error):
        ledger.hold_what_came()
    if isinstance(error, ProgramChanged | InvalidAnswer):
        stands = isinstance(error, StateChanged)
        if run.given and ledger.has_taken and not run.is_nested:
            _hold_undelivered(run, state, ledger, stands=stands)
        if ledger.told_id and not (stands or run.called):
            # Whoever gives again what was refused tells the state again what was told with it.
            taken_back = TaskWrites(ids.alias_id(ledger.told_id, TAKEN_BACK), [(TAKEN_BACK, ledger.told_id)])
            ledger.hold(state, [taken_back])
    if (save := ledger.close()) is not None:
        yield save


def _hold_undelivered(run: Run, state: State, ledger: Ledger, *, stands: bool) -> None:
    """What becomes of answers that were stored, and that nobody got to see, as whoever gave them hears."""
    asked = pending.all_asked(run.known) if run.known is not None else []
    over = ledger.index.not_asked_any_more(question.id for question in asked)
    filed = [filed_question(run, "?", one) for one in asked if one.id in run.given and one.id not in over]
    if stands:  # they wait for a program that can take them: whoever looks for threads to continue finds them
        ledger.hold(state, [], Filing([note_of(question) for question in filed]))
    else:
        withdrawn = [TaskWrites(ids.answer_id(id), [(RESUME, {})]) for id in [*run.given] if id not in over]
        ledger.hold(state, withdrawn, Filing(filed))
