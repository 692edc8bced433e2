"""Another model is called when one fails."""

from typing import Any

from signoff.agents.middleware.base import AgentMiddleware, AsyncModelHandler, ModelHandler, ModelRequest
from signoff.agents.middleware.cache_marks import readable_for
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.prebuilt.models import as_model
from signoff.steps import Steps, adrive, drive
from signoff.typing import ContextT

__all__ = ["ModelFallbackMiddleware"]


class ModelFallbackMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Calls another model when one fails, in the given order; the last error is raised.

    A model of another kind is not told what to cache (`cache_control`, `prompt_cache_key`): it might refuse that.
    """

    def __init__(self, first_model: Any, *additional_models: Any) -> None:
        given = (first_model, *additional_models)
        self.models = [as_model(model) for model in given]

    def wrap_model_call(self, request: ModelRequest[Any], handler: ModelHandler) -> Any:
        return drive(self._tried(request), handler)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncModelHandler) -> Any:
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
