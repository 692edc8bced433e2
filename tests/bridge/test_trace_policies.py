"""What a TracePolicy makes of what a node is given, and returns, is for traces alone; and it asks nobody."""

import asyncio

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import OutsideOfRun
from signoff.graph import START, MessagesState, StateGraph
from signoff.types import RetryPolicy, TracePolicy, interrupt

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


def ask(*args, **facts):
    return interrupt("may I?")


@pytest.mark.parametrize("part", ["process_inputs", "process_outputs"])
def test_a_policy_that_asks_is_refused_by_name(call, part):
    app = graph(TracePolicy(**{part: ask}))
    with pytest.raises(OutsideOfRun, match=f"The {part} of node 'answer' asked 'may I\\?'.*Ask in the node itself"):
        call(app, callbacks=[RunCollectorCallbackHandler()])
    assert app.get_state(CONFIG).interrupts == ()
    assert texts(call(app)) == ["hi", "hi", "heard hi"]


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("event", ["on_chain_start", "on_chain_end", "on_chain_error"])
def test_a_callback_that_asks_is_refused_by_the_name_of_its_node(call, event, raises):
    def of_node(self, *args, parent_run_id=None, **facts):
        return None if parent_run_id is None else ask()

    def fail(state):
        raise ValueError("no")

    ear = type("Ear", (BaseCallbackHandler,), {event: of_node, "raise_error": raises})()
    builder = StateGraph(MessagesState).add_node("answer", fail if event == "on_chain_error" else answer)
    app = builder.add_edge(START, "answer").compile(InMemorySaver())
    with pytest.raises(OutsideOfRun, match="A callback of node 'answer' asked 'may I\\?'"):
        call(app, callbacks=[ear])
    assert app.get_state(CONFIG).interrupts == ()


def test_a_node_that_cannot_be_told_is_tried_again_as_after_any_failure(call):
    def of_node(self, *args, parent_run_id=None, **facts):
        return None if parent_run_id is None else ask()

    ear = type("Ear", (BaseCallbackHandler,), {"on_chain_start": of_node})()
    retry = RetryPolicy(max_attempts=2, initial_interval=0, jitter=False, retry_on=OutsideOfRun)
    app = graph(None, retry_policy=retry, error_handler=lambda state: {"messages": [AIMessage("handled")]})
    with pytest.raises(OutsideOfRun):
        call(app, callbacks=[ear])
    assert texts(call(app)) == ["hi", "hi", "heard hi"]
