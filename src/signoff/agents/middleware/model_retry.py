"""A call of the model that failed is made again."""

from typing import Any

from langchain_core.messages import AIMessage

from signoff.agents.middleware.base import AsyncModelHandler, ModelHandler, ModelRequest
from signoff.agents.middleware.retrying import Retrying, aperforming, performing
from signoff.agents.middleware.state import ResponseT
from signoff.steps import adrive, drive
from signoff.typing import ContextT

__all__ = ["ModelRetryMiddleware"]


class ModelRetryMiddleware(Retrying[ResponseT, ContextT]):
    """Calls the model again when that failed.

    retry_on: the errors after which it does, or a function that tells; others are raised at once. If not given, all
        but those that say of themselves that they will not pass.
    on_failure: what the last failure leads to. "continue" ends the turn with a message that says what went wrong, a
        function makes the text of it, "error" raises the error.
    backoff_factor: by how much each pause is longer than the one before; with 0 they are all the same.
    """

    def wrap_model_call(self, request: ModelRequest[Any], handler: ModelHandler) -> Any:
        return drive(self.tried(self._failed), performing(lambda: handler(request)))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncModelHandler) -> Any:
        return await adrive(self.tried(self._failed), aperforming(lambda: handler(request)))

    def _failed(self, told: str) -> AIMessage:
        return AIMessage(told if callable(self.on_failure) else f"I could not be reached: {told}")
