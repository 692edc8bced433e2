"""What traces record of the hooks of middleware."""

from typing import Any

import pytest
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from signoff.agents import create_agent
from signoff.agents.middleware import AgentMiddleware, TracePolicy, configure_trace_policy, omit_payload
from signoff.errors import InvalidGraph

from .desk import USER, scripted

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
