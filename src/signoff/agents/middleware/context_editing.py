"""Long conversations: old results of tools are left out of what the model is given."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from signoff.agents.middleware.base import AgentMiddleware, AsyncModelHandler, ModelHandler, ModelRequest
from signoff.agents.middleware.checks import check_function
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.errors import InvalidInput
from signoff.typing import ContextT

__all__ = ["ClearToolUsesEdit", "ContextEdit", "ContextEditingMiddleware"]

Count = Callable[[Sequence[AnyMessage]], int]
"""How many tokens messages have."""


class ContextEdit(Protocol):
    """Changes what the model is given, in place: the list, or the messages in it."""

    def apply(self, messages: list[AnyMessage], *, count_tokens: Count) -> None: ...


@dataclass(slots=True)
class ClearToolUsesEdit:
    """Puts a placeholder in the place of old results of tools."""

    trigger: int = 100_000
    """How many tokens the conversation must have for that."""
    clear_at_least: int = 0
    """How many of them are enough to save; all that can be saved, if 0."""
    keep: int = 3
    """How many results stay, of the newest."""
    clear_tool_inputs: bool = False
    """Whether the arguments of these calls are left out, too."""
    exclude_tools: Sequence[str] = ()
    """The tools whose results stay."""
    placeholder: str = "[cleared]"

    def apply(self, messages: list[AnyMessage], *, count_tokens: Count) -> None:
        """Clear old results, if the conversation is long enough."""
        before = count_tokens(messages)
        if before <= self.trigger:
            return
        for place in self._old(messages):
            self._clear(messages, place)
            if self.clear_at_least and before - count_tokens(messages) >= self.clear_at_least:
                return

    def _old(self, messages: Sequence[AnyMessage]) -> list[int]:
        """The places of results that may be cleared, oldest first."""
        names = {call["id"]: call["name"] for one in messages if isinstance(one, AIMessage) for call in one.tool_calls}
        results = [(place, one) for place, one in enumerate(messages) if isinstance(one, ToolMessage)]
        old = results[: -self.keep] if self.keep else results
        return [
            place
            for place, one in old
            if (one.name or names.get(one.tool_call_id)) not in self.exclude_tools and one.content != self.placeholder
        ]

    def _clear(self, messages: list[AnyMessage], place: int) -> None:
        result: Any = messages[place]
        note = {"context_editing": {"cleared": True, "strategy": "clear_tool_uses"}}
        metadata = {**result.response_metadata, **note}
        changes = {"content": self.placeholder, "artifact": None, "response_metadata": metadata}
        messages[place] = result.model_copy(update=changes)
        if self.clear_tool_inputs:
            self._clear_input(messages, place, result.tool_call_id)

    def _clear_input(self, messages: list[AnyMessage], place: int, call_id: str) -> None:
        for earlier in range(place - 1, -1, -1):
            said = messages[earlier]
            if isinstance(said, AIMessage) and any(call["id"] == call_id for call in said.tool_calls):
                calls = [{**call, "args": {}} if call["id"] == call_id else call for call in said.tool_calls]
                changes = {"tool_calls": calls, "response_metadata": _with_cleared(said.response_metadata, call_id)}
                messages[earlier] = said.model_copy(update=changes)
                return


def _copied(message: AnyMessage) -> AnyMessage:
    """A message of which all that a model is given may be changed."""
    parts = {"content", "additional_kwargs", "response_metadata", "tool_calls"} & type(message).model_fields.keys()
    return message.model_copy(update={name: deepcopy(getattr(message, name)) for name in parts})


def _with_cleared(metadata: dict[str, Any], call_id: str) -> dict[str, Any]:
    """The metadata of a message, with the call whose arguments are not shown."""
    note = metadata.get("context_editing", {})
    return {
        **metadata,
        "context_editing": {**note, "cleared_tool_inputs": [*note.get("cleared_tool_inputs", ()), call_id]},
    }


class ContextEditingMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Shortens what the model is given. The conversation itself stays as it is.

    edits: what is done, in this order; a ClearToolUsesEdit, if not given.
    token_count_method: "approximate", or "model" to have the model count.
    token_counter: a function that counts instead.
    """

    def __init__(
        self,
        *,
        edits: Iterable[ContextEdit] | None = None,
        token_count_method: Literal["approximate", "model"] = "approximate",
        token_counter: Count | None = None,
    ) -> None:
        if token_count_method not in ("approximate", "model"):
            raise InvalidInput(f'token_count_method must be "approximate" or "model", not {token_count_method!r}.')
        check_function("token_counter", token_counter)
        if not isinstance(edits, Iterable | None):
            raise InvalidInput(f"edits is {edits!r}. Give a list, such as [ClearToolUsesEdit()].")
        self.edits = [ClearToolUsesEdit()] if edits is None else list(edits)
        if wrong := [edit for edit in self.edits if not hasattr(edit, "apply")]:
            raise InvalidInput(f"{wrong[0]!r} is no edit. Give one that has apply(), such as ClearToolUsesEdit().")
        self.token_count_method = token_count_method
        self.token_counter = token_counter

    def wrap_model_call(self, request: ModelRequest[Any], handler: ModelHandler) -> Any:
        return handler(self._edited(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncModelHandler) -> Any:
        return await handler(self._edited(request))

    def _edited(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        messages = list(request.messages)
        if any(type(edit) is not ClearToolUsesEdit for edit in self.edits):
            messages = [*map(_copied, messages)]  # others may change them, and what is in them
        count = self._count(request)
        for edit in self.edits:
            edit.apply(messages, count_tokens=count)
        return request.override(messages=messages)

    def _count(self, request: ModelRequest[Any]) -> Count:
        if self.token_counter is not None:
            return self.token_counter
        if self.token_count_method == "approximate":
            return count_tokens_approximately
        system = [request.system_message] if request.system_message else []

        def count(messages: Sequence[AnyMessage]) -> int:
            return int(request.model.get_num_tokens_from_messages([*system, *messages], request.tools))

        return count
