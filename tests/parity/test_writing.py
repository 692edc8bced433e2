"""What may be a node, what a graph is called, and what it says about its input and output."""

import operator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, NotRequired, Required

from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import BaseModel
from typing_extensions import TypedDict

from .harness import Programs
from .states import Plain

program = Programs()


class Double:
    """A function that is also something with ways to be invoked, as mocks and some clients are."""

    def __call__(self, value):
        return {"x": value["x"] * 2} if isinstance(value, dict) else value * 2

    def invoke(self, *args, **kwargs):
        raise AssertionError("it is to be called")

    ainvoke = invoke


def low_level(lib, action):
    node = lib.NodeBuilder().subscribe_only("input").do(action).write_to("output")
    return lib.Pregel(
        nodes={"one": node},
        channels={"input": lib.EphemeralValue(int), "output": lib.LastValue(int)},
        input_channels="input",
        output_channels="output",
    )


@program
def a_callable_that_has_invoke_is_called(lib):
    yield lib.app(lib.graph(Plain, edges="START>double>END", double=Double())).invoke({"x": 4})
    yield lib.watch(low_level(lib, Double())).invoke(4)


@program
def a_dict_of_runnables_runs_them_side_by_side(lib):
    both = {"x": lambda state: state["x"] + 1, "y": RunnableLambda(lambda state: state["x"] * 10)}
    yield lib.app(lib.graph(Plain, edges="START>both>END", both=both)).invoke({"x": 1})


@program
def a_chain_of_runnables_is_a_node(lib):
    chain = RunnablePassthrough() | (lambda state: {"x": state["x"] + 1})
    yield lib.app(lib.graph(Plain, edges="START>chain>END", chain=chain)).invoke({"x": 1})


@program.only_sync
def names_of_graphs(lib):
    graph = lib.graph(Plain, edges="START>double>END", double=Double())
    unnamed, named = graph.compile(), graph.compile(name="orders")
    yield unnamed.name, unnamed.get_name(), named.name, named.get_name()
    unnamed.name = "later"
    yield unnamed.name, unnamed.copy({"name": "other"}).name, unnamed.name
    yield low_level(lib, Double()).name, lib.flow(lambda given: given).graph.name


@program.only_sync
def json_schemas_of_entrypoints_come_from_their_annotations(lib):
    class Order(BaseModel):
        number: int

    def plain(given):
        return given

    def typed(given: list[int]) -> str:
        return ""

    def final(given: Order) -> lib.entrypoint.final[int, str]:
        return lib.entrypoint.final(value=1, save="")

    for function in (plain, typed, final):
        app = lib.flow(function).graph
        yield app.get_input_jsonschema(), app.get_output_jsonschema()


@program.only_sync
def json_schemas_of_low_level_graphs(lib):
    app = low_level(lib, Double())
    yield app.get_input_jsonschema(), app.get_output_jsonschema()


@program.only_sync
def json_schemas_of_bare_states(lib):
    app = lib.graph(Annotated[list[str], operator.add], edges="START>n>END", n=lambda state: []).compile()
    yield app.get_input_jsonschema(), app.get_output_jsonschema()


class Loose(TypedDict):
    may: str | None
    must: Annotated[Required[str], "a note"]
    can: Annotated[NotRequired[str], "a note"]
    also: NotRequired[int]


class LooseByDefault(TypedDict, total=False):
    can: str
    must: Required[Annotated[list[str], operator.add]]


@dataclass
class Defaults:
    must: str
    may: int | None
    noted: Annotated[float | None, "a note"]
    none: str | None = None
    made: list[int] = field(default_factory=lambda: [1])


class Bare:
    must: int
    may: int | None


@program.only_sync
def json_schemas_say_what_is_required(lib):
    for schema in (Loose, LooseByDefault, Defaults, Bare):
        app = lib.graph(schema, edges="START>n>END", n=lambda state: {}).compile()
        yield app.get_input_jsonschema(), app.get_output_jsonschema()


@program.only_sync
def what_a_graph_is_made_of(lib):
    class Counting(TypedDict):
        total: Annotated[int, operator.add]
        left: NotRequired[lib.RemainingSteps]
        is_last: Required[lib.IsLastStep]

    graph = lib.graph(Counting, edges="START>n>END", n=lambda state: {})
    app = graph.compile()
    yield sorted(graph.managed), sorted(graph.channels), sorted(app.nodes)
    yield sorted(graph.schemas[Counting]), graph.state_schema is Counting, graph.context_schema
    yield type(app.channels["total"]).__name__
    yield app.input_channels, app.output_channels
    stopping = graph.compile(interrupt_before=["n"])
    yield stopping.interrupt_before_nodes, stopping.interrupt_after_nodes == []
    yield stopping.copy({"interrupt_before_nodes": []}).interrupt_before_nodes


@program.only_sync
def nested_graphs_are_found_in_functions_that_call_them(lib):
    inner = lib.graph(Plain, edges="START>n>END", n=lambda state: {}).compile()
    holder = SimpleNamespace(graphs=SimpleNamespace(inner=inner), text="no graph")

    def by_closure(state):
        return inner.invoke(state)

    def by_attributes(state):
        return holder.graphs.inner.invoke(state)

    def by_another_attribute(state):
        return {"y": holder.text}

    def by_a_function_inside(state):
        def call():
            return holder.graphs.inner.invoke(state)

        return call()

    def bare(state):
        return {}

    def wrapping(state):
        return {}

    wrapping.__wrapped__ = by_closure
    chained = RunnableLambda(by_closure) | RunnablePassthrough()
    functions = (by_closure, by_attributes, by_another_attribute, by_a_function_inside, bare, wrapping)
    for name, action in {**{function.__name__: function for function in functions}, "chained": chained}.items():
        app = lib.graph(Plain, edges=f"START>{name}>END", **{name: action}).compile()
        yield name, [found for found, graph in app.get_subgraphs() if graph is inner]


@program
def events_of_an_unnamed_graph_have_its_default_name(lib):
    from langchain_core.callbacks import BaseCallbackHandler

    class Listener(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, **told):
            if told.get("parent_run_id") is None:
                seen.append(told.get("name"))

    seen: list[Any] = []
    config = {"callbacks": [Listener()]}
    lib.app(lib.graph(Plain, edges="START>double>END", double=Double())).invoke({"x": 1}, config)
    lib.flow(lambda given: given).invoke(1, config)
    yield seen


@program.only_sync
def a_node_is_called_alone(lib):
    from langchain_core.runnables import RunnableConfig

    def told(state: Plain, config: RunnableConfig):
        return {"x": state["x"] + 1, "y": config["tags"][0]}

    graph = lib.graph(Plain, told, edges="START>told>END").compile()
    yield graph.nodes["told"].invoke({"x": 1, "y": 2}, {"tags": ["t"]})
    yield sorted(graph.nodes)


test_same = program.as_test()
