"""create_agent: a model with tools, middleware around both, and a gate before the tools that people watch over."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Never

from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool

from signoff.agents.gate import Gate
from signoff.agents.hooks import HOOKS, Hook, hooks_of
from signoff.agents.middleware.base import AgentMiddleware, wraps_tools
from signoff.agents.middleware.human_in_the_loop import HumanInTheLoopMiddleware
from signoff.agents.middleware.state import AgentState, Schemas, merged
from signoff.agents.model_turn import ModelTurn
from signoff.agents.parts import check_parts
from signoff.agents.routes import Routes, jumping
from signoff.agents.structured_output import schema_of, strategy_of
from signoff.agents.tool_step import ToolStep
from signoff.agents.turn_node import TurnNode, wraps_model
from signoff.constants import END, START
from signoff.errors import InvalidGraph
from signoff.graph.routing import keep_to_itself
from signoff.graph.state import StateGraph
from signoff.prebuilt.agent_routes import leave_no_call_open
from signoff.prebuilt.models import as_model
from signoff.prebuilt.toolbox import joined
from signoff.pregel.keywords import refuse_old
from signoff.stream.subagents import SubagentTransformer
from signoff.stream.tool_calls import ToolCallTransformer

if TYPE_CHECKING:
    from signoff.agents.middleware.human_in_the_loop import InterruptOnConfig
    from signoff.cache.base import BaseCache
    from signoff.graph.compiled import CompiledStateGraph
    from signoff.store.base import BaseStore
    from signoff.types import Checkpointer

__all__ = ["create_agent"]

RECURSION_LIMIT = 9999
"""An agent ends when its model is done; what limits it is middleware, not a number of steps."""

_MEANT = {
    "prompt": "Write system_prompt= instead; one that depends on the state is a function with @dynamic_prompt, from "
    "signoff.agents.middleware",
    "pre_model_hook": "Write a middleware with before_model instead",
    "post_model_hook": "Write a middleware with after_model instead",
}
"""What to write for keywords that create_react_agent has."""

Tools = Sequence[BaseTool | Callable[..., Any] | dict[str, Any]]


def create_agent(
    model: Any,
    tools: Tools | None = None,
    *,
    system_prompt: str | SystemMessage | None = None,
    middleware: Sequence[AgentMiddleware[Any, Any]] = (),
    interrupt_on: "Mapping[str, bool | InterruptOnConfig] | None" = None,
    response_format: Any = None,
    state_schema: Any = None,
    context_schema: Any = None,
    checkpointer: "Checkpointer" = None,
    store: "BaseStore | None" = None,
    interrupt_before: list[str] | None = None,
    interrupt_after: list[str] | None = None,
    debug: bool = False,
    name: str | None = None,
    cache: "BaseCache[Any] | None" = None,
    transformers: Sequence[Any] | None = None,
    **old: Never,
) -> "CompiledStateGraph":
    """An agent: the model speaks, the tools that it wants are called, and it speaks again, until it wants none.

    model: a chat model, or its name ("openai:gpt-5").
    middleware: what stands before, after and around the turns; the first one is the outermost.
    interrupt_on: the tools that a person decides on before they run, short for HumanInTheLoopMiddleware.
    response_format: a class or JSON Schema for the answer, kept under `structured_response`.
    transformers: what makes projections of your own, for stream_events(version="v3").
    """
    refuse_old("create_agent()", old, meant=_MEANT)
    check_parts(model, tools, middleware, interrupt_on, system_prompt, state_schema)
    layers = _layers(middleware, interrupt_on)
    given = joined(tools or (), [tool for one in layers for tool in one.tools])
    step = _tool_step(given, layers)
    states = [AgentState, *(one.state_schema for one in layers), *([] if state_schema is None else [state_schema])]
    strategy = strategy_of(response_format)
    schemas = merged(states, schema_of(strategy))
    system = SystemMessage(system_prompt) if isinstance(system_prompt, str) else system_prompt
    turn = ModelTurn(as_model(model), system, given, layers, strategy, name, is_open=bool(step.wraps))
    hooks = {method: hooks_of(layers, method) for method in HOOKS}
    graph = _graph(schemas, context_schema, turn, step, hooks)
    agent = graph.compile(
        checkpointer,
        store=store,
        cache=cache,
        debug=debug,
        name=name,
        interrupt_before=interrupt_before,
        interrupt_after=interrupt_after,
        transformers=_transformers(layers, transformers),
    )
    before = {"model", *(hook.name for hook in hooks["before_model"])}
    behind = frozenset({"tools", *(hook.name for hook in hooks["after_model"])})
    leave_no_call_open(agent.program, before, behind)
    return agent.with_config({"recursion_limit": RECURSION_LIMIT, "metadata": {"lc_agent_name": name} if name else {}})


def _transformers(layers: Sequence[AgentMiddleware[Any, Any]], more: Sequence[Any] | None) -> list[Any]:
    """What makes projections of an agent's runs: each once, though several middleware may have it."""
    if isinstance(more, str) or not isinstance(more, Iterable | None):
        raise InvalidGraph(f"transformers is {more!r}. Give a list of them.")
    all_of_them = [ToolCallTransformer, SubagentTransformer]
    for one in [*(one for layer in layers for one in layer.transformers), *(more or ())]:
        if not any(one is other for other in all_of_them):
            all_of_them.append(one)
    return all_of_them


def _layers(middleware: Sequence[AgentMiddleware[Any, Any]], interrupt_on: Any) -> list[AgentMiddleware[Any, Any]]:
    layers = list(middleware)
    if interrupt_on:
        layers.append(HumanInTheLoopMiddleware(interrupt_on))
    watches = [one.name for one in layers if isinstance(one, HumanInTheLoopMiddleware)]
    if len(watches) > 1:
        # Whatever they are called: a call passes one gate, so nobody would be asked about the tools of the others.
        raise InvalidGraph(
            f"{len(watches)} middleware watch over tools: {', '.join(watches)}. Put all of it into one "
            "HumanInTheLoopMiddleware; interrupt_on= makes one, and a deep agent has one already."
        )
    names = [one.name for one in layers]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidGraph(
            f"Two middleware have the name {', '.join(map(repr, sorted(twice)))}. Give one of them another `name`."
        )
    return layers


def _tool_step(given: Sequence[Any], layers: Sequence[AgentMiddleware[Any, Any]]) -> ToolStep:
    wraps = [one for one in layers if wraps_tools(one)]
    watches = [one for one in layers if isinstance(one, HumanInTheLoopMiddleware)]
    step = ToolStep([tool for tool in given if not isinstance(tool, dict)], wraps)
    _check_watched(layers, step.tools_by_name, is_open=any(one.calls_unknown_tools for one in wraps))
    if watches:
        step.gate = Gate(watches[0], step.tools_by_name)
    return step


def _check_watched(layers: Sequence[AgentMiddleware[Any, Any]], tools: Mapping[str, Any], *, is_open: bool) -> None:
    """Refuse names that no tool has: nobody would be asked, and nothing counted. A wrapper may handle more tools."""
    for one in layers:
        if unknown := sorted(set(one.watched_tools) - tools.keys()):
            named = "interrupt_on" if isinstance(one, HumanInTheLoopMiddleware) else one.name
            told = (
                f"{named} names {', '.join(map(repr, unknown))}, and the agent has no such tool, so nothing would be "
                f"watched over. Its tools are: {', '.join(map(repr, tools)) or 'none'}."
            )
            if not is_open:
                raise InvalidGraph(told)
            logging.getLogger("signoff.agents").warning("%s Unless a wrap_tool_call handles it, mend the name.", told)


# The graph


def _graph(
    schemas: Schemas, context_schema: Any, turn: ModelTurn, step: ToolStep, hooks: Mapping[str, list[Hook]]
) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        schemas.state, context_schema, input_schema=schemas.input, output_schema=schemas.output
    )
    graph.add_node("model", TurnNode(turn))
    has_tools = turn.has_tools
    if has_tools:
        graph.add_node("tools", step)
    answers = turn.response_format is not None or any(map(wraps_model, turn.middleware))
    # Straight from the model back to it: where the calls were answered on the way, by middleware or as the response.
    loops = bool(hooks["after_model"]) or answers
    routes = _routes(hooks, step, has_tools=has_tools, loops=loops)
    for hook in (hook for method in HOOKS for hook in hooks[method]):
        # Where the result of a tool is the answer, others may still be on their way to the model.
        is_last = bool(routes.direct) and hook.name == routes.exit
        graph.add_node(hook.name, hook.action, defer=is_last, trace_policy=hook.trace)
    _connect(graph, hooks, routes, loops=loops)
    if has_tools and (routes.direct or answers or any(hooks.values())):
        graph.add_conditional_edges("tools", routes.after_tools, list(dict.fromkeys([routes.entry, routes.exit])))
    elif has_tools:
        graph.add_conditional_edges("tools", routes.to_model, [routes.entry])
    keep_to_itself(graph.branches)
    return graph


def _routes(hooks: Mapping[str, list[Hook]], step: ToolStep, *, has_tools: bool, loops: bool) -> Routes:
    entry = hooks["before_model"][0].name if hooks["before_model"] else "model"
    return Routes(
        entry=entry,
        back=entry if loops or not has_tools else "tools",
        exit=hooks["after_agent"][0].name if hooks["after_agent"] else END,
        has_tools=has_tools,
        direct=frozenset(tool.name for tool in step.tools_by_name.values() if tool.return_direct),
        together=step.gate.together if step.gate is not None else frozenset(),
    )


def _connect(
    graph: StateGraph[Any, Any, Any, Any], hooks: Mapping[str, list[Hook]], routes: Routes, *, loops: bool
) -> None:
    """The edges: to the model, from there to the tools or the end, and back."""
    model = Hook("model", None, ())
    start = [*hooks["before_agent"], *hooks["before_model"], model, *hooks["after_model"]]
    graph.add_edge(START, start[0].name)
    for hook, following in pairwise(start):
        _lead(graph, routes, hook, following.name)
    last = start[-1]
    ends = [*(["tools"] if routes.has_tools else []), *([routes.entry] if loops else []), routes.exit]
    leave = jumping(routes, routes.after_model) if last.targets else routes.after_model
    if len(ends) == 1 and not last.targets:
        graph.add_edge(last.name, routes.exit)
    else:
        graph.add_conditional_edges(last.name, leave, list(dict.fromkeys(ends)))
    after = hooks["after_agent"]
    for hook, end in zip(after, [*(one.name for one in after[1:]), END], strict=False):
        _lead(graph, replace(routes, exit=END), hook, end)


def _lead(graph: StateGraph[Any, Any, Any, Any], routes: Routes, hook: Hook, following: str) -> None:
    if not hook.targets:
        graph.add_edge(hook.name, following)
        return
    ends = list(dict.fromkeys([following, *routes.targets(hook.targets)]))
    graph.add_conditional_edges(hook.name, jumping(routes, lambda _: following), ends)
