"""What a node may use besides its state: context, config, store, writer."""

import operator
from dataclasses import dataclass
from typing import Annotated, Any, Generic

from pydantic import BaseModel

from .harness import Programs, thread
from .states import Log, a, b

program = Programs()


@dataclass
class Context:
    user: str
    level: int = 1


class Model(BaseModel):
    user: str
    level: int = 1


@program
def a_node_for_any_context(lib):
    class Greeting(Generic[lib.ContextT]):
        def __call__(self, state: Log, runtime: lib.Runtime[lib.ContextT]):
            return {"log": [f"hello {runtime.context['name']}"]}

    app = lib.app(lib.graph(Log, edges="START>greet>END", greet=Greeting[dict[str, str]]()))
    yield app.invoke({"log": []}, context={"name": "ana"})


@program
def a_context_as_an_object_or_a_dict(lib):
    def look(state, runtime: lib.Runtime[Context]):
        return {"log": [f"{type(runtime.context).__name__} {runtime.context.user} {runtime.context.level}"]}

    for schema in (Context, Model):
        graph = lib.StateGraph(Log, context_schema=schema)
        graph.add_node("look", look)
        app = lib.app(lib.connect(graph, "START>look>END"))
        yield app.invoke({"log": []}, context=schema(user="ana"))
        yield app.invoke({"log": []}, context={"user": "bob", "level": 2})


@program
def settings_beside_the_configurable_ones(lib):
    def look(state, config):
        return {"log": [config["configurable"].get("user"), "user" in config]}

    app = lib.saved(lib.graph(Log, look, edges="START>look>END"))
    yield app.invoke({"log": []}, {"thread_id": "1", "user": "ana"})
    yield app.invoke({"log": []}, {"thread_id": "1", "user": "ben", "configurable": {"user": "cleo", "thread_id": "2"}})
    yield app.get_state(thread("1")).values
    yield app.get_state(thread("2")).values


@program
def a_context_that_is_a_plain_dict(lib):
    from typing_extensions import TypedDict

    class Settings(TypedDict):
        user: str

    def look(state, runtime: lib.Runtime[Settings]):
        return {"log": [str(runtime.context)]}

    graph = lib.StateGraph(Log, context_schema=Settings)
    graph.add_node("look", look)
    app = lib.app(lib.connect(graph, "START>look>END"))
    yield app.invoke({"log": []}, context={"user": "ana"})
    yield app.invoke({"log": []})


@program
def get_runtime_inside_a_node(lib):
    def look(state):
        runtime = lib.get_runtime(Context)
        return {"log": [runtime.context.user]}

    graph = lib.StateGraph(Log, context_schema=Context)
    graph.add_node("look", look)
    yield lib.app(lib.connect(graph, "START>look>END")).invoke({"log": []}, context=Context("ana"))


@program
def a_context_in_a_conditional_edge(lib):
    def route(state, runtime: lib.Runtime[Context]):
        return "b" if runtime.context.level > 1 else lib.END

    graph = lib.StateGraph(Log, context_schema=Context)
    graph.add_node("a", a).add_node("b", b)
    lib.connect(graph, "START>a, b>END").add_conditional_edges("a", route)
    app = lib.app(graph)
    yield app.invoke({"log": []}, context=Context("ana"))
    yield app.invoke({"log": []}, context=Context("ana", 2))


@program
def a_node_with_every_parameter(lib):
    from langchain_core.runnables import RunnableConfig

    seen = []

    def look(state, config: RunnableConfig, runtime: lib.Runtime):
        seen.append((config["configurable"]["user"], runtime.context, runtime.store is not None))
        return {"log": ["look"]}

    app = lib.app(lib.graph(Log, look, edges="START>look>END"), store=lib.InMemoryStore())
    yield app.invoke({"log": []}, {"configurable": {"user": "ana"}}, context={"k": 1})
    yield seen


@program
def a_node_with_a_config(lib):
    seen = []

    def look(state, config):
        seen.append({key: config.get(key) for key in ("tags", "recursion_limit")})
        seen.append(
            {key: config["metadata"].get(key) for key in ("asked", "langgraph_node", "langgraph_step", "thread_id")}
        )
        seen.append({key: config["configurable"].get(key) for key in ("user", "thread_id", "checkpoint_ns")})

    config = {**thread("1", user="ana"), "metadata": {"asked": True}, "recursion_limit": 9, "tags": ["mine"]}
    yield lib.saved(lib.graph(Log, look, edges="START>look>END")).invoke({"log": []}, config)
    yield seen


@program
def get_config_inside_a_node(lib):
    seen = []

    def look(state):
        seen.append(lib.get_config()["configurable"]["user"])

    yield lib.app(lib.graph(Log, look, edges="START>look>END")).invoke(
        {"log": ["in"]}, {"configurable": {"user": "ana"}}
    )
    yield seen


@program
def a_config_of_the_graph_and_of_the_call(lib):
    seen = []

    def look(state, config):
        seen.append({key: config["configurable"].get(key) for key in ("user", "level")})
        seen.append({key: config["metadata"].get(key) for key in ("one", "two")})

    compiled = lib.graph(Log, look, edges="START>look>END").compile()
    bound = compiled.with_config({"configurable": {"user": "ana", "level": 1}, "metadata": {"one": 1}})
    lib.watch(bound).invoke({"log": []}, {"configurable": {"level": 2}, "metadata": {"two": 2}})
    yield seen


@program
def metadata_of_a_node(lib):
    seen = []

    def look(state, config):
        seen.append(config["metadata"].get("mine"))

    graph = lib.StateGraph(Log)
    graph.add_node("look", look, metadata={"mine": 7})
    lib.app(lib.connect(graph, "START>look>END")).invoke({"log": []})
    yield seen


@program
def a_store_in_a_node(lib):
    def keep(state, runtime: lib.Runtime):
        runtime.store.put(("users", "ana"), "name", {"value": "Ana"})
        return {"log": ["kept"]}

    def recall(state):
        item = lib.get_store().get(("users", "ana"), "name")
        return {"log": [str(item.value)]}

    store = lib.InMemoryStore()
    app = lib.app(lib.graph(Log, keep, recall, edges="START>keep>recall>END"), store=store)
    yield app.invoke({"log": []})
    yield store.get(("users", "ana"), "name").value


@program
def a_node_with_a_store_parameter(lib):
    from importlib import import_module

    base = import_module(f"{lib.root}.store.base").BaseStore

    def keep(state, *, store: base):
        store.put(("ns",), "key", {"n": 1})
        return {"log": [str(store.get(("ns",), "key").value)]}

    yield lib.app(lib.graph(Log, keep, edges="START>keep>END"), store=lib.InMemoryStore()).invoke({"log": []})


@program
def a_node_with_a_writer_parameter(lib):
    from importlib import import_module

    writer_type = import_module(f"{lib.root}.types").StreamWriter

    def talk(state, writer: writer_type):
        writer({"word": 1})
        return {"log": ["talk"]}

    yield lib.app(lib.graph(Log, talk, edges="START>talk>END")).stream({"log": []}, mode=["custom", "updates"])


@program
def a_parameter_named_error_of_a_plain_node_is_its_own(lib):
    def look(state, error="mine", other="too"):
        return {"log": [str(error), other]}

    yield lib.app(lib.graph(Log, look, edges="START>look>END")).invoke({"log": []})


@program
def facts_about_the_execution(lib):
    seen = []

    def look(state, runtime: lib.Runtime):
        info = runtime.execution_info
        seen.append((info.thread_id, info.node_attempt, info.checkpoint_ns.partition(":")[0], bool(info.task_id)))

    app = lib.saved(lib.graph(Log, look, edges="START>look>END"))
    app.invoke({"log": []}, thread())
    task = app.history(thread())[1].tasks[0]
    yield seen
    yield task.name


@program
def a_run_id_reaches_the_node(lib):
    import uuid

    seen = []
    run_id = uuid.UUID("12345678-1234-4234-8234-123456789abc")

    def look(state, runtime: lib.Runtime):
        seen.append(str(runtime.execution_info.run_id) == str(run_id))

    lib.saved(lib.graph(Log, look, edges="START>look>END")).invoke({"log": []}, {**thread(), "run_id": run_id})
    yield seen


@program
def a_runtime_of_a_nested_graph(lib):
    seen: list[Any] = []

    def look(state, runtime: lib.Runtime[Context]):
        seen.append((runtime.context.user, runtime.execution_info.checkpoint_ns.count("|")))

    inner = lib.graph(Log, look, edges="START>look>END").compile()
    graph = lib.StateGraph(Log, context_schema=Context)
    graph.add_node("inner", inner)
    lib.app(lib.connect(graph, "START>inner>END")).invoke({"log": []}, context=Context("ana"))
    yield seen


@program
def a_context_that_does_not_fit(lib):
    def look(state, runtime: lib.Runtime[Context]):
        return {"log": [runtime.context.user]}

    graph = lib.StateGraph(Log, context_schema=Model)
    graph.add_node("look", look)
    yield lib.app(lib.connect(graph, "START>look>END")).invoke({"log": []}, context={"level": "high"}, fails=True)


def _schema(schema):
    """A schema without its title, which carries the name of the library."""
    return {key: value for key, value in schema.items() if key != "title"}


@program
def schemas_of_a_graph(lib):
    from typing_extensions import TypedDict

    class Question(TypedDict):
        question: str

    class State(Question):
        answer: str
        log: list[str]

    graph = lib.StateGraph(State, input_schema=Question, context_schema=Context)
    graph.add_node("a", lambda state: {"answer": "x"})
    compiled = lib.connect(graph, "START>a>END").compile()
    yield _schema(compiled.get_input_jsonschema())
    yield _schema(compiled.get_output_jsonschema())
    yield _schema(compiled.get_context_jsonschema())


@program
def schemas_of_a_pydantic_graph(lib):
    class State(BaseModel):
        x: int
        y: str = "y"

    compiled = lib.graph(State, edges="START>a>END", a=lambda state: {"x": 1}).compile()
    yield compiled.get_input_jsonschema()
    yield compiled.get_output_jsonschema()


@program
def names_of_graphs(lib):
    graph = lib.graph(Log, a, edges="START>a>END")
    yield graph.compile(name="mine").name


@program
def names_of_schemas(lib):
    @dataclass
    class Order:
        item: str = "tea"

    for state in (Order, Annotated[list[str], operator.add]):
        for name in (None, "agent", "Agent", "my agent"):
            compiled = lib.graph(state, edges="START>a>END", a=lambda state: None).compile(name=name)
            yield compiled.get_name("Input"), compiled.get_name("input"), compiled.get_name()
            yield compiled.get_input_jsonschema()["title"], compiled.get_output_jsonschema()["title"]


test_same = program.as_test()
