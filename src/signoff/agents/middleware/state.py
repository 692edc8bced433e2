"""The state of an agent: its messages, and what middleware adds to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NotRequired, Required, get_args, get_origin

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict, TypeVar

from signoff.channels import EphemeralValue
from signoff.errors import InvalidGraph
from signoff.graph.message import add_messages
from signoff.pregel.typing import field_hints

__all__ = [
    "AgentState",
    "InputAgentState",
    "JumpTo",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PrivateStateAttr",
]

ResponseT = TypeVar("ResponseT", default=Any)

JumpTo = Literal["tools", "model", "end"]
"""Where a hook may jump to."""


@dataclass(frozen=True, slots=True)
class OmitFromSchema:
    """Marks a key of the state that callers do not give, or do not get: `Annotated[int, OmitFromSchema(...)]`."""

    input: bool = True
    output: bool = True


OmitFromInput = OmitFromSchema(input=True, output=False)
"""A key that callers do not give."""
OmitFromOutput = OmitFromSchema(input=False, output=True)
"""A key that callers do not get."""
PrivateStateAttr = OmitFromSchema(input=True, output=True)
"""A key that only the agent itself sees."""


class AgentState(TypedDict, Generic[ResponseT]):
    """The state of an agent."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    jump_to: NotRequired[Annotated[JumpTo | None, EphemeralValue, PrivateStateAttr]]
    structured_response: NotRequired[Annotated[ResponseT, OmitFromInput]]


class InputAgentState(TypedDict):
    """What an agent is called with."""

    messages: Required[Annotated[list[AnyMessage | dict[str, Any]], add_messages]]


class OutputAgentState(TypedDict, Generic[ResponseT]):
    """What an agent returns."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    structured_response: NotRequired[ResponseT]


@dataclass(frozen=True, slots=True)
class Schemas:
    """The types of an agent's state, input and output."""

    state: Any
    input: Any
    output: Any


def merged(schemas: Iterable[Any], response: Any = None) -> Schemas:
    """One state with the keys of several; keys are left out of the input and the output as they are marked.

    response: the class of the structured response, so that a saver knows it.
    """
    hints: dict[str, Any] = {}
    for schema in schemas:
        hints |= _ours(schema, field_hints(schema))
    if response is not None:
        hints["structured_response"] = NotRequired[Annotated[response | None, OmitFromInput]]
    return Schemas(
        _typed("AgentState", hints),
        _typed("InputAgentState", {key: hint for key, hint in hints.items() if not _mark(hint).input}),
        _typed("OutputAgentState", {key: hint for key, hint in hints.items() if not _mark(hint).output}),
    )


def _typed(name: str, hints: dict[str, Any]) -> Any:
    return TypedDict(name, hints)  # type: ignore[operator]


_VISIBLE = OmitFromSchema(input=False, output=False)


def _mark(hint: Any) -> OmitFromSchema:
    """What a key's annotation says about its visibility."""
    return next((note for note in _notes(hint) if isinstance(note, OmitFromSchema)), _VISIBLE)


def _notes(hint: Any) -> tuple[Any, ...]:
    while get_origin(hint) in (Required, NotRequired):
        hint = get_args(hint)[0]
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _ours(schema: Any, hints: dict[str, Any]) -> dict[str, Any]:
    """The keys of a state, if it is not LangChain's: that has a channel of LangGraph, which nobody wrote there."""
    if any(getattr(note, "__module__", "").startswith("langgraph.") for note in _notes(hints.get("jump_to"))):
        name = getattr(schema, "__name__", repr(schema))
        raise InvalidGraph(
            f"The state {name!r} is derived from AgentState of LangChain, or is that itself. Import AgentState from "
            "signoff.agents, and derive it from that one."
        )
    return hints
