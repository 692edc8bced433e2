"""What goes wrong in a tool, told to the model instead of ending the run."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from langchain_core.tools import BaseTool

from signoff.agents.middleware.base import AgentMiddleware, AsyncToolHandler, ToolCallRequest, ToolHandler
from signoff.agents.middleware.checks import check_function
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.errors import InvalidInput, NeedsAsync
from signoff.prebuilt.tool_errors import Content, error_message
from signoff.typing import ContextT

__all__ = ["ToolErrorMiddleware"]

OnError = Callable[[Exception, ToolCallRequest], Content | None]
AOnError = Callable[[Exception, ToolCallRequest], Awaitable[Content | None]]


class ToolErrorMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Tells the model what went wrong in a tool, in the words of `on_error(error, request)`.

    An error for which it returns None ends the run. A pause is no error, and never comes here.

    aon_error: the same for async runs; without it, they call on_error.
    tools: the tools whose errors are told, or their names; all, if not given.
    """

    calls_unknown_tools = False

    def __init__(
        self,
        on_error: OnError | None = None,
        *,
        aon_error: AOnError | None = None,
        tools: Sequence[BaseTool | str] | None = None,
    ) -> None:
        if on_error is None and aon_error is None:
            raise InvalidInput("ToolErrorMiddleware needs a function: on_error, aon_error, or both.")
        check_function("on_error", on_error)
        if aon_error is not None and not callable(aon_error):
            raise InvalidInput(f"aon_error is {aon_error!r}. Give an async function.")
        self.on_error = on_error
        self.aon_error = aon_error
        self._is_for = chooser(tools)

    def _check_sync(self) -> None:
        if self.on_error is None:
            raise NeedsAsync("ToolErrorMiddleware has only aon_error, and this is a sync run. Give it on_error, too.")

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Any:
        self._check_sync()
        assert self.on_error is not None, "a sync run needs it"
        try:
            return handler(request)
        except Exception as error:
            told = self.on_error(error, request) if self._is_for(request) else None
            if told is None:
                raise
        return error_message(request.tool_call, told)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncToolHandler) -> Any:
        try:
            return await handler(request)
        except Exception as error:
            told = await self._atold(error, request) if self._is_for(request) else None
            if told is None:
                raise
        return error_message(request.tool_call, told)

    async def _atold(self, error: Exception, request: ToolCallRequest) -> Content | None:
        if self.aon_error is not None:
            return await self.aon_error(error, request)
        assert self.on_error is not None, "one of them was given"
        return self.on_error(error, request)


def chooser(tools: Iterable[BaseTool | str] | None) -> Callable[[ToolCallRequest], bool]:
    """What tells whether a call is of one of these tools, given as such or by name; of any tool, if none are given."""
    if isinstance(tools, str):
        raise InvalidInput(f"tools is {tools!r}. Give a list: tools=[{tools!r}].")
    if tools is None:
        return lambda request: True
    names = frozenset(tool if isinstance(tool, str) else tool.name for tool in tools)
    return lambda request: request.tool_call["name"] in names
