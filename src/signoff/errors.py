"""Every error signoff raises, and the signals that travel through user code.

BaseException
└── GraphBubbleUp            a signal, not a failure: passes `except Exception` untouched
    ├── GraphInterrupt       the task asked a question
    └── ParentCommand        a nested graph hands a Command to its parent
UserWarning
└── LimitedSaver             a saver that cannot keep all promises, said once
Exception
└── SignoffError
    ├── InvalidGraph         compile() or add_node() refused the description (also a ValueError and a TypeError)
    │   ├── Unsupported      a kind of function that cannot be a program (also a NotImplementedError)
    │   └── NotCompiled      a StateGraph was used before it was compiled (also an AttributeError)
    ├── InvalidInput         the input, config or call does not fit the graph (also a ValueError)
    │   ├── MissingThreadId  a saver needs configurable.thread_id
    │   ├── InvalidContext   the context does not fit the graph's context_schema (also a TypeError)
    │   ├── NeedsAsync       a sync run comes to what is async, or has a timeout (also a TypeError and a RuntimeError)
    │   ├── StreamMisused    a projection of a run was read, or filled, as it cannot be (also both of these)
    │   ├── EmptyInputError  there is nothing to run: no input and nothing saved
    │   └── OutsideOfRun     interrupt() and its like, where nothing runs (also a RuntimeError)
    ├── InvalidUpdateError   a node or a person wrote something the state cannot take
    ├── UnknownNode          a goto, Send or as_node names a node that does not exist
    ├── InvalidAnswer        an answer that no open question accepts (also a ValueError and a RuntimeError)
    │   └── AlreadyAnswered  somebody else was first
    ├── QuestionsOpen        new input for a thread that waits for answers (also a ValueError)
    ├── ThreadBusy           another run has the thread
    │   └── ThreadMoved      another run had it between looking and taking
    ├── LeaseLost            this run had the thread for too long without a sign of life; another has it now
    ├── ProgramChanged       the code that goes on is not the code that stopped
    │   ├── ReplayMismatch   another question is asked where one was answered
    │   ├── GraphChanged     the node that asked, or that is due, is gone
    │   └── StateChanged     what is stored does not fit the state any more (also a ValueError and a TypeError)
    ├── GraphRecursionError  the run used up its steps (also a RecursionError)
    ├── GraphDrained         the run stopped early because it was asked to; it can be continued
    ├── SubgraphFailed       a nested graph was read whose task has failed (also a RuntimeError)
    ├── MessageFailed        a message was read whose model did not write it to its end (also a RuntimeError)
    ├── StreamAborted        the output of a run was asked for that was stopped before its end
    ├── NodeTimeoutError     a node ran or idled longer than its TimeoutPolicy allows
    ├── NodeCancelledError   a node was cancelled from inside
    ├── SwallowedPause       a bare `except:` ate a question
    ├── NotStorable          a value cannot be saved and come back equal (also a TypeError)
    ├── Undecodable          stored bytes are broken, hostile or of an unregistered type
    ├── TaskNotFound         an update names a task that is not pending
    ├── SaverUnavailable     a database does not answer; nothing was done (also a ConnectionError)
    │   └── OutcomeUnknown   it went away in the middle of a commit
    └── MissingExtra         a feature was used whose optional packages are not installed (also an ImportError)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from signoff._elsewhere import OF_ERRORS, tell_where

__all__ = [
    "SignoffError",
    "InvalidGraph",
    "Unsupported",
    "NotCompiled",
    "InvalidInput",
    "MissingThreadId",
    "InvalidContext",
    "NeedsAsync",
    "StreamMisused",
    "EmptyInputError",
    "OutsideOfRun",
    "InvalidUpdateError",
    "UnknownNode",
    "InvalidAnswer",
    "AlreadyAnswered",
    "QuestionsOpen",
    "ThreadBusy",
    "LeaseLost",
    "ProgramChanged",
    "ReplayMismatch",
    "GraphChanged",
    "StateChanged",
    "GraphRecursionError",
    "GraphDrained",
    "SubgraphFailed",
    "MessageFailed",
    "StreamAborted",
    "NodeTimeoutError",
    "NodeCancelledError",
    "SwallowedPause",
    "NotStorable",
    "Undecodable",
    "TaskNotFound",
    "MissingExtra",
    "SaverUnavailable",
    "OutcomeUnknown",
    "LimitedSaver",
    "GraphBubbleUp",
    "GraphInterrupt",
    "ParentCommand",
    "NodeError",
]


class SignoffError(Exception):
    """The base of every error that signoff raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets it as it is, whatever it was made of: what cannot be read breaks a whole pool."""
        return _made_again, (type(self), self.args), vars(self)


def _made_again(kind: type[SignoffError], args: tuple[Any, ...]) -> SignoffError:
    error = kind.__new__(kind)
    error.args = args
    return error


class InvalidGraph(SignoffError, ValueError, TypeError):
    """The description of a graph has a mistake; nothing was compiled."""


class Unsupported(InvalidGraph, NotImplementedError):
    """What is not done here: a kind of function that cannot be a program, such as a generator, or of picture."""


class NotCompiled(InvalidGraph, AttributeError):
    """A StateGraph only describes a graph: what runs is what its `compile()` returns."""


class InvalidInput(SignoffError, ValueError):
    """The input, the config or the call does not fit the graph; nothing was run."""


class MissingThreadId(InvalidInput):
    """A graph with a saver was called without `configurable.thread_id`."""


class InvalidContext(InvalidInput, TypeError):
    """The context of a call does not fit the `context_schema` of its graph; nothing was run."""


class NeedsAsync(InvalidInput, TypeError, RuntimeError):
    """A sync run comes to a node, task or tool that is async only, or has a timeout."""


class StreamMisused(InvalidInput, TypeError, RuntimeError):
    """A projection of a run was read, or filled, as it cannot be."""


class EmptyInputError(InvalidInput):
    """There is nothing to run: no input was given and nothing is saved or due."""


class OutsideOfRun(InvalidInput, RuntimeError):
    """interrupt(), get_config(), a task or the like was called where no node or task is running."""


class InvalidUpdateError(SignoffError):
    """A write that the state cannot take; the step it belongs to was not applied."""


class UnknownNode(InvalidUpdateError):
    """A goto, a Send or `as_node` names a node that the graph does not have."""


class InvalidAnswer(SignoffError, ValueError, RuntimeError):
    """An answer was refused before anything was stored; the question is still open."""


class AlreadyAnswered(InvalidAnswer):
    """The question was answered before; that answer stands, and this one changed nothing."""


class QuestionsOpen(SignoffError, ValueError):
    """New input came for a thread that waits for answers; it was refused, and the questions are still open."""


class ThreadBusy(SignoffError):
    """Another run has the thread just now; this one has changed nothing."""


class ThreadMoved(ThreadBusy):
    """Another run advanced the thread between the moment this one looked at it and the moment it wanted it."""


class LeaseLost(SignoffError):
    """The run gave no sign of life for longer than its lease, and another one has taken the thread over."""


class ProgramChanged(SignoffError):
    """The program that goes on is not the one that stopped. Nothing was delivered, and nothing is lost."""


class ReplayMismatch(ProgramChanged):
    """The program asks another question where one was answered, so the answer was not handed over."""


class GraphChanged(ProgramChanged):
    """A node that waits for an answer, or that is due, is not in the graph any more; or the join in front of it."""


class StateChanged(ProgramChanged, ValueError, TypeError):
    """What is stored does not fit the type, or the reducers, that the state has now. An answer stands."""


class GraphRecursionError(SignoffError, RecursionError):
    """The run used up its `recursion_limit` before it came to an end, or runnables return one another without one."""


class GraphDrained(SignoffError):
    """The run was asked to stop at the end of a step; `invoke(None, config)` continues it."""

    def __init__(self, reason: str = "shutdown") -> None:
        self.reason = reason
        super().__init__(f"The run stopped early: {reason}. Continue it with invoke(None, config).")


class SubgraphFailed(SignoffError, RuntimeError):
    """A nested graph was read whose task has failed. The run around it may have gone on."""


class MessageFailed(SignoffError, RuntimeError):
    """A message was read whose model did not write it to its end. The run may have gone on."""


class StreamAborted(SignoffError):
    """The output of a run was asked for that was stopped before its end."""


class NodeTimeoutError(SignoffError, TimeoutError):
    """A node ran, or was silent, for longer than its TimeoutPolicy allows."""

    def __init__(
        self,
        node: str,
        elapsed: float,
        *,
        kind: Literal["idle", "run"],
        idle_timeout: float | None = None,
        run_timeout: float | None = None,
    ) -> None:
        self.node = node
        self.elapsed = elapsed
        self.kind = kind
        self.idle_timeout = idle_timeout
        self.run_timeout = run_timeout
        self.timeout = idle_timeout if kind == "idle" else run_timeout
        what = "made no progress" if kind == "idle" else "ran"
        super().__init__(
            f"Node {node!r} {what} for {elapsed:.2f} s; its {kind} timeout is {self.timeout} s. "
            "Give it more time, where its timeout= is set."
        )


class NodeCancelledError(SignoffError):
    """A node raised CancelledError by itself, although nobody cancelled the run."""

    def __init__(self, node: str, message: str | None = None) -> None:
        self.node = node
        super().__init__(message or f"Node {node!r} was cancelled from inside; the run was not.")


class SwallowedPause(SignoffError):
    """A node asked a question and then caught the signal that should have paused it."""


class NotStorable(SignoffError, TypeError):
    """A value cannot be saved and come back equal; the message has its path."""


class Undecodable(SignoffError):
    """Stored bytes could not be read back: broken, hostile, or of a type that is not registered."""

    thread_id: str | None = None
    """The thread that they belong to, where they were read for one."""

    def say_where(self, thread_id: str, ns: str = "", what: str = "") -> None:
        """Name the thread, and what of it, unless that is said already."""
        if self.thread_id is None:
            self.thread_id = thread_id
            parts = [f"Thread {thread_id!r}", f"nested graph {ns!r}" if ns else "", what]
            self.args = (f"{', '.join(filter(None, parts))}: {self}",)


class TaskNotFound(SignoffError):
    """An update names a task that is not pending."""


class MissingExtra(SignoffError, ImportError):
    """A feature was used whose optional packages are not installed."""


class SaverUnavailable(SignoffError, ConnectionError):
    """The database did not answer; nothing of what was asked for was done, or, with Redis, all of it. Ask again."""


class OutcomeUnknown(SaverUnavailable):
    """The database went away at the very moment of a commit: either all of it was done or nothing. Look first."""


class LimitedSaver(UserWarning):
    """A saver cannot keep all promises: it was written for LangGraph, has ways of its own to put, or its Redis evicts
    keys. Said once."""


class GraphBubbleUp(BaseException):
    """A signal on its way through user code to the engine. Let it pass."""


class GraphInterrupt(GraphBubbleUp):
    """A task asked a question and waits for the answer."""

    def __init__(self, interrupts: Sequence[Any] = ()) -> None:
        for one in [interrupts] if isinstance(interrupts, str) else interrupts:
            if not hasattr(one, "origin"):
                raise InvalidInput(f"A pause is made of questions, not of {interrupts!r}. Ask with interrupt(...).")
        self.interrupts = tuple(interrupts)
        super().__init__(self.interrupts)


class ParentCommand(GraphBubbleUp):
    """A nested graph hands a Command to the graph that holds it, or several: all of them count, in their order."""

    def __init__(self, command: Any, *more: Any) -> None:
        self.command = command
        super().__init__(command, *more)

    def __str__(self) -> str:
        return (
            f"{self.command!r} is for the graph around this one, and there is none. Run the graph as a node of another "
            "one, or leave graph= out."
        )


@dataclass(frozen=True, slots=True)
class NodeError:
    """What an error handler is told: the node that failed, and how."""

    node: str
    error: BaseException


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_ERRORS)
