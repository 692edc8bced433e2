"""The runs of nested graphs: each is made once, whoever shows it."""

from typing import TYPE_CHECKING, Any, Protocol

from signoff.errors import SubgraphFailed
from signoff.steps import Steps
from signoff.stream.course import Course
from signoff.stream.events import ProtocolEvent
from signoff.stream.nesting import Began, Ended, Nesting, Status

if TYPE_CHECKING:
    from signoff.stream.router import Router

__all__ = ["Nests", "Viewer"]


class Viewer(Protocol):
    """Shows some of the runs."""

    def shows(self, began: Began) -> bool:
        """Whether a nested graph is one that it is about."""

    def show(self, run: Any) -> None:
        """Show the run of one."""


class Nests:
    """The graphs that are nested directly in one. Made for each viewer, their runs would double at each level."""

    def __init__(self, router: "Router") -> None:
        self.viewers: list[Viewer] = []
        self._router = router
        self._nesting = Nesting(router.scope, is_deep=False)
        self._runs: dict[tuple[str, ...], tuple[Course, Any]] = {}
        """Those that have not ended, and their runs."""

    def take(self, event: ProtocolEvent) -> Steps[None]:
        """Take an event to the nested graph that it is of."""
        changes = self._nesting.changes(event)
        for began in (change for change in changes if isinstance(change, Began)):
            self._begin(began)
        child = tuple(event["params"]["namespace"])[: len(self._router.scope) + 1]
        if child in self._runs:
            yield from self._runs[child][0].take(event)
        for ended in (change for change in changes if isinstance(change, Ended)):
            yield from self._end(ended, None)

    def end(self, status: Status, text: str | None, error: BaseException | None) -> Steps[None]:
        """The whole run has ended. If it was called off, these have not ended: they have no output either."""
        if (stopped := self._router.stopped) is None:
            for ended in self._nesting.rest(status, text):
                yield from self._end(ended, error)
        for course, _ in self._runs.values():
            course.router.stopped = stopped
            yield from course.end()

    def _begin(self, began: Began) -> None:
        from signoff.stream.run_stream import AsyncSubgraphRunStream, SubgraphRunStream

        viewers = [viewer for viewer in self.viewers if viewer.shows(began)]
        kind = AsyncSubgraphRunStream if self._router.is_async else SubgraphRunStream
        course = Course(self._router.inside(began.namespace))
        run = kind(course, began)
        self._runs[began.namespace] = course, run
        for viewer in viewers:
            viewer.show(run)

    def _end(self, ended: Ended, error: BaseException | None) -> Steps[None]:
        if ended.namespace not in self._runs:
            return
        course, run = self._runs.pop(ended.namespace)
        run.status, run.error = ended.status, ended.error
        if ended.status == "failed" or error is not None:
            failed = SubgraphFailed(f"The nested graph {run.graph_name!r} failed: {ended.error}")
            error = failed if error is None else error
            yield from course.fail(error)
        else:
            yield from course.end()
