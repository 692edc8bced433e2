"""A chat model that follows a script, and short ways to write the script."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import Field

Reply = AIMessage | Callable[[list[BaseMessage]], AIMessage]


class ScriptedModel(BaseChatModel):
    """Says what the script has for this turn. The turn is the number of its messages in the history, so that a
    model made anew in another process goes on where the first one stopped."""

    script: list[Any] = Field(default_factory=list)
    """A reply for each turn: a message, or a function from the history to one."""
    structured: Any = None
    """What the model answers when it is asked for a structured response."""
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    """The histories that the model was called with."""
    bound: list[dict[str, Any]] = Field(default_factory=list)
    """What was bound to it: tools and options."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.seen.append(list(messages))
        turn = sum(isinstance(message, AIMessage) for message in messages)
        reply = self.script[turn] if turn < len(self.script) else AIMessage("done")
        said = reply(messages) if callable(reply) else reply.model_copy()
        return ChatResult(generations=[ChatGeneration(message=said)])

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Runnable[Any, Any]:
        self.bound.append({"tools": [_name(tool) for tool in tools], **options})
        return self.bind(tools=[_as_function(tool) for tool in tools], **options)

    def with_structured_output(self, schema: Any, **options: Any) -> Runnable[Any, Any]:
        def answer(messages: Any) -> Any:
            self.seen.append(list(messages))
            return self.structured

        return RunnableLambda(answer)


def _name(tool: Any) -> str:
    return tool["name"] if isinstance(tool, dict) else getattr(tool, "name", None) or tool.__name__


def _as_function(tool: Any) -> dict[str, Any]:
    return tool if isinstance(tool, dict) else {"type": "function", "function": {"name": _name(tool)}}


def call(name: str, id: str = "c1", /, **args: Any) -> ToolCall:
    """One call of a tool."""
    return ToolCall(name=name, args=args, id=id, type="tool_call")


def calls(*wanted: ToolCall, text: str = "", id: str | None = None) -> AIMessage:
    """A turn in which the model wants tools."""
    return AIMessage(text, tool_calls=list(wanted), id=id)


def scripted(*replies: Reply | str, **more: Any) -> ScriptedModel:
    """A model that says these, turn by turn, and "done" afterwards."""
    return ScriptedModel(script=[AIMessage(reply) if isinstance(reply, str) else reply for reply in replies], **more)
