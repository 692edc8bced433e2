"""The states of agents, and how one is widened by what an agent adds to it."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict

from signoff.errors import InvalidGraph
from signoff.graph.message import add_messages
from signoff.managed import RemainingSteps
from signoff.pregel.typing import field_hints, is_pydantic

__all__ = [
    "AgentState",
    "AgentStatePydantic",
    "AgentStateWithStructuredResponse",
    "AgentStateWithStructuredResponsePydantic",
    "StateSchema",
    "StateSchemaType",
    "StructuredResponse",
    "StructuredResponseSchema",
]

StructuredResponse: TypeAlias = dict[str, Any] | BaseModel
"""What an agent with `response_format` answers."""

StructuredResponseSchema: TypeAlias = dict[str, Any] | type[BaseModel]
"""What such an answer has to look like."""


class AgentState(TypedDict):
    """The state of an agent."""

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: NotRequired[RemainingSteps]


class AgentStatePydantic(BaseModel):
    """The state of an agent, as a pydantic model."""

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: RemainingSteps = 25


class AgentStateWithStructuredResponse(AgentState):
    """The state of an agent that answers in a given form."""

    structured_response: StructuredResponse


class AgentStateWithStructuredResponsePydantic(AgentStatePydantic):
    """The same, as a pydantic model."""

    structured_response: StructuredResponse


StateSchema = TypeVar("StateSchema", bound=AgentState | AgentStatePydantic)
StateSchemaType: TypeAlias = type[StateSchema]


def checked_schema(schema: Any, *, is_structured: bool) -> Any:
    """The user's schema, if it has what an agent needs."""
    needed = ["messages", "remaining_steps", *(["structured_response"] if is_structured else [])]
    missing = [key for key in needed if key not in field_hints(schema)]
    if missing:
        raise InvalidGraph(
            f"state_schema {schema.__name__} lacks {', '.join(map(repr, missing))}. Derive it from AgentState or "
            "AgentStatePydantic" + (", and add structured_response." if "structured_response" in missing else ".")
        )
    return schema


def with_response(schema: Any, response_format: Any) -> Any:
    """A schema whose structured_response is of the given class, so that a saver knows the class."""
    wanted = response_format[1] if isinstance(response_format, tuple) else response_format
    return widened(schema, "structured_response", wanted) if isinstance(wanted, type) else schema


def widened(schema: Any, key: str, hint: Any) -> Any:
    """A schema with one key more, under the same name."""
    if is_pydantic(schema):
        fields: Any = {key: (hint | None, None)}
        return create_model(schema.__name__, __base__=schema, **fields)
    return TypedDict(schema.__name__, {**field_hints(schema), key: hint}, total=False)  # type: ignore[operator]
