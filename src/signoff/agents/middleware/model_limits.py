"""Limits around the model: how often it may be called, and which one is called when it fails."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AIMessage

from signoff.agents.middleware.base import AgentMiddleware, ModelRequest, ModelResponse
from signoff.agents.middleware.cache_marks import readable_for
from signoff.agents.middleware.decorators import hook_config
from signoff.agents.middleware.state import AgentState, PrivateStateAttr
from signoff.channels import UntrackedValue
from signoff.errors import InvalidInput, SignoffError
from signoff.prebuilt.models import as_model
from signoff.steps import Steps, adrive, drive

__all__ = ["ModelCallLimitExceededError", "ModelCallLimitMiddleware", "ModelFallbackMiddleware"]


class ModelCallLimitExceededError(SignoffError):
    """The model was called as often as it may be."""


class CountedState(AgentState):
    """The state of an agent whose calls of the model are counted."""

    thread_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]
    run_model_call_count: NotRequired[Annotated[int, UntrackedValue, PrivateStateAttr]]


class ModelCallLimitMiddleware(AgentMiddleware[Any, Any]):
    """Ends a run before the model is called too often: in the thread, or in one run.

    exit_behavior: "end" ends with a message that says so, "error" raises ModelCallLimitExceededError.
    """

    state_schema = CountedState

    def __init__(
        self,
        *,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: Literal["end", "error"] = "end",
    ) -> None:
        if thread_limit is None and run_limit is None:
            raise InvalidInput("ModelCallLimitMiddleware needs a thread_limit, a run_limit, or both.")
        check_limits(thread_limit=thread_limit, run_limit=run_limit)
        if exit_behavior not in ("end", "error"):
            raise InvalidInput(f'exit_behavior must be "end" or "error", not {exit_behavior!r}.')
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> Any:
        told = self._exceeded(state)
        if told is None:
            return None
        if self.exit_behavior == "error":
            raise ModelCallLimitExceededError(told)
        return {"jump_to": "end", "messages": [AIMessage(told)]}

    def after_model(self, state: Any, runtime: Any) -> Any:
        keys = ("thread_model_call_count", "run_model_call_count")
        return {key: state.get(key, 0) + 1 for key in keys}

    def _exceeded(self, state: Any) -> str | None:
        for what, limit in (("thread", self.thread_limit), ("run", self.run_limit)):
            if limit is not None and state.get(f"{what}_model_call_count", 0) >= limit:
                return f"I have to stop here: this {what} may call the model {limit} times, and it has."
        return None


class ModelFallbackMiddleware(AgentMiddleware[Any, Any]):
    """Calls another model when one fails, in the given order; the last error is raised.

    A model of another kind is not given what is to be cached (`cache_control`): it might refuse that.
    """

    def __init__(self, first_model: Any, *additional_models: Any) -> None:
        given = (first_model, *additional_models)
        self.models = [as_model(model) for model in given]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        return drive(self._tried(request), handler)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        return await adrive(self._tried(request), handler)

    def _tried(self, request: ModelRequest[Any]) -> Steps[Any]:
        """Ask for one call after the other, until one succeeds."""
        asked = request
        for model in self.models:
            try:
                return (yield asked)
            except Exception:
                asked = readable_for(request, model)
        return (yield asked)


def check_limits(**limits: int | None) -> None:
    """Refuse what cannot limit a count."""
    for name, limit in limits.items():
        if limit is not None and not (isinstance(limit, int) and limit >= 0):
            raise InvalidInput(f"{name} is {limit!r}. Give a whole number, 0 or more.")
