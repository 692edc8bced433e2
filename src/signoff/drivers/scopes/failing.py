"""What a task has seen fail: calls, and graphs. If it has caught that before it asks, it will again."""

from typing import Any

from signoff._reprs import repr_of
from signoff.drivers.scopes.showing import Showing
from signoff.engine.calls.task_calls import Failure, caught, caught_record, has_led_to, uncaught_record
from signoff.engine.task import Outcome, Record, Task
from signoff.errors import NodeCancelledError


class Failing(Showing):
    """The part of a scope that follows failures."""

    __slots__ = ()

    failed: list[Failure]
    """What the task has seen fail, in order: calls, and graphs."""
    came_to: list[tuple[str, Any]]
    """What the graphs came to that the task has called, each with the line that has called it."""
    past: int
    """How many of these it has gone on behind, to call or to ask something more."""

    def fail(self, id: str, error: Exception, *, is_known: bool = False) -> None:
        """See a call or a graph fail."""
        self.failed.append(Failure(id, error, self.task.saved_path, is_known))

    def fail_again(self, id: str, line: str) -> None:
        """See a graph fail as it did before, if the task has caught that then."""
        known = self.host.run.known
        if known is not None and (error := known.caught(id, 0)) is not None:
            self.fail(id, error, is_known=True)
            self.came_to.append((line, repr_of(error)))
            raise error

    def caught(self) -> list[Record]:
        """What is to be stored of what has failed, if the task pauses: it has caught that, and will again."""
        new = [(id, one) for id, one in caught(self.failed) if not one.is_known]
        return [caught_record(self._stored_as(id), one) for id, one in new if self.host.comes_back(one.error)]

    def uncaught(self, error: Exception) -> list[Record]:
        """The same, if the task fails with what it has caught before: then that is done again."""
        known = [(at, *one) for at, one in enumerate(caught(self.failed)) if one[1].is_known]
        led = [(id, one) for at, id, one in known if has_led_to(error, one.error, is_past=at < self.past)]
        return [uncaught_record(self._stored_as(id), one) for id, one in led]

    def _stored_as(self, id: str) -> str:
        known = self.host.run.known
        return id if known is None else known.failure_stored_as(id)


def cancelled_inside(task: Task, cause: BaseException) -> Outcome:
    """The outcome of a task that raised CancelledError although nobody cancels the run."""
    error = NodeCancelledError(task.name)
    error.__cause__ = cause
    return Outcome(task, error=error)
