"""Middleware for agents: hooks before, after and around the turns, and a person who decides on calls of tools."""

from typing import NoReturn

from signoff._elsewhere import tell_where
from signoff._words.policies import TracePolicy, omit_payload
from signoff.agents.middleware.base import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    InputAgentState,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    OutputAgentState,
    ToolCallRequest,
)
from signoff.agents.middleware.context_editing import ClearToolUsesEdit, ContextEditingMiddleware
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
from signoff.agents.middleware.human_in_the_loop import HumanInTheLoopMiddleware, InterruptOnConfig
from signoff.agents.middleware.model_call_limit import ModelCallLimitExceededError, ModelCallLimitMiddleware
from signoff.agents.middleware.model_fallback import ModelFallbackMiddleware
from signoff.agents.middleware.model_retry import ModelRetryMiddleware
from signoff.agents.middleware.pii import PIIDetectionError, PIIMatch, PIIMiddleware
from signoff.agents.middleware.sizes import TriggerClause
from signoff.agents.middleware.summarization import SummarizationMiddleware
from signoff.agents.middleware.todo import TodoListMiddleware
from signoff.agents.middleware.tool_call_limit import ToolCallLimitExceededError, ToolCallLimitMiddleware
from signoff.agents.middleware.tool_emulator import LLMToolEmulator
from signoff.agents.middleware.tool_error import ToolErrorMiddleware
from signoff.agents.middleware.tool_retry import ToolRetryMiddleware
from signoff.agents.middleware.tool_selection import LLMToolSelectorMiddleware
from signoff.agents.middleware.tracing import configure_trace_policy
from signoff.runtime import Runtime

__all__ = [
    "TracePolicy",
    "omit_payload",
    "configure_trace_policy",
    "AgentMiddleware",
    "AgentState",
    "ClearToolUsesEdit",
    "ContextEditingMiddleware",
    "ExtendedModelResponse",
    "HumanInTheLoopMiddleware",
    "InputAgentState",
    "InterruptOnConfig",
    "LLMToolEmulator",
    "LLMToolSelectorMiddleware",
    "ModelCallLimitExceededError",
    "ModelCallLimitMiddleware",
    "ModelCallResult",
    "ModelFallbackMiddleware",
    "ModelRequest",
    "ModelResponse",
    "ModelRetryMiddleware",
    "OutputAgentState",
    "PIIDetectionError",
    "PIIMatch",
    "PIIMiddleware",
    "Runtime",
    "SummarizationMiddleware",
    "TodoListMiddleware",
    "ToolCallLimitExceededError",
    "ToolCallLimitMiddleware",
    "ToolCallRequest",
    "ToolErrorMiddleware",
    "ToolRetryMiddleware",
    "TriggerClause",
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
