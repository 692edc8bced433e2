"""What a TracePolicy makes of what a node is given, and returns, is for traces alone."""

import asyncio

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, MessagesState, StateGraph
from signoff.types import TracePolicy

CONFIG = {"configurable": {"thread_id": "1"}}


@pytest.fixture(params=["sync", "async"])
def call(request):
    def call(app, **config):
        input, config = {"messages": [("user", "hi")]}, {**CONFIG, **config}
        return app.invoke(input, config) if request.param == "sync" else asyncio.run(app.ainvoke(input, config))

    return call


def answer(state):
    return {"messages": [AIMessage(f"heard {state['messages'][-1].text}")]}


def graph(policy, **options):
    builder = StateGraph(MessagesState).add_node("answer", answer, trace_policy=policy, **options)
    return builder.add_edge(START, "answer").compile(InMemorySaver())


def texts(values):
    return [message.text for message in values["messages"]]


def redact(value):
    for message in value["messages"]:
        message.content = "***"
    return value


@pytest.mark.parametrize("part", ["process_inputs", "process_outputs"])
def test_what_is_redacted_in_place_is_redacted_in_traces_alone(call, part):
    app, traces = graph(TracePolicy(**{part: redact})), RunCollectorCallbackHandler()
    assert texts(call(app, callbacks=[traces])) == ["hi", "heard hi"]
    assert texts(app.get_state(CONFIG).values) == ["hi", "heard hi"]
    recorded = traces.traced_runs[0].child_runs[0]
    assert set(texts(recorded.inputs if part == "process_inputs" else recorded.outputs)) == {"***"}
