"""Long histories are summarised: the old part of a conversation becomes one message."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage, get_buffer_string
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import RunnableConfig

from signoff.agents.middleware.types import AgentMiddleware
from signoff.config import get_config
from signoff.errors import InvalidInput
from signoff.prebuilt.models import as_model
from signoff.types import Overwrite

__all__ = ["SummarizationMiddleware"]

Size = tuple[Literal["messages", "tokens"], int]
PROMPT = (
    "Below is the older part of a conversation between a user and an agent. Write down what the agent must know to go "
    "on without it: what the user wants, what was decided and by whom, what was done, what was found, what is left. "
    "Leave out the rest.\n\n{messages}"
)


class SummarizationMiddleware(AgentMiddleware[Any, Any]):
    """Before a call of the model, if the conversation is as big as `trigger`, all but the last part is summarised.

    trigger, keep: ("messages", 50) or ("tokens", 100_000); a trigger may also be a list of them, any of which counts.
    The calls of a turn are never parted from their results. Earlier checkpoints keep the whole conversation.
    """

    def __init__(
        self,
        model: Any,
        *,
        trigger: Size | Sequence[Size] | None = None,
        keep: Size = ("messages", 20),
        token_counter: Callable[[Any], int] = count_tokens_approximately,
        summary_prompt: str = PROMPT,
    ) -> None:
        self.model = as_model(model)
        several = trigger if isinstance(trigger, list) else [trigger]
        self.triggers: list[Size] = [] if trigger is None else several  # type: ignore[assignment]
        self.keep = keep
        self.count = token_counter
        self.summary_prompt = summary_prompt
        for one in [*self.triggers, keep]:
            if not (isinstance(one, tuple) and len(one) == 2 and one[0] in ("messages", "tokens") and one[1] >= 1):
                raise InvalidInput(f"{one!r} is no size. Give ('messages', 50) or ('tokens', 100_000).")

    def before_model(self, state: Any, runtime: Any) -> Any:
        old, kept = self.parted(state["messages"])
        return self._update(self.model.invoke(self._asked(old), _config()), kept) if old else None

    async def abefore_model(self, state: Any, runtime: Any) -> Any:
        old, kept = self.parted(state["messages"])
        return self._update(await self.model.ainvoke(self._asked(old), _config()), kept) if old else None

    def parted(self, messages: list[AnyMessage]) -> tuple[list[AnyMessage], list[AnyMessage]]:
        """The messages to summarise and those to keep; nothing to summarise while the conversation is short."""
        if not any(self._size(kind, messages) >= size for kind, size in self.triggers):
            return [], messages
        cut = _whole_turns(messages, self._cut(messages))
        return messages[:cut], messages[cut:]

    def _size(self, kind: str, messages: list[AnyMessage]) -> int:
        return len(messages) if kind == "messages" else self.count(messages)

    def _cut(self, messages: list[AnyMessage]) -> int:
        kind, size = self.keep
        if kind == "messages":
            return max(len(messages) - size, 0)
        fitting = (cut for cut in range(len(messages)) if self.count(messages[cut:]) <= size)
        return next(fitting, len(messages) - 1)

    def _asked(self, old: list[AnyMessage]) -> list[AnyMessage]:
        return [HumanMessage(self.summary_prompt.format(messages=get_buffer_string(old)))]

    def _update(self, said: AIMessage, kept: list[AnyMessage]) -> dict[str, Any]:
        summary = HumanMessage(f"What happened before, in short:\n\n{said.text}")
        return {"messages": Overwrite([summary, *kept])}


def _whole_turns(messages: list[AnyMessage], cut: int) -> int:
    """The place at or before a cut where no call is parted from its result."""
    while 0 < cut < len(messages) and isinstance(messages[cut], ToolMessage):
        cut -= 1
    return cut


def _config() -> RunnableConfig:
    return get_config()
