"""What a tool node has made before, when it runs again: a person may have changed its calls meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolCall

from signoff.constants import RETURN
from signoff.engine.calls_before import finished_calls, has_calls_of_another
from signoff.prebuilt.tool_calls import name_of
from signoff.prebuilt.tool_results import messages_in

__all__ = ["MadeBefore", "made_before"]


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
        return [call for call in calls if call["id"] not in settled and not self._has(call)]

    def _has(self, call: ToolCall) -> bool:
        """Whether exactly this call was made."""
        return bool(self.results) and name_of(self.node, call) in self.results


def made_before(node: str, messages_key: str, scope: Any) -> MadeBefore:
    """What the running task of a tool node has made. It makes the calls of one message, so their ids are their own."""
    made = MadeBefore(node, were_tasks=has_calls_of_another(scope.host.run, scope.task))
    for name, writes in finished_calls(scope.host.run, scope.task):
        if name.startswith(f"{node}-"):
            result = dict(writes).get(RETURN)
            made.results[name] = result
            made.by_id.update((message.tool_call_id, result) for message in messages_in(result, messages_key))
    return made
