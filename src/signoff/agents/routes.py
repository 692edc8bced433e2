"""Where an agent goes next: rules on its state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage

from signoff._words.commands import Send
from signoff.agents.admission import DECISION
from signoff.prebuilt.agent_routes import last_of_model, pending, results_of_turn


@dataclass(frozen=True, slots=True)
class Routes:
    """The ways through an agent."""

    entry: str
    """Where a turn begins: before the model."""
    exit: str
    """Where a run ends: after the last turn."""
    has_tools: bool
    back: str
    """Where to go from the model if its calls were answered meanwhile: to its next turn, be it through the tools."""
    direct: frozenset[str]
    """The tools whose result is the answer."""
    together: frozenset[str]
    """The tools whose calls are asked about in one question, and so are made in one task."""

    def after_model(self, state: Any) -> Any:
        """To the tools that the model wants, or to the end."""
        asked = last_of_model(state["messages"])
        if asked is None or not asked.tool_calls:
            return self.exit
        if pending(state["messages"]):
            return self.to_tools(state) if self.has_tools else self.exit
        return self.exit if state.get("structured_response") is not None else self.back

    def after_tools(self, state: Any) -> str:
        """Back to the model, unless the answer is there."""
        if state.get("structured_response") is not None or self._is_direct(state["messages"]):
            return self.exit
        return self.entry

    def to_model(self, state: Any) -> str:
        """Back to the model, where no answer can come of the tools."""
        return self.entry

    def _is_direct(self, messages: Sequence[Any]) -> bool:
        """Whether every call is of a tool whose result is the answer; a rejection is no result.

        What the calls of other tasks come to is not seen here: each task answers for its own.
        """
        asked = last_of_model(messages)
        if not self.direct or asked is None or not asked.tool_calls:
            return False
        results = results_of_turn(messages)
        return all(self._answers(call, results.get(str(call["id"]))) for call in asked.tool_calls)

    def _answers(self, call: ToolCall, result: ToolMessage | None) -> bool:
        if result is None:
            return call["name"] in self.direct
        return _tool_of(call, result) in self.direct and result.status != "error"

    def to_tools(self, state: Any) -> Any:
        """A task for each open call; those that are asked about together share one."""
        calls = pending(state["messages"])
        shared = [call for call in calls if call["name"] in self.together]
        first = shared[0] if shared else None
        groups = [shared if call is first else [call] for call in calls if call is first or call not in shared]
        return [Send("tools", group) for group in groups]

    def jump(self, target: str, state: Any) -> Any:
        """Where a hook's jump leads to."""
        match target:
            case "model":
                return self.entry
            case "tools":
                return self.to_tools(state) if self.has_tools else self.entry
        return self.exit

    def targets(self, jumps: Sequence[str]) -> list[str]:
        """The nodes that jumps may lead to."""
        places = {"model": self.entry, "tools": "tools" if self.has_tools else self.entry}
        return [places.get(jump, self.exit) for jump in jumps]


def _tool_of(call: ToolCall, result: ToolMessage) -> str:
    """The tool that a result is of, also if it does not say so: a person may have put another in its place."""
    decided = result.additional_kwargs.get(DECISION) or {}
    return result.name or str(decided.get("ran", call)["name"])


def jumping(routes: Routes, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A rule for what follows a hook that may jump."""

    def route(state: Any) -> Any:
        target = state.get("jump_to")
        # With no call open there is nothing to do at the tools.
        if target is None or (target == "tools" and not pending(state["messages"])):
            return otherwise(state)
        return routes.jump(target, state)

    return route
