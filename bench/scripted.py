"""A model that follows a script, and its tool; what they take in LangChain's code can be left out of an account."""

import time
from collections.abc import Callable
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool


class Account:
    """The CPU that the model and the tool took."""

    seconds = 0.0

    def charged(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return call(*args, **named)
        finally:
            self.seconds += time.process_time() - started


class Scripted(BaseChatModel):
    """A model that looks something up, and then is done."""

    account: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def invoke(self, *args: Any, **named: Any) -> Any:
        return self.account.charged(super().invoke, *args, **named)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        said = AIMessage("It is there.")
        if not isinstance(messages[-1], ToolMessage):
            said = AIMessage("", tool_calls=[{"name": "look", "args": {"name": "ana"}, "id": f"c{len(messages)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


class Look(BaseTool):
    name: str = "look"
    description: str = "Look somebody up."
    account: Any

    def invoke(self, *args: Any, **named: Any) -> Any:
        return self.account.charged(super().invoke, *args, **named)

    def _run(self, name: str) -> str:
        return f"found {name}"
