"""The course of a run: what has come of it so far, and how it has ended."""

from typing import TYPE_CHECKING, Any

from signoff.errors import StreamAborted
from signoff.steps import Steps
from signoff.stream.events import ProtocolEvent
from signoff.stream.router import Router

if TYPE_CHECKING:
    from signoff._words.questions import Interrupt

__all__ = ["Course"]


class Course:
    """Of a run, or of a graph that is nested in it."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.is_over = False
        """Whether no more is to come."""
        self._latest: Any = None
        self._asked: dict[str, Interrupt[Any]] = {}

    @property
    def is_closed(self) -> bool:
        """Whether all that was made of the run is closed."""
        return self.router.events.is_closed

    def take(self, event: ProtocolEvent) -> Steps[None]:
        """Take an event in."""
        if event["method"] == "values" and tuple(event["params"]["namespace"]) == self.router.scope:
            self._latest = event["params"]["data"]
            self._asked.update((one.id, one) for one in event["params"].get("interrupts", ()))
        yield from self.router.push(event)

    def end(self) -> Steps[None]:
        """The run has come to its end, or to a question."""
        self.is_over = True
        yield from self.router.close()

    def fail(self, error: BaseException) -> Steps[None]:
        """The run has failed."""
        self.is_over = True
        yield from self.router.fail(error)

    def stop(self, why: str) -> None:
        """The run is called off: its readers will see no more, and it has no output."""
        self.is_over = True
        self.router.stopped = self.router.stopped or StreamAborted(
            f"{why} What it had finished by then is stored, if it has a saver: get_state()."
        )

    def output(self) -> Any:
        """The state in the end. Raises what there is instead of one."""
        self._refuse_partial()
        return self._latest

    def interrupts(self) -> "list[Interrupt[Any]]":
        """What is asked in the end."""
        self._refuse_partial()
        return list(self._asked.values())

    def _refuse_partial(self) -> None:
        if (error := self.router.events.error or self.router.stopped) is not None:
            raise error
