"""Exit codes: fixed, so that scripts can tell what happened."""

from signoff.errors import (
    AlreadyAnswered,
    InvalidAnswer,
    InvalidInput,
    MissingExtra,
    ProgramChanged,
    QuestionsOpen,
    ThreadBusy,
)

DONE = 0
FAILED = 1
USAGE = 2
PAUSED = 3
ALREADY_ANSWERED = 4
INVALID_ANSWER = 5
NOT_FOUND = 6
BUSY = 7
CHANGED = 8
STOPPED = 130

MEANINGS = {
    DONE: "done",
    FAILED: "the run failed",
    USAGE: "wrong usage: an option, the input, the app or the database",
    PAUSED: "paused: a question is open",
    ALREADY_ANSWERED: "already answered: somebody else was first",
    INVALID_ANSWER: "the answer was refused; the question is still open",
    NOT_FOUND: "no such thread, question or checkpoint",
    BUSY: "another run has the thread",
    CHANGED: "the program is not the one that asked",
    STOPPED: "stopped with Ctrl-C",
}


class NotFound(InvalidInput):
    """There is no such thread, question or checkpoint."""


_CODES: tuple[tuple[type[Exception], int], ...] = (
    (NotFound, NOT_FOUND),
    (AlreadyAnswered, ALREADY_ANSWERED),
    (InvalidAnswer, INVALID_ANSWER),
    (QuestionsOpen, PAUSED),
    (ThreadBusy, BUSY),
    (ProgramChanged, CHANGED),
    (InvalidInput, USAGE),
    (MissingExtra, USAGE),
)


def code_of(error: Exception) -> int:
    """The exit code for an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)
