"""One task, from its input to its writes: attempts and retries, the result, the conditional edges."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signoff._elsewhere import told_of_theirs
from signoff._reprs import repr_of
from signoff._scope import outside
from signoff._words.commands import Command
from signoff._words.policies import RetryPolicy
from signoff.engine.attempts.failure_notes import tell_where
from signoff.engine.attempts.retries import matching_policy, pause_before
from signoff.engine.attempts.swallowed import is_behind, is_lost, questions_in, swallowed, unheard, without_pauses
from signoff.engine.effects import Call, Settle, Sleep
from signoff.engine.origin import flagged
from signoff.engine.own_copies import anew
from signoff.engine.pending import Questions, still_asked
from signoff.engine.planning.edge_questions import is_kept_at_edges, result_at_edges, told_in
from signoff.engine.planning.error_handlers import goes_to_handler, may_be_tried_again
from signoff.engine.planning.fold import preview
from signoff.engine.program import HandedOver, Program, Write
from signoff.engine.task import Outcome, Task
from signoff.errors import (
    GraphDrained,
    GraphInterrupt,
    InvalidAnswer,
    InvalidUpdateError,
    NotStorable,
    OutsideOfRun,
    ParentCommand,
    ProgramChanged,
)
from signoff.steps import Steps


def at_once(task: Task, scope: Any, output: Any) -> Outcome | None:
    """The outcome of a task whose function has returned, if there is nothing more to it; so it is with most."""
    if task.node.branches or scope.calls or scope.writes or scope.pause is not None or scope.refusal is not None:
        return None
    writes = (*task.node.updates(output), *task.node.edges)
    scope.is_done = True
    return Outcome(task, writes)


def paused_at_once(task: Task, scope: Any, pause: GraphInterrupt) -> Outcome | None:
    """The outcome of a task whose function asks, if nothing inside of it, or beside it, may ask, too."""
    if scope.calls or scope.failed or scope.beside or scope.refusal is not None or _still_asked(task, scope):
        return None
    scope.pause = None  # its traceback leads to the scope, which would not be freed at once
    return Outcome(task, (), None, pause.interrupts, (), scope.asides)


def attempt(task: Task, program: Program, scope: Any) -> Steps[Outcome]:
    """Run a task until it succeeds, pauses, or has failed for good."""
    tries = 0
    given = anew(task.input) if task.node.is_failsafe else None
    while True:
        tries += 1
        try:
            try:
                output = scope.output = yield Call(task.node.action, task.input, task.timeout)
            except ParentCommand as signal:
                scope.led_by = signal
            if scope.calls:
                yield from _settle()
            if scope.pause is not None or scope.refusal is not None:
                raise unheard(task, scope)
            writes = task.node.updates(output) if scope.led_by is None else _told_by(task, scope.led_by)
            if scope.writes:  # pushed beside it
                writes = [*scope.writes, *writes]
            ways = (yield from _ways(task, program, scope, writes)) if task.node.branches else []
            outcome = Outcome(task, (*writes, *ways, *task.node.edges))
            outcome.came_to = writes
            return outcome
        except GraphInterrupt as pause:
            if scope.refusal is not None:
                return (yield from _refused(task, scope))
            return (yield from _paused(task, scope, pause.interrupts))
        except ParentCommand as signal:
            return Outcome(task, signal=_for_those_around(scope, signal))
        except GraphDrained as drained:
            return Outcome(task, signal=drained)
        except (Exception, BaseExceptionGroup) as error:
            if scope.refusal is not None:
                return (yield from _refused(task, scope))
            questions = questions_in(error)
            if questions is not None:
                return (yield from _paused(task, scope, questions))
            failure = without_pauses(error)
            if not isinstance(failure, Exception):
                return Outcome(task, signal=failure)
            if given is not None:
                task.input = anew(given)
            failure = _in_our_words(task, failure)
            asked = yield from _all_questions(task, scope, (), fails=True)
            if is_lost(scope.pause, failure, asked):
                failure = swallowed(task, scope, failure)
            elif is_behind(scope.pause, failure):
                return (yield from _paused(task, scope, asked))
            failure, policy = _policy_for(task, failure)
            if policy is None or tries >= policy.max_attempts:
                return _failed(task, scope, failure, _once((*asked, *scope.left)))
            scope.try_again(tries + 1)
            yield Sleep(pause_before(policy, tries), policy.jitter, failure)


def _policy_for(task: Task, failure: Exception) -> tuple[Exception, RetryPolicy | None]:
    """What a task has failed with, and the policy that has it tried again; a `retry_on` may fail in its turn."""
    if not may_be_tried_again(failure):
        return failure, None
    try:
        return failure, matching_policy(task.node.retry, failure)
    except GraphInterrupt as pause:
        own: Exception = OutsideOfRun(
            f"The retry_on of node {task.name!r} asked {pause.interrupts[0].value!r}, and it cannot: the node has "
            "failed by then. Ask in the node itself, or in its error_handler."
        )
    except Exception as error:
        own = error
    own.__cause__ = failure
    return own, None


def _settle() -> Steps[None]:
    """Wait for calls that the task did not wait for itself; if one of them asks, the task asks."""
    questions = yield Settle(concludes=True)
    if questions:
        raise GraphInterrupt(questions)


def _paused(task: Task, scope: Any, questions: Questions) -> Steps[Outcome]:
    questions = yield from _all_questions(task, scope, questions)
    scope.pause = None
    unkept = [run.unkept[id] for id in scope.passed if id in run.unkept] if (run := scope.host.run).unkept else ()
    if unkept:
        return Outcome(task, error=_unkept(questions, unkept[0]))
    # What has failed until now, the task has caught.
    asides = [*scope.asides, *scope.caught()] if scope.failed else scope.asides
    return Outcome(task, questions=questions, asides=asides)


def _refused(task: Task, scope: Any) -> Steps[Outcome]:
    """The run cannot go on. What calls and graphs inside of the task ask by now, on answers that they took, is open."""
    calls = (yield Settle()) if scope.calls else ()
    run = scope.host.run
    before = run.known.asked_by(task) if run.known is not None else ()
    still_open = [one for one in before if one.id not in run.answers or one.id in run.given]
    questions = _once((*still_open, *calls, *scope.left))
    is_more = not {one.id for one in questions} <= {one.id for one in before}
    if not is_more or not isinstance(scope.refusal, ProgramChanged | InvalidAnswer):
        return Outcome(task, signal=scope.refusal)
    scope.pause = None
    return Outcome(task, signal=scope.refusal, beside=questions, asides=scope.asides)


def _unkept(questions: Questions, reason: NotStorable) -> NotStorable:
    asked = ", ".join(repr_of(question.value) for question in questions)
    error = NotStorable(
        f"{asked} cannot be asked: with the answer, what was done before it would be done again, since its "
        f"result cannot be kept until then. {reason}"
    )
    error.__cause__ = reason
    return error


def _failed(task: Task, scope: Any, error: Exception, questions: Questions) -> Outcome:
    """A task has failed for good. What calls inside of it ask stays asked: it can be answered before that is mended."""
    tell_where(error, task, scope.host.run)
    uncaught = scope.uncaught(error) if scope.failed else []
    if questions and goes_to_handler(task, error):
        return Outcome(task, error=error, asides=uncaught)
    asides = [*scope.asides, *uncaught]
    if not questions:
        return Outcome(task, error=error, asides=asides)
    scope.pause = None
    still_open = tuple(flagged(question, "is_beside_failure") for question in questions)
    return Outcome(task, error=error, beside=still_open, asides=asides)


def _all_questions(task: Task, scope: Any, questions: Questions, *, fails: bool = False) -> Steps[Questions]:
    """The questions of a pause, and those that calls, coroutines and threads have asked beside it, now or before."""
    others = (yield Settle(fails=fails)) if scope.calls else ()
    return _once((*_still_asked(task, scope), *questions, *others, *scope.beside))


def _once(questions: Questions) -> Questions:
    """The same questions, each of them once, as it was asked last."""
    return tuple({question.id: question for question in questions}.values())


def _still_asked(task: Task, scope: Any) -> Questions:
    run = scope.host.run
    return () if run.terms.accepts_changes else still_asked(task, run.known, run.answers)


def _in_our_words(task: Task, failure: Exception) -> Exception:
    """A failure; of a program that was moved here in part, with what is still to be moved."""
    told = told_of_theirs(f"Node {task.name!r}", failure)
    if told is None:
        return failure
    error = OutsideOfRun(told)
    error.__cause__ = failure
    return error


def _ways(task: Task, program: Program, scope: Any, came_to: Sequence[Write]) -> Steps[list[Write]]:
    """Where the conditional edges lead. They see the state as this task leaves it, and all that it has written."""
    is_kept = is_kept_at_edges(program, scope, came_to)
    output = scope.output if isinstance(scope.output, dict) else told_in(program, came_to)
    ways: list[Write] = []
    is_apart, given = program.has_code_between, (program, task.values, came_to)
    ahead = outside(preview, *given) if is_apart else preview(*given)
    place = ahead, task.step, scope.host.run.stop
    try:
        for branch in task.node.branches:
            seen = outside(branch.read, *place) if is_apart else branch.read(*place)
            if branch.sees_result and type(seen) is dict:
                seen = {**output, **seen}
            timeout = task.timeout if branch.path.afunc is not None else None
            ways += branch.route((yield Call(branch.path, anew(seen), timeout, concludes=True)))
        if scope.calls:
            yield from _settle()
    except GraphInterrupt:
        if is_kept:
            scope.asides.append(result_at_edges(task, came_to))
        raise
    except ParentCommand as signal:
        raise InvalidUpdateError(
            f"A conditional edge of node {task.name!r} called a graph that hands over with {repr_of(signal.command)}. "
            "Return the names of the nodes to go to, or call that graph in a node."
        ) from None
    if scope.pause is not None or scope.refusal is not None:
        raise unheard(task, scope)
    return ways


def _told_by(task: Task, signal: ParentCommand) -> list[Write]:
    """What Commands stand for that a graph inside of a task has handed over. For another graph, they go on to that."""
    if signal.command.graph != task.ns or task.caller is not None:
        raise signal
    told = [HandedOver(update=one.update, resume=one.resume, goto=one.goto, by=one.by) for one in signal.args]
    return [write for command in told for write in task.node.updates(command)]


def _for_those_around(scope: Any, signal: ParentCommand) -> ParentCommand:
    """Commands that go on to the graph around, which is named if there is one."""
    if signal.command.graph != Command.PARENT or not scope.is_nested:
        return signal
    return ParentCommand(*[replace(command, graph=scope.ns_around) for command in signal.args])
