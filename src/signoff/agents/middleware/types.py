"""The words of middleware, by the names that `langchain.agents.middleware.types` has for them."""

from typing import NoReturn

from signoff._elsewhere import tell_where
from signoff._words.policies import TracePolicy, omit_payload
from signoff.agents.middleware.base import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    InputAgentState,
    JumpTo,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    OmitFromOutput,
    OmitFromSchema,
    OutputAgentState,
    PrivateStateAttr,
    StateT,
    ToolCallRequest,
)
from signoff.agents.middleware.decorators import (
    after_agent,
    after_model,
    before_agent,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_model_call,
    wrap_tool_call,
)
from signoff.agents.middleware.elsewhere import ELSEWHERE, PAGE
from signoff.agents.middleware.state import ResponseT
from signoff.prebuilt.one_call import ToolCallWrapper
from signoff.typing import ContextT, StateT_co

__all__ = [
    "TracePolicy",
    "omit_payload",
    "AgentMiddleware",
    "AgentState",
    "ContextT",
    "ExtendedModelResponse",
    "InputAgentState",
    "JumpTo",
    "ModelCallResult",
    "ModelRequest",
    "ModelResponse",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PrivateStateAttr",
    "ResponseT",
    "StateT",
    "StateT_co",
    "ToolCallRequest",
    "ToolCallWrapper",
    "after_agent",
    "after_model",
    "before_agent",
    "before_model",
    "dynamic_prompt",
    "hook_config",
    "wrap_model_call",
    "wrap_tool_call",
]


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, ELSEWHERE, PAGE)
