"""Long histories are summarised: the old part of a conversation becomes one message."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    get_buffer_string,
    trim_messages,
)
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import coerce_to_runnable

from signoff.agents.middleware.base import AgentMiddleware
from signoff.agents.middleware.calling import internal_call
from signoff.agents.middleware.sizes import ContextSize, Trigger, TriggerClause, size_of, sizes_of
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.config import RunnableConfig
from signoff.errors import InvalidInput
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.prebuilt.heard import with_results_first
from signoff.prebuilt.models import as_model
from signoff.typing import ContextT

__all__ = ["ContextSize", "SummarizationMiddleware", "TriggerClause"]

PROMPT = (
    "Below is the older part of a conversation between a user and an agent. Write down what the agent must know to go "
    "on without it: what the user wants, what was decided and by whom, what was done, what was found, what is left. "
    "Leave out the rest.\n\n{messages}"
)


_SOURCE = {"lc_source": "summarization"}
"""What the messages of a summary say of themselves: nobody in the conversation has said them."""


class SummarizationMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Before a call of the model, if the conversation is as big as `trigger`, all but the last part is summarised.

    The calls of a turn are never parted from their results. Earlier checkpoints keep the whole conversation.

    Args:
        model: Who writes the summary, and whose window a fraction is one of.
        trigger: ("messages", 50), ("tokens", 100_000), ("fraction", 0.8); a dict of sizes that must all be reached; or
            a list of these, any of which counts. None for never.
        keep: How much of the end stays as it is.
        token_counter: What tells the tokens of some messages.
        summary_prompt: What the model is asked, with `{messages}` in it.
        trim_tokens_to_summarize: How many tokens are read at most for a summary, the newest ones; None for all.
        summarizer: Who writes the summary instead: a model, or a function or runnable from messages to a text.
    """

    def __init__(
        self,
        model: Any,
        *,
        trigger: Trigger = None,
        keep: ContextSize = ("messages", 20),
        token_counter: Callable[[Any], int] = count_tokens_approximately,
        summary_prompt: str = PROMPT,
        trim_tokens_to_summarize: int | None = None,
        summarizer: Any = None,
    ) -> None:
        self.model = as_model(model)
        self.trigger = trigger
        self.triggers = sizes_of(trigger, self.model)
        self.keep = size_of(keep, self.model)
        self.token_counter = token_counter
        self.summary_prompt = summary_prompt
        self.trim_tokens_to_summarize = trim_tokens_to_summarize
        self.summarizer = summarizer
        self.reads_messages = not (summarizer is None or isinstance(summarizer, str | BaseChatModel))
        """Whether the writer is given the messages themselves, and not the prompt."""
        self.writer = _runnable(summarizer) if self.reads_messages else as_model(summarizer or model)

    def before_model(self, state: Any, runtime: Any) -> Any:
        old, kept = self.parted(state["messages"])
        return self._update(self.writer.invoke(self._asked(old), _call()), kept) if old else None

    async def abefore_model(self, state: Any, runtime: Any) -> Any:
        old, kept = self.parted(state["messages"])
        return self._update(await self.writer.ainvoke(self._asked(old), _call()), kept) if old else None

    def parted(self, messages: list[AnyMessage]) -> tuple[list[AnyMessage], list[AnyMessage]]:
        """The messages to summarise and those to keep; nothing to summarise while the conversation is short."""
        if not any(all(self._size(kind, messages) >= size for kind, size in sizes) for sizes in self.triggers):
            return [], messages
        messages = list(with_results_first(messages))
        cut = _whole_turns(messages, self._cut(messages))
        return messages[:cut], messages[cut:]

    def _size(self, kind: str, messages: list[AnyMessage]) -> int:
        return len(messages) if kind == "messages" else self.token_counter(messages)

    def _cut(self, messages: list[AnyMessage]) -> int:
        kind, size = self.keep
        if kind == "messages":
            return max(len(messages) - int(size), 0)
        fitting = (cut for cut in range(len(messages)) if self.token_counter(messages[cut:]) <= size)
        return next(fitting, len(messages) - 1)

    def _asked(self, old: list[AnyMessage]) -> Sequence[BaseMessage]:
        """What the writer is given of the old part."""
        read: Sequence[BaseMessage] = old
        if self.trim_tokens_to_summarize is not None:
            newest = trim_messages(
                old, max_tokens=self.trim_tokens_to_summarize, token_counter=self.token_counter, strategy="last"
            )
            read = newest or old[-1:]
        if self.reads_messages:
            return read
        return [HumanMessage(self.summary_prompt.format(messages=get_buffer_string(read)))]

    def _update(self, said: AIMessage | str, kept: list[AnyMessage]) -> dict[str, Any]:
        text = said if isinstance(said, str) else said.text
        told = f"What happened before, in short:\n\n{text}"
        summary = HumanMessage(told, id=str(uuid4()), additional_kwargs=dict(_SOURCE))
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES, additional_kwargs=dict(_SOURCE)), summary, *kept]}


def _runnable(summarizer: Any) -> Any:
    if not callable(summarizer) and not isinstance(summarizer, Runnable):
        raise InvalidInput(f"The summarizer is {summarizer!r}. Give a model, or a function from messages to a text.")
    return coerce_to_runnable(summarizer)


def _whole_turns(messages: list[AnyMessage], cut: int) -> int:
    """The place at or before a cut where no call is parted from its results, which stand right behind it."""
    while 0 < cut < len(messages) and isinstance(messages[cut], ToolMessage):
        cut -= 1
    return cut


def _call() -> RunnableConfig:
    return internal_call("summarization")
