"""Failures that could not be stored, since the database was away as well: the caller hears of what came first."""

from signoff.errors import SaverUnavailable
from signoff.steps import Steps

UNSTORED = "That this has failed could not be stored:"


def on_the_way_out(error: BaseException, steps: Steps[None]) -> Steps[None]:
    """Store what a run leaves behind that fails. If the database is away as well, the run fails for what came first."""
    try:
        yield from steps
    except SaverUnavailable as failure:
        if not isinstance(error, Exception):
            raise
        unstored(error, failure)


def unstored(error: Exception, failure: SaverUnavailable) -> Exception:
    """An error that says, too, that it could not be stored."""
    is_said = any(note.startswith(UNSTORED) for note in getattr(error, "__notes__", ()))
    if not isinstance(error, SaverUnavailable) and not is_said:
        error.add_note(f"{UNSTORED} {failure}")
    return error
