"""A limit to the calls of tools: of all of them, or of one."""

from typing import Annotated, Any, Literal, NotRequired, get_args

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from signoff.agents.middleware.base import AgentMiddleware
from signoff.agents.middleware.checks import check_limits, check_text
from signoff.agents.middleware.decorators import hook_config
from signoff.agents.middleware.limits import LimitExceeded
from signoff.agents.middleware.state import AgentState, PrivateStateAttr, ResponseT
from signoff.channels import UntrackedValue
from signoff.errors import InvalidInput
from signoff.prebuilt.agent_routes import pending
from signoff.prebuilt.tool_errors import error_message
from signoff.typing import ContextT

__all__ = ["ToolCallLimitExceededError", "ToolCallLimitMiddleware", "ToolCallLimitState"]

ExitBehavior = Literal["continue", "error", "end"]
Counts = dict[str, int]
"""How many calls were let through, by tool."""

ALL = "__all__"
"""What stands for every tool in the counts."""


class ToolCallLimitExceededError(LimitExceeded):
    """Tools were to be called more often than they may be; the counts are those that it would have come to."""

    def __init__(self, told: str, *, tool_name: str | None = None, **numbers: Any) -> None:
        super().__init__(told, **numbers)
        self.tool_name = tool_name


class ToolCallLimitState(AgentState[ResponseT]):
    """The state of an agent whose calls of tools are counted."""

    thread_tool_call_count: NotRequired[Annotated[Counts, PrivateStateAttr]]
    run_tool_call_count: NotRequired[Annotated[Counts, UntrackedValue, PrivateStateAttr]]


class ToolCallLimitMiddleware(AgentMiddleware[ToolCallLimitState[ResponseT], ContextT, ResponseT]):
    """Lets only so many calls of tools through: in the thread, or in one run.

    tool_name: the tool that is counted; all of them together, if there is none.
    exit_behavior: what happens to a call too many. "continue" tells the model that it was not made, "end" makes no
        call of this turn and ends the run with a message that says why, "error" raises ToolCallLimitExceededError.
    """

    state_schema = ToolCallLimitState

    def __init__(
        self,
        *,
        tool_name: str | None = None,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: ExitBehavior = "continue",
    ) -> None:
        check_limits("ToolCallLimitMiddleware", thread_limit=thread_limit, run_limit=run_limit)
        if tool_name is not None:
            check_text("tool_name", tool_name)
        if thread_limit is not None and run_limit is not None and run_limit > thread_limit:
            raise InvalidInput(f"A run_limit of {run_limit} is never reached with a thread_limit of {thread_limit}.")
        if exit_behavior not in get_args(ExitBehavior):
            raise InvalidInput(f'exit_behavior must be "continue", "error" or "end", not {exit_behavior!r}.')
        self.tool_name = tool_name
        self.watched_tools = [tool_name] if tool_name else []
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior

    @property
    def name(self) -> str:
        """The name, with that of the tool: an agent may have a limit for each of several."""
        return f"{type(self).__name__}[{self.tool_name}]" if self.tool_name else type(self).__name__

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        calls = pending(state["messages"])
        counted = [call for call in calls if self.tool_name in (None, call["name"])]
        if not counted:
            return None
        allowed = self._left(state)
        too_many = counted[allowed:]
        if too_many and self.exit_behavior == "error":
            raise self._error(state, len(counted))
        if too_many and self.exit_behavior == "end":
            return {"jump_to": "end", "messages": [*map(self._skipped, calls), AIMessage(self._told())]}
        counts = self._counts(state, len(counted) - len(too_many))
        return {**counts, "messages": [*map(self._skipped, too_many)]} if too_many else counts

    def _error(self, state: Any, more: int) -> ToolCallLimitExceededError:
        return ToolCallLimitExceededError(
            self._told(),
            thread_count=self._count(state, "thread") + more,
            run_count=self._count(state, "run") + more,
            thread_limit=self.thread_limit,
            run_limit=self.run_limit,
            tool_name=self.tool_name,
        )

    def _left(self, state: Any) -> int:
        """How many calls may still be made."""
        limits = (("thread", self.thread_limit), ("run", self.run_limit))
        return max(0, min(limit - self._count(state, what) for what, limit in limits if limit is not None))

    def _count(self, state: Any, what: str) -> int:
        return int((state.get(f"{what}_tool_call_count") or {}).get(self.tool_name or ALL, 0))

    def _counts(self, state: Any, more: int) -> dict[str, Counts]:
        """The counts after so many calls more; other limits keep theirs."""
        return {
            f"{what}_tool_call_count": {
                **(state.get(f"{what}_tool_call_count") or {}),
                self.tool_name or ALL: self._count(state, what) + more,
            }
            for what in ("thread", "run")
        }

    def _skipped(self, call: ToolCall) -> ToolMessage:
        return error_message(call, f"This call of {call['name']} was not made. {self._told()}")

    def _told(self) -> str:
        what = f"{self.tool_name!r} may be called" if self.tool_name else "Tools may be called"
        limits = ((self.thread_limit, "thread"), (self.run_limit, "run"))
        times = " and ".join(f"{limit} times in a {where}" for limit, where in limits if limit is not None)
        return f"{what} {times}, and no more."
