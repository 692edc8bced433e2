"""Ready-made parts for agents: the node that calls tools, the agent around a model, questions before a tool runs."""

from typing import NoReturn

from signoff._elsewhere import OF_PREBUILT, tell_where
from signoff._extras import needing

with needing("agents", "signoff.prebuilt"):
    from signoff.prebuilt.chat_agent_executor import create_react_agent
    from signoff.prebuilt.chat_history import repair_tool_calls, validate_chat_history
    from signoff.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime
    from signoff.prebuilt.interrupt import add_human_in_the_loop
    from signoff.prebuilt.tool_node import ToolNode, tools_condition
    from signoff.prebuilt.tool_validator import ValidationNode
    from signoff.stream.tool_calls import ToolCallTransformer

__all__ = [
    "InjectedState",
    "InjectedStore",
    "ToolCallTransformer",
    "ToolNode",
    "ToolRuntime",
    "ValidationNode",
    "add_human_in_the_loop",
    "create_react_agent",
    "repair_tool_calls",
    "tools_condition",
    "validate_chat_history",
]


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_PREBUILT)
