"""The names that programs written for LangGraph import."""

from importlib import import_module

import pytest

from loading import modules_after

NAMES = {
    "": "ToolNode create_react_agent InjectedState InjectedStore ToolRuntime tools_condition ValidationNode",
    ".chat_agent_executor": (
        "create_react_agent create_tool_calling_executor AgentState AgentStatePydantic StructuredResponse "
        "StateSchemaType AgentStateWithStructuredResponse AgentStateWithStructuredResponsePydantic"
    ),
    ".tool_node": (
        "ToolNode ToolCallRequest ToolRuntime InjectedState InjectedStore ToolInvocationError tools_condition "
        "TOOL_CALL_ERROR_TEMPLATE TOOL_INVOCATION_ERROR_TEMPLATE TOOL_EXECUTION_ERROR_TEMPLATE "
        "INVALID_TOOL_NAME_ERROR_TEMPLATE ToolCallWithContext"
    ),
    ".tool_validator": "ValidationNode",
    ".interrupt": "HumanInterrupt HumanInterruptConfig ActionRequest HumanResponse",
}


@pytest.mark.parametrize("tail", NAMES)
def test_the_names_of_langgraph_are_here(tail):
    ours = import_module(f"signoff.prebuilt{tail}")
    assert [name for name in NAMES[tail].split() if name not in ours.__all__ or not hasattr(ours, name)] == []


def test_graphs_do_not_load_what_only_agents_need():
    loaded = modules_after("import signoff.graph")
    assert [name for name in loaded if "langchain" in name or "prebuilt" in name] == []
