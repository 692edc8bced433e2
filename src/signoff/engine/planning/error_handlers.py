"""Error handlers: nodes that run, in the same step, when another one has failed for good."""

from collections.abc import Container, Sequence

from signoff.engine import ids
from signoff.engine.pending import Pending, replayed
from signoff.engine.task import Outcome, Task
from signoff.errors import NodeError, ParentCommand, SwallowedPause

HANDLER = "__error_handler__"


def may_be_tried_again(error: Exception) -> bool:
    """Whether a failure is one of what a node does. A question that it has swallowed is not: nobody would be asked."""
    return not isinstance(error, SwallowedPause)


def goes_to_handler(task: Task, error: Exception) -> bool:
    """Whether the node of a task that has failed has a handler for that."""
    return task.node.handler is not None and may_be_tried_again(error)


def is_handled(outcome: Outcome) -> bool:
    """Whether a task failed, and its node has a handler to run now."""
    return outcome.error is not None and goes_to_handler(outcome.task, outcome.error)


def is_fatal(outcome: Outcome) -> bool:
    """Whether a task has failed, and nothing handles that, or whoever was to hear of it has."""
    return outcome.untold is not None or not (outcome.is_done or outcome.is_paused or is_handled(outcome))


def ends_step(outcome: Outcome) -> bool:
    """Whether nothing more of a step is to begin. A Command for the graph around waits until the step is over."""
    return is_fatal(outcome) and type(outcome.signal) is not ParentCommand


def with_handlers(tasks: Sequence[Task], known: Pending) -> Sequence[Task]:
    """Tasks, and those that handle the errors of such among them as have failed."""
    if not known.failures:
        return tasks
    failed = [(task, error) for task in tasks if (error := known.failures.get(task.id)) is not None]
    return [*tasks, *(handler_task(task, error) for task, error in failed if task.node.handler is not None)]


def finished(tasks: Sequence[Task], known: Pending) -> list[Outcome]:
    """What tasks had come to before; behind those that have failed, what their handlers have come to."""
    found: list[Outcome] = []
    for task in tasks:
        done = replayed(task, known)
        if done is not None:
            found.append(done)
        elif task.id in known.failures and task.node.handler is not None:
            handled = replayed(handler_task(task, known.failures[task.id]), known)
            found += [_settled(task), handled] if handled is not None else []
    return found


def _settled(task: Task) -> Outcome:
    """A task that has failed, and whose error was handled: there is nothing left of it to do, or to store."""
    outcome = Outcome(task, is_known=True)
    outcome.is_saved = True
    return outcome


def failed_for(handlers: Container[str], tasks: Sequence[Task], known: Pending) -> list[Outcome]:
    """Those of tasks that have failed, and whose handlers are among some, by id."""
    failed = [task for task in tasks if task.id in known.failures and handler_id(task) in handlers]
    return [Outcome(task, error=known.failures[task.id]) for task in failed]


def behind_failures(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes, with those of handlers moved to what they handle."""
    handlers = {outcome.task.id: outcome for outcome in outcomes if outcome.task.path[0] == HANDLER}
    ordered: list[Outcome] = []
    for outcome in outcomes:
        if outcome.task.id not in handlers:
            handler = handlers.get(handler_id(outcome.task))
            ordered += [outcome] if handler is None else [outcome, handler]
    return ordered


def handler_task(task: Task, error: Exception | None) -> Task:
    """The task that handles the error of a failed one. Its id depends on that one's, so a crash finds it again."""
    assert task.node.handler is not None, "asked only for a task with a handler"
    assert error is not None, "asked only for a task that failed"
    handler = task.retargeted(task.node.handler, (HANDLER, task.name))
    handler.error = NodeError(task.name, error)
    handler.id = handler_id(task)
    return handler


def handler_id(task: Task) -> str:
    """The id of the task that handles the error of another one."""
    return ids.as_uuid(f"{task.id}\0{HANDLER}")
