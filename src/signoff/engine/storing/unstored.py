"""Failures that could not be stored, since the database was away as well: the caller hears of what came first."""

from typing import TypeVar

from signoff.engine.storing.ledger import Ledger
from signoff.errors import GraphBubbleUp, LeaseLost, NotStorable, SaverUnavailable, ThreadMoved
from signoff.steps import Steps

ErrorT = TypeVar("ErrorT", bound=BaseException)

UNSTORED = "That this has failed could not be stored:"


def on_the_way_out(error: BaseException, steps: Steps[None]) -> Steps[None]:
    """Store what a run leaves behind that fails, or is broken off. If the database is away as well, the run ends by
    what came first; but nobody is asked what is not stored. If the thread was deleted meanwhile, or is another run's,
    there is nothing to store: whoever has left, or has called the run off, need not hear of it."""
    try:
        yield from steps
    except (LeaseLost, ThreadMoved):
        if not is_calling_off(error):
            raise
    except SaverUnavailable as failure:
        if isinstance(error, GraphBubbleUp):
            raise
        unstored(error, failure)


def again(error: BaseException, ledger: Ledger) -> Steps[None]:
    """Store once more what a signal, or a cancellation, has come in between of."""
    if not isinstance(error, Exception) and (save := ledger.again()) is not None:
        try:
            yield save
        except NotStorable:
            pass  # the signal was quicker than its refusal


def is_calling_off(error: BaseException) -> bool:
    """Whether a run ends since somebody has called it off, or has left, and not by what its tasks came to."""
    return not isinstance(error, Exception | GraphBubbleUp)


def unstored(error: ErrorT, failure: SaverUnavailable) -> ErrorT:
    """An error that says, too, that it could not be stored."""
    is_said = any(note.startswith(UNSTORED) for note in getattr(error, "__notes__", ()))
    if not isinstance(error, SaverUnavailable) and not is_said:
        error.add_note(f"{UNSTORED} {failure}")
    return error
