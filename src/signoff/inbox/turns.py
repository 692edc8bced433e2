"""Turns of a conversation: what a message is for, and the procedure that takes it, once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from signoff._annotations import refuse_async
from signoff._words.commands import Command
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.engine import answers, pending
from signoff.engine.planning.remaining_work import is_at_breakpoint
from signoff.engine.program import Program
from signoff.engine.run import Finish
from signoff.engine.showing.snapshot import due_at
from signoff.engine.storing.stored_answers import mark, marks_of, open_at
from signoff.errors import (
    AlreadyAnswered,
    GraphChanged,
    InvalidAnswer,
    InvalidInput,
    LeaseLost,
    QuestionsOpen,
    ReplayMismatch,
    ThreadBusy,
)
from signoff.inbox.answering import answer
from signoff.inbox.asking import Walk, look, refuse_if_held
from signoff.inbox.outcomes import Failed, Finished, Outcome, Paused
from signoff.steps import Steps

REFUSALS = (InvalidInput, InvalidAnswer, QuestionsOpen, ThreadBusy, ReplayMismatch, GraphChanged, LeaseLost)
"""What says that a message was not taken, or that the code does not fit: for the caller to handle."""

POLL_S = 0.02
"""How often a message looks whether the run is over that has its thread."""

LOOK_BACK = 20
"""How many checkpoints are searched for an answer that a request brought and that a plain run went on with."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a request brings."""

    value: Any
    thread_id: str
    question_id: str | None
    request: str | None
    by: str | None
    as_input: Callable[[Any], Any] | None

    def __post_init__(self) -> None:
        if self.as_input is not None and not callable(self.as_input):
            raise InvalidInput(f"as_input is {self.as_input!r}. Give a function that makes the input of a message.")
        refuse_async("as_input", self.as_input, InvalidInput)
        if self.request == "":
            raise InvalidInput(
                "request_id is empty, so that any two messages would be the same one. Give every request an id of its "
                "own, or None."
            )
        if self.question_id == "":
            raise InvalidInput(
                "question_id is empty. Give the id of the question, question.id, or None if one is open."
            )


@dataclass(slots=True)
class RunIf:
    """Run the graph, if its thread stands as it was seen."""

    input: Any
    thread_id: str
    check: Callable[[CheckpointTuple | None], None]
    marks: dict[str, Any]
    """What the metadata of the run's checkpoints says."""


@dataclass(slots=True)
class Pause:
    """Let time pass, since another run has the thread."""

    cause: ThreadBusy


class Otherwise(Exception):
    """The thread does not stand any more as it was seen."""


Purpose = Literal["begin", "answer", "go_on", "finish_first"]


def talk(program: Program, saver: Any, message: Message) -> Steps[Outcome]:
    """Take a message, once, and run until the thread ends, pauses or fails."""
    is_taken = False
    while True:
        saved, standing = yield from look(saver, checkpoint_config(message.thread_id, ""))
        try:
            not_taken = "The message was not taken; send it again when that run has ended."
            refuse_if_held(message.thread_id, standing, not_taken)
            is_repeat = not is_taken and (yield from _was_taken(message, saved))
            turn = _Turn(program, message, saved, is_taken or is_repeat)
            if turn.purpose == "answer":
                yield from answer(
                    saver, turn.question_id, message.value, message.by, message.thread_id, message.request
                )
                is_taken = True
                continue
            outcome = yield from _run(saver, turn, is_repeat)
        except ThreadBusy as busy:
            yield Pause(busy)
        except Otherwise:
            pass  # look again
        except AlreadyAnswered:
            # Perhaps by this very request, delivered twice at the same time: then it shows at the next look.
            if message.request is None or not (yield from _is_known_now(saver, message)):
                raise
        else:
            if turn.purpose != "finish_first" or isinstance(outcome, Failed):
                return outcome
            if isinstance(outcome, Paused):
                raise _unseen(message, outcome.questions)


def _run(saver: Any, turn: "_Turn", is_repeat: bool) -> Steps[Outcome]:
    if turn.is_at_breakpoint and is_repeat:
        return Paused((), is_repeat=True)
    try:
        finish: Finish = yield RunIf(turn.input, turn.message.thread_id, turn.check, turn.marks)
    except (*REFUSALS, Otherwise):
        raise
    except Exception as error:
        if turn.purpose == "begin" and (yield from _is_as_seen(saver, turn)):
            raise  # nothing was stored: the message is no input for this graph
        return Failed(error, is_repeat)
    if finish.status == "done":
        return Finished(finish.values, is_repeat)
    return Paused(finish.questions, finish.values, is_repeat)


def _is_as_seen(saver: Any, turn: "_Turn") -> Steps[bool]:
    saved, _ = yield from look(saver, checkpoint_config(turn.message.thread_id, ""))
    return bool(_seen(saved) == _seen(turn.saved))


class _Turn:
    """What a message is for, in a thread that stands like this."""

    def __init__(self, program: Program, message: Message, saved: CheckpointTuple | None, is_taken: bool) -> None:
        self.message, self.saved = message, saved
        self.known = pending.by_task(saved.pending_writes if saved else ())
        self.asked = open_at(self.known)
        self.is_at_breakpoint = saved is not None and is_at_breakpoint(saved, self.known)
        self.purpose = self._purpose(program, is_taken)
        self.question_id = self._the_only_one() if message.question_id is None else message.question_id

    def _purpose(self, program: Program, is_taken: bool) -> Purpose:
        if is_taken:
            return "go_on"
        if self.message.question_id is not None or self.asked:
            self._check_named()
            return "answer"
        if self.saved is None or self.is_at_breakpoint or self.known.has_failed:
            return "begin"
        return "finish_first" if _is_cut_off(program, self.saved) else "begin"

    def _the_only_one(self) -> str:
        return next(iter(self.asked)) if len(self.asked) == 1 else ""

    def _check_named(self) -> None:
        if self.message.question_id is None and len(self.asked) > 1:
            raise InvalidAnswer(
                f"Thread {self.message.thread_id!r} waits for {len(self.asked)} answers, so the message needs the id "
                f"of the question that it answers: converse(..., question_id=...). "
                f"Open are: {_listed(self.asked.values())}."
            )

    @property
    def input(self) -> Any:
        """What the graph is run with."""
        if self.purpose != "begin":
            return None
        if self.is_at_breakpoint:
            return Command(resume=self.message.value)
        return self.message.as_input(self.message.value) if self.message.as_input else self.message.value

    @property
    def marks(self) -> dict[str, Any]:
        marks = marks_of(self.known)
        if self.purpose == "begin" and self.message.request is not None:
            marks[mark(self.message.request)] = True
        return marks

    def check(self, saved: CheckpointTuple | None) -> None:
        """Refuse a run whose thread does not stand as it was seen when its purpose was found."""
        if _seen(saved) != _seen(self.saved):
            raise Otherwise


def _seen(saved: CheckpointTuple | None) -> Any:
    if saved is None:
        return None
    return saved.checkpoint["id"], [(task_id, channel) for task_id, channel, _ in saved.pending_writes or ()]


def _is_cut_off(program: Program, saved: CheckpointTuple) -> bool:
    """Whether something is due: a run ended before its time, or an answer was stored without one."""
    _, _, _, tasks = due_at(program, saved, "")
    return bool(tasks)  # if all of them have finished, what comes after them is due


def _unseen(message: Message, questions: Sequence[Interrupt[Any]]) -> QuestionsOpen:
    """The error for a message to a thread which had to go on first, and now asks."""
    return QuestionsOpen(
        f"Thread {message.thread_id!r} had been cut off, went on, and now waits for answers: {_listed(questions)}. The "
        "message was not taken, since whoever sent it had not seen that. Send it again if it is the answer."
    )


def _listed(questions: Iterable[Interrupt[Any]]) -> str:
    return ", ".join(f"{one.id!r} ({answers.shown(one.value)})" for one in questions)


# Requests that were delivered before


def _is_known_now(saver: Any, message: Message) -> Steps[bool]:
    saved, _ = yield from look(saver, checkpoint_config(message.thread_id, ""))
    return (yield from _was_taken(message, saved))


def _was_taken(message: Message, saved: CheckpointTuple | None) -> Steps[bool]:
    """Whether the thread has seen this request."""
    request = message.request
    if request is None or saved is None:
        return False
    if _brought(saved, request):
        return True
    found: list[CheckpointTuple] = []

    def see(one: CheckpointTuple) -> bool:
        if _brought(one, request):
            found.append(one)
        return bool(found)

    place = checkpoint_config(message.thread_id, "")
    yield Walk(place, see, {"filter": {mark(request): True}, "limit": 1})
    if not found:
        yield Walk(place, see, {"limit": LOOK_BACK})
    return bool(found)


def _brought(saved: CheckpointTuple, request: str) -> bool:
    """Whether a request brought a checkpoint, or an answer to a question that was asked there."""
    marks: Any = saved.metadata
    return bool(marks.get(mark(request))) or mark(request) in marks_of(pending.by_task(saved.pending_writes))
