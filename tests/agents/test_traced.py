"""What traces record of the hooks of middleware."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from prebuilt.models import ScriptedModel
from signoff.agents import create_agent, create_deep_agent
from signoff.agents.middleware import (
    AgentMiddleware,
    LLMToolEmulator,
    LLMToolSelectorMiddleware,
    TracePolicy,
    after_model,
    before_model,
    configure_trace_policy,
    omit_payload,
)
from signoff.errors import InvalidGraph
from signoff.graph import END
from signoff.prebuilt import create_react_agent

from .desk import USER, call, calls, scripted

NOTHING = TracePolicy(process_inputs=omit_payload)


class Looking(AgentMiddleware):
    def before_model(self, state: Any, runtime: Any) -> None:
        assert state["messages"]


class Discreet(Looking):
    trace_policy = NOTHING


class Open(Looking):
    trace_policy = TracePolicy(process_outputs=omit_payload)


@pytest.fixture
def discreet_by_default():
    yield lambda: configure_trace_policy(NOTHING)
    configure_trace_policy(None)


def recorded(app: Any, name: str) -> Any:
    traces = RunCollectorCallbackHandler()
    app.invoke(USER, {"callbacks": [traces]})
    return next(run for run in traces.traced_runs[0].child_runs if run.name == f"{name}.before_model").inputs


def test_a_middleware_says_what_is_recorded_of_it():
    assert recorded(create_agent(scripted("ok"), middleware=[Looking()]), "Looking")["messages"]
    assert recorded(create_agent(scripted("ok"), middleware=[Discreet()]), "Discreet") == {}


def test_a_default_is_for_all_that_say_nothing_and_for_agents_that_are_there(discreet_by_default):
    looking, telling = (create_agent(scripted("ok"), middleware=[one]) for one in (Looking(), Open()))
    discreet_by_default()
    assert recorded(looking, "Looking") == {}
    assert recorded(telling, "Open")["messages"]


def test_what_is_no_policy_is_refused():
    class Wrong(Looking):
        trace_policy: Any = "nothing"

    with pytest.raises(InvalidGraph, match="trace_policy is 'nothing'"):
        create_agent(scripted("ok"), middleware=[Wrong()])
    with pytest.raises(InvalidGraph, match="trace_policy is 5"):
        configure_trace_policy(5)  # type: ignore[arg-type]


def sources(app: Any) -> list[Any]:
    """Where the calls of models come from, as callbacks hear of it."""
    heard: list[Any] = []

    class Ear(BaseCallbackHandler):
        def on_chat_model_start(self, *args: Any, metadata: Any = None, **facts: Any) -> None:
            heard.append((metadata or {}).get("lc_source"))

    app.invoke(USER, {"callbacks": [Ear()]})
    return heard


class Choosing(ScriptedModel):
    def with_structured_output(self, schema: Any, **options: Any) -> Any:
        return self | (lambda said: {"tools": ["look"]})


def test_callbacks_hear_for_what_middleware_calls_a_model():
    select, emulate = LLMToolSelectorMiddleware(model=Choosing()), LLMToolEmulator(model=scripted("made up"))
    assert sources(create_agent(scripted("ok"), [look], middleware=[select])) == ["tool_selection", None]
    app = create_agent(scripted(calls(call("look")), "ok"), [look], middleware=[emulate])
    assert sources(app) == [None, "tool_emulation", None]


# The ways through an agent


def jumpy() -> list[Any]:
    @before_model(can_jump_to=["end"])
    def before(state: Any, runtime: Any) -> None: ...

    @after_model(can_jump_to=["model"])
    def after(state: Any, runtime: Any) -> None: ...

    return [before, after]


def look() -> str:
    """Look."""
    return "seen"


def silent(state: Any) -> dict[str, Any]:
    return {}


WAYS: dict[str, Any] = {
    "plain": lambda model: create_agent(model, [look]),
    "jumps": lambda model: create_agent(model, [look], middleware=jumpy()),
    "deep": lambda model: create_deep_agent(model, [look]),
    "react": lambda model: create_react_agent(model, [look]),
    "hooked": lambda model: create_react_agent(model, [look], post_model_hook=silent),
}


@pytest.mark.parametrize("agent", WAYS)
def test_callbacks_hear_of_nodes_models_and_tools_and_not_of_the_ways_between(agent):
    def app() -> Any:
        return WAYS[agent](scripted(calls(call("look")), "ok"))

    async def began() -> set[str]:
        return {event["name"] async for event in app().astream_events(USER) if event["event"] == "on_chain_start"}

    traces = RunCollectorCallbackHandler()
    app().invoke(USER, {"callbacks": [traces]})
    inside = [run for node in traces.traced_runs[0].child_runs for run in node.child_runs]
    assert {run.run_type for run in inside} == {"llm", "tool"}
    assert asyncio.run(began()) <= {"LangGraph", *app().nodes}


def test_conditional_edges_that_are_added_to_an_agent_are_told():
    builder = create_react_agent(scripted("ok"), [look]).builder
    builder.add_conditional_edges("agent", lambda state: END, [END])
    traces = RunCollectorCallbackHandler()
    builder.compile().invoke(USER, {"callbacks": [traces]})
    assert [run.name for run in traces.traced_runs[0].child_runs[0].child_runs] == ["ScriptedModel", "<lambda>"]
