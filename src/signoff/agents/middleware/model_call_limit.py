"""How often the model may be called."""

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AIMessage

from signoff.agents.middleware.base import AgentMiddleware
from signoff.agents.middleware.checks import check_limits
from signoff.agents.middleware.decorators import hook_config
from signoff.agents.middleware.limits import LimitExceeded
from signoff.agents.middleware.state import AgentState, PrivateStateAttr, ResponseT
from signoff.channels import UntrackedValue
from signoff.errors import InvalidInput
from signoff.typing import ContextT

__all__ = ["ModelCallLimitExceededError", "ModelCallLimitMiddleware", "ModelCallLimitState"]


class ModelCallLimitExceededError(LimitExceeded):
    """The model was called as often as it may be."""


class ModelCallLimitState(AgentState[ResponseT]):
    """The state of an agent whose calls of the model are counted."""

    thread_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]
    run_model_call_count: NotRequired[Annotated[int, UntrackedValue, PrivateStateAttr]]


class ModelCallLimitMiddleware(AgentMiddleware[ModelCallLimitState[ResponseT], ContextT, ResponseT]):
    """Ends a run before the model is called too often: in the thread, or in one run.

    exit_behavior: "end" ends with a message that says so, "error" raises ModelCallLimitExceededError.
    """

    state_schema = ModelCallLimitState

    def __init__(
        self,
        *,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: Literal["end", "error"] = "end",
    ) -> None:
        check_limits("ModelCallLimitMiddleware", thread_limit=thread_limit, run_limit=run_limit)
        if exit_behavior not in ("end", "error"):
            raise InvalidInput(f'exit_behavior must be "end" or "error", not {exit_behavior!r}.')
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> Any:
        told = self._exceeded(state)
        if told is None:
            # Behind the model it could be missed: another hook may jump before it is counted.
            return {key: state.get(key, 0) + 1 for key in ("thread_model_call_count", "run_model_call_count")}
        if self.exit_behavior == "error":
            counts = {f"{what}_count": state.get(f"{what}_model_call_count", 0) for what in ("thread", "run")}
            raise ModelCallLimitExceededError(told, **counts, thread_limit=self.thread_limit, run_limit=self.run_limit)
        return {"jump_to": "end", "messages": [AIMessage(told)]}

    def after_model(self, state: Any, runtime: Any) -> Any:
        """A run that goes on at the model, after a failure, has not come by what counts before it."""
        return None if state.get("run_model_call_count") else {"run_model_call_count": 1}

    def _exceeded(self, state: Any) -> str | None:
        for what, limit in (("thread", self.thread_limit), ("run", self.run_limit)):
            if limit is not None and state.get(f"{what}_model_call_count", 0) >= limit:
                return f"I have to stop here: this {what} may call the model {limit} times, and it has."
        return None
