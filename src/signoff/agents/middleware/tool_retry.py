"""A call of a tool that failed is made again."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from signoff.agents.middleware.base import AsyncToolHandler, ToolCallRequest, ToolHandler
from signoff.agents.middleware.retrying import Retrying, aperforming, performing
from signoff.agents.middleware.state import ResponseT
from signoff.agents.middleware.tool_error import chooser
from signoff.prebuilt.tool_errors import error_message
from signoff.steps import adrive, drive
from signoff.typing import ContextT

__all__ = ["ToolRetryMiddleware"]


class ToolRetryMiddleware(Retrying[ResponseT, ContextT]):
    """Calls a tool again when that failed. The decision of a person on the call holds until it has succeeded.

    tools: those that are tried again, or their names; all, if not given. The rest as in ModelRetryMiddleware; what the
    last failure leads to is the result of the call, as an error that the model is told.
    """

    calls_unknown_tools = False

    def __init__(self, *, tools: Sequence[BaseTool | str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._is_for = chooser(tools)

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Any:
        if not self._is_for(request):
            return handler(request)
        return drive(self.tried(self._failed(request)), performing(lambda: handler(request)))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncToolHandler) -> Any:
        if not self._is_for(request):
            return await handler(request)
        return await adrive(self.tried(self._failed(request)), aperforming(lambda: handler(request)))

    def _failed(self, request: ToolCallRequest) -> Callable[[str], ToolMessage]:
        call = request.tool_call
        return lambda told: error_message(
            call, told if callable(self.on_failure) else f"The call of {call['name']} failed: {told}"
        )
