"""Heard: pauses and refusals have to reach the engine. Failures may come in their place, or together with them."""

from typing import Any

from signoff._reprs import repr_of
from signoff.engine.pending import Questions
from signoff.engine.task import Task
from signoff.errors import GraphInterrupt, SwallowedPause


def unheard(task: Task, scope: Any) -> Exception:
    """What a function has caught that was not for it: why the run cannot go on, or else its pause."""
    refusal: Exception | None = scope.refusal
    return swallowed(task, scope) if refusal is None else refusal


def is_lost(pause: GraphInterrupt | None, failure: BaseException, asked: Questions) -> bool:
    """Whether a failure stands where the pause of its task should: that was caught, or something failed on its way.

    What calls, coroutines and threads have asked beside it is kept with it, as what is in a group of exceptions.
    """
    if pause is None or isinstance(failure, BaseExceptionGroup):
        return False
    return not {question.id for question in asked}.issuperset([question.id for question in pause.interrupts])


def is_behind(pause: GraphInterrupt | None, failure: BaseException) -> bool:
    """Whether a failure comes of a pause, so that there was nothing to fail but that."""
    if pause is None or isinstance(failure, BaseExceptionGroup):
        return False
    seen: set[int] = set()  # each may be said to come of the other
    comes_of: BaseException | None = failure
    while comes_of is not None and comes_of is not pause and id(comes_of) not in seen:
        seen.add(id(comes_of))
        comes_of = comes_of.__cause__ or comes_of.__context__
    return comes_of is pause


def swallowed(task: Task, scope: Any, failure: BaseException | None = None) -> SwallowedPause:
    """The error for a pause that did not get here; a failure may have come in its place."""
    if isinstance(failure, SwallowedPause):
        return failure
    instead = "" if failure is None else f" Instead of that came {repr_of(failure)}."
    error = SwallowedPause(
        f"Node {task.name!r} asked {scope.pause.interrupts[0].value!r}, but a bare `except:` or `except "
        "BaseException:` in it caught the signal that pauses the run; so does a `return` in `finally:`, or "
        f"gather(..., return_exceptions=True).{instead} Catch Exception instead, or re-raise GraphBubbleUp."
    )
    error.__cause__ = failure
    return error


def questions_in(error: BaseException) -> Questions | None:
    """The questions in a group of exceptions, as asyncio.TaskGroup raises it, if there are no failures in it."""
    if not isinstance(error, BaseExceptionGroup):
        return None
    pauses, others = error.split(GraphInterrupt)
    if pauses is None or (others is not None and any(map(_is_failure, _leaves(others)))):
        return None
    return tuple(question for pause in _leaves(pauses) for question in pause.interrupts)


def without_pauses(error: BaseException) -> BaseException:
    """A failure alone, where a group of exceptions has pauses beside it: these are kept as questions."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    failures = error.split(GraphInterrupt)[1]
    return error if failures is None else failures


def _is_failure(beside_pause: BaseException) -> bool:
    """Whether an exception in a group with a pause came by itself.

    A group that ends by a pause refuses to begin anything more, and whoever begins its coroutines hears of that, if
    the loop is one on which the first of them has asked by then.
    """
    frame = beside_pause.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    module = None if frame is None else frame.tb_frame.f_globals.get("__name__")
    is_refusal = type(beside_pause) is RuntimeError and module == "asyncio.taskgroups"
    return isinstance(beside_pause, Exception) and not is_refusal


def _leaves(group: BaseExceptionGroup[Any]) -> list[Any]:
    nested = (_leaves(error) if isinstance(error, BaseExceptionGroup) else [error] for error in group.exceptions)
    return [leaf for leaves in nested for leaf in leaves]
