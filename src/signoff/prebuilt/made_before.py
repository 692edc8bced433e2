"""What a tool node has made before, when it runs again: a person may have changed its calls meanwhile."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolCall

from signoff.constants import PASSED, RETURN
from signoff.engine.calls.earlier_calls import finished_calls, has_calls_of_another
from signoff.engine.program import Write
from signoff.prebuilt.tool_calls import Noted, name_of
from signoff.prebuilt.tool_results import messages_in

__all__ = ["MadeBefore", "Passing", "made_before"]


@dataclass(frozen=True, slots=True)
class MadeBefore:
    """The calls that a tool node has made, each as a task, before it started over."""

    node: str
    results: dict[str, Any] = field(default_factory=dict)
    """What came of them, by the names of their tasks."""
    by_id: dict[str | None, Any] = field(default_factory=dict)
    """The same by their ids."""
    were_tasks: bool = False
    """Whether calls that wait, too, were tasks before a person changed the state."""
    passed: dict[str | None, list[tuple[str, Any]]] = field(default_factory=dict)
    """What came of calls, by their ids, that wrappers have let pass which did not come to their end: in order, with
    the names of their tasks."""

    def settled(self, calls: Sequence[ToolCall]) -> dict[str | None, Any]:
        """What came of those of the calls that say something else than when they were made.

        A call is known by its id, so these are not made again.
        """
        ids = [call["id"] for call in calls] if self.by_id else []
        alone = [call for call in calls if call["id"] in self.by_id and ids.count(call["id"]) == 1]
        return {call["id"]: self.by_id[call["id"]] for call in alone if not self._has(call)}

    def left_of(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """The calls that are still to be made."""
        settled = self.settled(calls)
        return [
            call for call in calls if not (call["id"] in settled or self._has(call) or self._passed_as_another(call))
        ]

    def was_let_pass(self, call: ToolCall) -> bool:
        """Whether a wrapper has let a call pass, and waits for something else."""
        return call["id"] in self.passed

    def passing(self, call: ToolCall, calls: Sequence[ToolCall]) -> "Passing":
        """How a wrapper lets one of the calls pass."""
        is_alone = bool(self.passed) and sum(one["id"] == call["id"] for one in calls) == 1
        return Passing(self.node, call, self._passed_as_another(call) if is_alone else [])

    def _passed_as_another(self, call: ToolCall) -> list[Any]:
        """What came of a call that says something else now than when a wrapper let it pass."""
        known = self.passed.get(call["id"])
        own = name_of(self.node, call) if known else ""
        return [result for name, result in known or () if name != own]

    def _has(self, call: ToolCall) -> bool:
        """Whether exactly this call was made."""
        return bool(self.results) and name_of(self.node, call) in self.results


@dataclass(frozen=True, slots=True)
class Passing:
    """A call inside of the wrapper that stands around it."""

    node: str
    call: ToolCall
    before: list[Any]
    """What came of it when it was let pass before a person changed it: it is not made again then."""

    def is_it(self, call: ToolCall) -> bool:
        """Whether the wrapper lets the call itself pass, and not another one that it has made of it."""
        return call is self.call or (call["name"], call["args"]) == (self.call["name"], self.call["args"])

    def result_before(self, call: ToolCall) -> Any:
        """What came of it before; None if it is to be made. A wrapper may let it pass several times: in that order."""
        return deepcopy(self.before.pop(0)) if self.before and self.is_it(call) else None

    def noted_for(self, call: ToolCall) -> Noted | None:
        """What is kept beside a result, if the wrapper lets the call itself pass: then that is known by its id."""
        return self._noted if self.is_it(call) else None

    def _noted(self, result: Any) -> list[Write]:
        if any(message.status == "error" for message in messages_in(result)):
            return []  # what has failed may be corrected
        return [(PASSED, [self.call["id"], name_of(self.node, self.call)])]


def made_before(node: str, messages_key: str, scope: Any) -> MadeBefore:
    """What the running task of a tool node has made. It makes the calls of one message, so their ids are their own."""
    made = MadeBefore(node, were_tasks=has_calls_of_another(scope.host.run, scope.task))
    for name, writes in finished_calls(scope.host.run, scope.task):
        if name.startswith(f"{node}-"):
            result = dict(writes).get(RETURN)
            made.results[name] = result
            made.by_id.update((message.tool_call_id, result) for message in messages_in(result, messages_key))
    for writes in scope.host.run.known.results.values():
        if (kept := dict(writes)) and PASSED in kept:
            id, name = kept[PASSED]
            if name.startswith(f"{node}-"):
                made.passed.setdefault(id, []).append((name, kept[RETURN]))
    return made
