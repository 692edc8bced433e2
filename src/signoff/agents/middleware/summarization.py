"""Long histories are summarised: the old part of a conversation becomes one message."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Never, NoReturn
from uuid import uuid4

from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
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

from signoff._elsewhere import tell_where
from signoff.agents.elsewhere import PAGE, SUMMARIES
from signoff.agents.middleware.base import AgentMiddleware
from signoff.agents.middleware.calling import internal_call
from signoff.agents.middleware.checks import check_function
from signoff.agents.middleware.model_retry import ModelRetryMiddleware
from signoff.agents.middleware.retrying import aperforming, may_pass, performing
from signoff.agents.middleware.sizes import (
    ContextSize,
    Counter,
    Trigger,
    TriggerClause,
    counters_of,
    most_tokens,
    reported,
    size_of,
    sizes_of,
)
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.config import RunnableConfig
from signoff.errors import InvalidInput
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.prebuilt.heard import with_results_first
from signoff.prebuilt.models import as_model
from signoff.pregel.keywords import refuse_old
from signoff.steps import Steps, adrive, drive
from signoff.typing import ContextT

__all__ = ["ContextSize", "SummarizationMiddleware", "TriggerClause"]

PROMPT = (
    "Below is the older part of a conversation between a user and an agent. Write down what the agent must know to go "
    "on without it: what the user wants, what was decided and by whom, what was done, what was found, what is left. "
    "Leave out the rest.\n\n{messages}"
)


_SOURCE = {"lc_source": "summarization"}
"""What the messages of a summary say of themselves: nobody in the conversation has said them."""

_SAFE_SHARE = 0.4
"""How much of what a model takes a text may be, if its tokens are only estimated, and it is to write, too."""


_MEANT = {
    "max_tokens_before_summary": 'Write trigger=("tokens", ...) instead',
    "messages_to_keep": 'Write keep=("messages", ...) instead',
}
"""What to write for keywords that LangChain's had before."""


class SummarizationMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Before a call of the model, if the conversation is as big as `trigger`, all but the last part is summarised.

    The calls of a turn are never parted from their results. Earlier checkpoints keep the whole conversation. A model
    that fails to write a summary is tried three times in all; if the old part is too much for it, once more without the
    middle.

    Args:
        model: Who writes the summary, and whose window a fraction is one of.
        trigger: ("messages", 50), ("tokens", 100_000), ("fraction", 0.8); a dict of sizes that must all be reached; or
            a list of these, any of which counts. None for never.
        keep: How much of the end stays as it is.
        token_counter: What tells the tokens of some messages. If a provider has reported more, that counts.
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
        token_counter: Counter = count_tokens_approximately,
        summary_prompt: str = PROMPT,
        trim_tokens_to_summarize: int | None = None,
        summarizer: Any = None,
        **old: Never,
    ) -> None:
        refuse_old("SummarizationMiddleware()", old, meant=_MEANT)
        check_function("token_counter", token_counter)
        self.model = as_model(model)
        self.trigger = trigger
        self.triggers = sizes_of(trigger, self.model)
        self.keep = size_of(keep, self.model)
        self.token_counter, self.part_counter = counters_of(token_counter)
        self.summary_prompt = summary_prompt
        self.trim_tokens_to_summarize = trim_tokens_to_summarize
        self.summarizer = summarizer
        self.reads_messages = not (summarizer is None or isinstance(summarizer, str | BaseChatModel))
        """Whether the writer is given the messages themselves, and not the prompt."""
        self.writer = _runnable(summarizer) if self.reads_messages else as_model(summarizer or model)
        tries = 0 if self.reads_messages else 2
        self.retrying = ModelRetryMiddleware[Any, Any](max_retries=tries, retry_on=_is_retried, on_failure="error")

    def before_model(self, state: Any, runtime: Any) -> Any:
        old, kept = self.parted(state["messages"])
        return _update(drive(self._written(old), self._write), kept) if old else None

    async def abefore_model(self, state: Any, runtime: Any) -> Any:
        old, kept = self.parted(state["messages"])
        return _update(await adrive(self._written(old), self._awrite), kept) if old else None

    def parted(self, messages: list[AnyMessage]) -> tuple[list[AnyMessage], list[AnyMessage]]:
        """The messages to summarise and those to keep; nothing to summarise while the conversation is short."""
        if not any(all(self._size(kind, messages) >= size for kind, size in sizes) for sizes in self.triggers):
            return [], messages
        messages = list(with_results_first(messages))
        cut = _whole_turns(messages, self._cut(messages))
        return messages[:cut], messages[cut:]

    def _size(self, kind: str, messages: list[AnyMessage]) -> int:
        if kind == "messages":
            return len(messages)
        return max(self.token_counter(messages), reported(messages, self.model))

    def _cut(self, messages: list[AnyMessage]) -> int:
        kind, size = self.keep
        if kind == "messages":
            return max(len(messages) - int(size), 0)
        # The less there is, the fewer tokens it has: few places have to be tried.
        cut = bisect_left(range(len(messages)), True, key=lambda cut: self.part_counter(messages[cut:]) <= size)
        return min(cut, len(messages) - 1)

    def _write(self, given: Sequence[BaseMessage]) -> Any:
        return drive(self.retrying.tried(str), performing(lambda: self.writer.invoke(given, _call())))

    async def _awrite(self, given: Sequence[BaseMessage]) -> Any:
        return await adrive(self.retrying.tried(str), aperforming(lambda: self.writer.ainvoke(given, _call())))

    def _written(self, old: list[AnyMessage]) -> Steps[str]:
        """The summary; the writer is asked with what it is given of the old part."""
        read = self._read(old)
        if self.reads_messages:
            return _text((yield read))
        told = get_buffer_string(read, format="xml")
        try:
            said = yield self._asked(told)
        except ContextOverflowError:
            said = yield self._asked(self._without_middle(told))
        return _text(said)

    def _read(self, old: list[AnyMessage]) -> Sequence[BaseMessage]:
        if self.trim_tokens_to_summarize is None:
            return old
        newest = trim_messages(
            old, max_tokens=self.trim_tokens_to_summarize, token_counter=self.part_counter, strategy="last"
        )
        return newest or old[-1:]

    def _asked(self, told: str) -> Sequence[BaseMessage]:
        return [HumanMessage(self.summary_prompt.format(messages=told))]

    def _without_middle(self, told: str) -> str:
        """At most half of what was too much: its beginning, where the task is, and more of its end."""
        share, window = 0.5, most_tokens(self.writer)
        if window is not None:
            share = min(share, _SAFE_SHARE * window / max(self.part_counter([HumanMessage(told)]), 1))
        most = int(share * len(told))
        return f"{told[: most // 4]}\n\n(the middle is left out)\n\n{told[len(told) - most + most // 4 :]}"


def _is_retried(error: Exception) -> bool:
    return may_pass(error) and not isinstance(error, ContextOverflowError)


def _text(said: Any) -> str:
    text = said if isinstance(said, str) else getattr(said, "text", None)
    if not isinstance(text, str):
        raise InvalidInput(f"The summarizer returned {said!r}. Return the text of the summary.")
    return text.strip()


def _update(text: str, kept: list[AnyMessage]) -> dict[str, Any]:
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


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, SUMMARIES, PAGE)
