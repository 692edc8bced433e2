"""create_react_agent: a model that calls tools until it has its answer."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Never

from langchain_core.messages import SystemMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from signoff.constants import START
from signoff.errors import InvalidInput
from signoff.graph.routing import keep_to_itself
from signoff.graph.state import StateGraph
from signoff.prebuilt.agent_routes import Routes, leave_no_call_open
from signoff.prebuilt.agent_state import (
    AgentState,
    AgentStatePydantic,
    AgentStateWithStructuredResponse,
    AgentStateWithStructuredResponsePydantic,
    StateSchema,
    StateSchemaType,
    StructuredResponse,
    StructuredResponseSchema,
    checked_schema,
    widened,
    with_response,
)
from signoff.prebuilt.agent_turns import ModelTurn, StructuredTurn
from signoff.prebuilt.models import model_of
from signoff.prebuilt.tool_node import ToolNode
from signoff.prebuilt.toolbox import check_list, made_tools
from signoff.pregel.keywords import refuse_old

if TYPE_CHECKING:
    from signoff.graph.compiled import CompiledStateGraph
    from signoff.store.base import BaseStore
    from signoff.types import Checkpointer

__all__ = [
    "AgentState",
    "AgentStatePydantic",
    "AgentStateWithStructuredResponse",
    "AgentStateWithStructuredResponsePydantic",
    "StateSchema",
    "StateSchemaType",
    "StructuredResponse",
    "StructuredResponseSchema",
    "create_react_agent",
    "create_tool_calling_executor",
]

Tools = Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | ToolNode
Prompt = SystemMessage | str | Callable[..., Any] | Runnable[Any, Any]

_BEHIND_MODEL = frozenset({"tools", "post_model_hook"})
"""Where calls of the model are on their way."""

_MEANT = {
    **dict.fromkeys(("state_modifier", "messages_modifier", "system_prompt"), "Write prompt= instead"),
    "middleware": "Take create_agent, from signoff.agents",
}
"""What to write for keywords of the time before, and of create_agent."""


def create_react_agent(
    model: str | Runnable[Any, Any] | Callable[..., Any],
    tools: Tools,
    *,
    prompt: Prompt | None = None,
    response_format: StructuredResponseSchema | tuple[str, StructuredResponseSchema] | None = None,
    pre_model_hook: Any = None,
    post_model_hook: Any = None,
    state_schema: Any = None,
    context_schema: Any = None,
    checkpointer: "Checkpointer" = None,
    store: "BaseStore | None" = None,
    interrupt_before: list[str] | None = None,
    interrupt_after: list[str] | None = None,
    debug: bool = False,
    version: Literal["v1", "v2"] = "v2",
    name: str | None = None,
    **old: Never,
) -> "CompiledStateGraph":
    """An agent: the model speaks, the tools that it wants are called, and it speaks again, until it wants none.

    model: a chat model, its name, or a function from the state and the runtime to one that has its tools bound.
    prompt: a text or message before the conversation, or a function or runnable from the state to the model's input.
    response_format: ask the model in the end for an answer of this form, kept under `structured_response`.
    pre_model_hook, post_model_hook: nodes before and after the model; what the first one returns as
        `llm_input_messages` the model sees in place of the messages.
    version: "v2" runs each tool call as a node of its own, "v1" all of a turn in one; in both each call is a task.
    """
    refuse_old("create_react_agent()", old, meant=_MEANT)
    node, bound = _tools(tools)
    routes = _routes(node, version, pre_model_hook, post_model_hook, response_format)
    chooser = model_of(model, bound)
    schema = _schema(state_schema, response_format)
    all_direct = len(routes.direct) == len(node.tools_by_name) > 0
    turn = ModelTurn(chooser, prompt, name, has_pre=routes.has_pre, all_direct=all_direct)
    graph = StateGraph(schema, context_schema)
    sees = widened(schema, "llm_input_messages", list[Any]) if routes.has_pre else None
    graph.add_node("agent", turn.as_node(), input_schema=sees)
    if node.tools_by_name:
        graph.add_node("tools", node)
    if routes.has_pre:
        graph.add_node("pre_model_hook", pre_model_hook)
    if routes.has_post:
        graph.add_node("post_model_hook", post_model_hook)
    if routes.has_response:
        graph.add_node("generate_structured_response", StructuredTurn(chooser, response_format).as_node())
    _connect(graph, routes, has_tools=bool(node.tools_by_name))
    keep_to_itself(graph.branches)
    agent = graph.compile(
        checkpointer,
        store=store,
        interrupt_before=interrupt_before,
        interrupt_after=interrupt_after,
        debug=debug,
        name=name,
    )
    leave_no_call_open(agent.program, {"agent", routes.entry}, _BEHIND_MODEL)
    return agent


create_tool_calling_executor = create_react_agent


def _tools(given: Tools) -> tuple[ToolNode, list[Any]]:
    """The node that calls the tools, and all that the model is told of: dicts are tools of its provider."""
    if isinstance(given, ToolNode):
        return given, list(given.tools_by_name.values())
    check_list(given)
    tools = made_tools(given)
    return ToolNode([tool for tool in tools if not isinstance(tool, dict)]), tools


def _routes(node: ToolNode, version: str, pre: Any, post: Any, response_format: Any) -> Routes:
    if version not in ("v1", "v2"):
        raise InvalidInput(f'version must be "v1" or "v2", not {version!r}.')
    return Routes(
        has_pre=pre is not None,
        has_post=post is not None,
        has_response=response_format is not None,
        sends=version == "v2",
        direct=frozenset(tool.name for tool in node.tools_by_name.values() if tool.return_direct),
    )


def _schema(given: Any, response_format: Any) -> Any:
    is_structured = response_format is not None
    if given is not None:
        return checked_schema(given, is_structured=is_structured)
    return with_response(AgentStateWithStructuredResponse, response_format) if is_structured else AgentState


def _connect(graph: StateGraph[Any, Any, Any, Any], routes: Routes, *, has_tools: bool) -> None:
    """The edges: to the model, from there to the tools or the end, and back."""
    graph.add_edge(START, routes.entry)
    if routes.has_pre:
        graph.add_edge("pre_model_hook", "agent")
    if routes.has_post:
        graph.add_edge("agent", "post_model_hook")
    last = "post_model_hook" if routes.has_post else "agent"
    if not has_tools:
        graph.add_edge(last, routes.end)
    elif routes.has_post:
        graph.add_conditional_edges(last, routes.after_hook, [*dict.fromkeys((routes.entry, "tools", routes.end))])
    else:
        graph.add_conditional_edges(last, routes.after_model, ["tools", routes.end])
    if has_tools and routes.direct:
        graph.add_conditional_edges("tools", routes.after_tools, [routes.entry, routes.end])
    elif has_tools:
        graph.add_edge("tools", routes.entry)
    if routes.has_response:
        graph.set_finish_point("generate_structured_response")
