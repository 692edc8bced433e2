"""What traces record of a node with a TracePolicy: what it makes of inputs and outputs, and nothing else changes."""

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from .harness import Boom, Programs, drain
from .states import Log, a

program = Programs()


class Ear(BaseCallbackHandler):
    """A handler of the caller's own: it hears all there is."""

    def __init__(self):
        self.heard = []

    def on_chain_start(self, serialized, inputs, *, name=None, **facts):
        self.heard.append((name, inputs))

    def on_chain_end(self, outputs, **facts):
        self.heard.append(outputs)


def traced(app, input, **options):
    tracer, ear = RunCollectorCallbackHandler(), Ear()
    yield app.invoke(input, {"callbacks": [tracer, ear], "run_name": "run"}, **options)
    yield [_as_recorded(run) for run in tracer.traced_runs], ear.heard


def _as_recorded(run):
    return run.name, run.inputs, run.outputs, [_as_recorded(child) for child in run.child_runs]


def graph(lib, node=a, **policy):
    builder = lib.StateGraph(Log).add_node("a", node, trace_policy=lib.TracePolicy(**policy))
    return lib.app(builder.add_edge(lib.START, "a"))


def short(value):
    return {"lines": len(value["log"])}


@program
def inputs_and_outputs_are_made_short(lib):
    yield from traced(graph(lib, process_inputs=short, process_outputs=short), {"log": ["secret"]})
    yield from traced(graph(lib, process_inputs=lib.omit_payload), {"log": ["secret"]})
    yield from traced(graph(lib, process_outputs=lib.omit_payload), {"log": ["secret"]})
    yield from traced(graph(lib), {"log": ["open"]})


@program
def what_a_node_calls_is_recorded_as_ever(lib):
    inside = RunnableLambda(lambda state: {"log": ["inside"]})
    yield from traced(
        graph(lib, inside, process_inputs=lib.omit_payload, process_outputs=lib.omit_payload), {"log": []}
    )


@program
def what_a_node_that_fails_was_given_is_made_short_too(lib):
    def fail(state):
        raise Boom("no")

    yield from traced(graph(lib, fail, process_inputs=short), {"log": ["x"]}, fails=True)


@program.only_async
def whoever_follows_events_sees_all_of_it(lib):
    app = graph(lib, process_inputs=lib.omit_payload, process_outputs=lib.omit_payload)
    seen = []
    lib.runner.run(drain(app.graph.astream_events({"log": ["in"]}, version="v2"), seen))
    yield [(event["event"], event["data"]) for event in seen if event["name"] == "a"]


test_same = program.as_test()
