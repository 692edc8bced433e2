"""Tools that are not run: a model makes up what they might have returned. For tests, and for agents in the making."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool

from signoff.agents.middleware.base import AgentMiddleware, AsyncToolHandler, ToolCallRequest, ToolHandler
from signoff.agents.middleware.calling import unheard
from signoff.agents.middleware.state import AgentState
from signoff.agents.middleware.tool_error import chooser
from signoff.config import RunnableConfig
from signoff.errors import InvalidInput
from signoff.prebuilt.models import as_model
from signoff.typing import ContextT

__all__ = ["LLMToolEmulator"]

PROMPT = (
    "Stand in for a tool that is not there yet. Answer with what it could return for this call, in its own form, and "
    "nothing else.\n\nTool: {name}\nWhat it does: {description}\nArguments: {args}"
)


class LLMToolEmulator(AgentMiddleware[AgentState[Any], ContextT]):
    """Lets a model make up the results of tools, which are not run.

    tools: those that are made up, or their names; all, if not given.
    """

    def __init__(self, *, tools: Sequence[BaseTool | str] | None = None, model: Any = None) -> None:
        if model is None:
            raise InvalidInput('LLMToolEmulator needs a model: a chat model, or its name, such as "openai:gpt-5".')
        self._is_for = chooser(tools)
        self.model = as_model(model)

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Any:
        if not self._is_for(request):
            return handler(request)
        return _result(request, self.model.invoke(_asked(request), _call()))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncToolHandler) -> Any:
        if not self._is_for(request):
            return await handler(request)
        return _result(request, await self.model.ainvoke(_asked(request), _call()))


def _asked(request: ToolCallRequest) -> list[HumanMessage]:
    call, tool = request.tool_call, request.tool
    description = tool.description if tool is not None else "nobody knows"
    args = json.dumps(call["args"], ensure_ascii=False, default=repr)
    return [HumanMessage(PROMPT.format(name=call["name"], description=description, args=args))]


def _result(request: ToolCallRequest, said: Any) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(said.content, name=call["name"], tool_call_id=call["id"])


def _call() -> RunnableConfig:
    return unheard("tool_emulation")
