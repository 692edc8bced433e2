"""Streams: every mode, several at once, nested graphs, chosen keys, and the second version of their shape."""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel
from typing_extensions import TypedDict

from .harness import Boom, Programs, by_step, thread, unordered
from .states import Counted, Log, a, b, c

program = Programs()


MODES = ["values", "updates", "custom", "tasks", "checkpoints"]


def _chain(lib):
    return lib.graph(Log, a, b, edges="START>a>b>END")


def _without_ids(chunks: list[Any]) -> list[Any]:
    return [{**chunk, "id": "", "triggers": "", "input": chunk.get("input")} for chunk in chunks]


@program
def p51_values_once_per_step_beginning_with_the_input(lib):
    app = lib.app(_chain(lib))
    yield app.stream({"log": ["in"]}, mode="values")
    yield app.stream({"log": ["in"]})


@program
def p51_a_step_that_writes_nothing_shows_no_values(lib):
    def silent(state):
        return None

    app = lib.app(lib.graph(Log, a, silent, b, edges="START>a>silent>b>END"))
    yield app.stream({"log": []}, mode="values")
    yield app.stream({"log": []}, mode="updates")


@program
def p14_with_several_modes_updates_come_before_values(lib):
    app = lib.app(_chain(lib))
    yield app.stream({"log": ["in"]}, mode=["values", "updates"])
    yield app.stream({"log": ["in"]}, mode=["updates", "values"])
    yield app.stream({"log": ["in"]}, mode=["updates"])


@program
def p51_custom_words_come_while_the_node_runs(lib):
    def talk(state, writer):
        writer("one")
        writer({"two": 2})
        return {"log": ["talk"]}

    def also(state):
        lib.get_stream_writer()(("three", 3))
        return {"log": ["also"]}

    graph = lib.graph(Log, also, edges="START>talk>also>END", talk=_with_writer(lib, talk))
    yield lib.app(graph).stream({"log": []}, mode="custom")
    yield lib.app(graph).stream({"log": []}, mode=["custom", "updates", "values"])
    yield lib.app(graph).invoke({"log": []})


def _with_writer(lib, function):
    def talk(state, runtime: lib.Runtime):
        return function(state, runtime.stream_writer)

    return talk


@program
def custom_words_of_a_node_that_fails_were_shown(lib):
    def talk(state):
        lib.get_stream_writer()("about to fail")
        raise Boom("now")

    yield lib.app(lib.graph(Log, talk, edges="START>talk>END")).stream(
        {"log": []}, mode=["custom", "updates"], fails=True
    )


@program
def output_keys_choose_what_is_shown(lib):
    def both(state):
        return {"log": ["both"], "count": 5}

    def one(state):
        return {"log": ["one"]}

    app = lib.app(lib.graph(Counted, both, one, edges="START>both>one>END"))
    for keys in ("count", ["count"], ["log", "count"], "log"):
        yield app.invoke({"log": ["in"], "count": 1}, output_keys=keys)
        yield app.stream({"log": ["in"], "count": 1}, mode=["values", "updates"], output_keys=keys)


@program
def invoke_with_another_mode(lib):
    app = lib.app(_chain(lib))
    yield app.invoke({"log": ["in"]}, stream_mode="updates")
    yield app.invoke({"log": ["in"]}, stream_mode="custom")
    yield app.invoke({"log": ["in"]}, stream_mode=["updates", "values"])
    yield app.invoke({"log": ["in"]}, stream_mode=["values"])


@program
def the_tasks_mode(lib):
    app = lib.app(_chain(lib))
    yield _without_ids(app.stream({"log": ["in"]}, mode="tasks"))
    chunks = app.stream({"log": ["in"]}, mode="tasks")
    yield [chunk["id"] for chunk in chunks]


@program
def the_tasks_mode_of_results_that_are_no_dicts(lib):
    def silent(state):
        return None

    def go(state):
        return lib.Command(update={"log": ["go"]}, goto="silent")

    def twice(state):
        return [lib.Command(update={"log": ["one"]}), lib.Command(update={"log": ["two"]})]

    app = lib.app(lib.graph(Log, go, silent, twice, edges="START>go, silent>twice>END"))
    yield _without_ids(app.stream({"log": ["in"]}, mode="tasks"))
    yield app.stream({"log": ["in"]}, mode="updates")


@program
def the_tasks_mode_of_a_failure(lib):
    def fail(state):
        raise Boom("broken")

    app = lib.app(lib.graph(Log, a, fail, edges="START>a>fail>END"))
    chunks = app.stream({"log": ["in"]}, mode="tasks", fails=True)
    yield [chunk if not isinstance(chunk, dict) else {**chunk, "id": "", "triggers": ""} for chunk in chunks]


@program
def the_checkpoints_mode_without_a_saver(lib):
    yield lib.app(_chain(lib)).stream({"log": ["in"]}, mode="checkpoints")


@program
def the_checkpoints_mode_with_a_saver(lib):
    app = lib.saved(_chain(lib))
    yield app.stream({"log": ["in"]}, thread(), mode="checkpoints")
    yield app.stream({"log": ["again"]}, thread(), mode="checkpoints")


@program
def p53_checkpoint_chunks_are_the_history(lib):
    app = lib.saved(_chain(lib))
    chunks = app.stream({"log": ["in"]}, thread(), mode="checkpoints")
    history = app.history(thread())
    yield [
        (chunk["config"] == snapshot.config, chunk["parent_config"] == snapshot.parent_config)
        for chunk, snapshot in zip(chunks, reversed(history), strict=True)
    ]
    yield [
        [task["id"] for task in chunk["tasks"]] == [task.id for task in snapshot.tasks]
        for chunk, snapshot in zip(chunks, reversed(history), strict=True)
    ]
    yield [chunk["values"] == snapshot.values for chunk, snapshot in zip(chunks, reversed(history), strict=True)]


@program
def the_debug_mode(lib):
    app = lib.app(_chain(lib))
    chunks = app.stream({"log": ["in"]}, mode="debug")
    yield [(chunk["type"], chunk["step"], sorted(chunk)) for chunk in chunks]
    yield [sorted(chunk["payload"]) for chunk in chunks]


@program
def p53_the_debug_mode_with_a_saver(lib):
    app = lib.saved(_chain(lib))
    chunks = app.stream({"log": ["in"]}, thread(), mode="debug")
    yield [{**chunk, "payload": {**chunk["payload"], "triggers": ""}} for chunk in chunks]


@program
def p53_debug_checkpoints_in_every_durability(lib):
    for durability in ("sync", "async", "exit"):
        app = lib.saved(_chain(lib))
        chunks = app.stream({"log": ["in"]}, thread(), mode="debug", durability=durability)
        yield [chunk["payload"]["values"] for chunk in chunks if chunk["type"] == "checkpoint"]
        yield [snapshot.values for snapshot in app.history(thread())]


@program
def all_modes_at_once(lib):
    def talk(state):
        lib.get_stream_writer()("word")
        return {"log": ["talk"]}

    app = lib.saved(lib.graph(Log, a, talk, edges="START>a>talk>END"))
    yield [mode for mode, _ in app.stream({"log": ["in"]}, thread(), mode=MODES)]


@program
def the_second_version(lib):
    app = lib.app(_chain(lib))
    yield app.stream({"log": ["in"]}, mode="values", version="v2")
    yield app.stream({"log": ["in"]}, mode=["values", "updates"], version="v2")
    yield app.stream({"log": ["in"]}, mode="updates", version="v2", subgraphs=True)
    yield app.invoke({"log": ["in"]}, version="v2")


@dataclass
class Order:
    log: Annotated[list[str], operator.add] = field(default_factory=list)
    count: int = 0


class OrderModel(BaseModel):
    log: Annotated[list[str], operator.add] = []
    count: int = 0


class Receipt(BaseModel):
    log: list[str]


def _typed(lib, type_):
    """A node, and a graph with the same state."""
    inner = lib.graph(type_, c, edges="START>c>END").compile()
    return lib.graph(type_, a, edges="START>a>inner>END", inner=inner)


@program
def the_second_version_shows_states_as_objects_of_their_type(lib):
    for type_ in (Order, OrderModel):
        app = lib.app(_typed(lib, type_))
        yield app.invoke({"log": ["in"]}, version="v2")
        yield app.invoke({"log": ["in"]}, version="v2", stream_mode=["values", "updates"])
        for keys in ("log", ["log"], ["count"]):
            yield app.invoke({"log": ["in"]}, version="v2", output_keys=keys)
        yield app.stream({"log": ["in"]}, mode=["values", "updates"], version="v2", subgraphs=True)
        yield app.stream({"log": ["in"]}, mode=["values", "updates"])


@program
def the_second_version_shows_checkpoints_with_objects_of_their_type(lib):
    for type_ in (Order, OrderModel):
        app = lib.saved(_typed(lib, type_))
        yield app.stream({"log": ["in"]}, thread(), mode="checkpoints", version="v2")
        yield app.stream({"log": ["in"]}, thread("2"), mode=["debug", "checkpoints"], version="v2")
        yield app.get_state(thread()).values


@program
def the_second_version_returns_objects_of_the_output_type(lib):
    for type_ in (Order, OrderModel):
        graph = lib.StateGraph(type_, output_schema=Receipt)
        app = lib.app(lib.connect(graph.add_node("a", a), "START>a>END"))
        yield app.invoke({"log": ["in"]}, version="v2")
        yield app.stream({"log": ["in"]}, mode="values", version="v2")


@program
def every_part_of_a_stream_has_its_type(lib):
    from langchain_core.messages import AIMessage

    def say(state, writer: lib.StreamWriter):
        writer("saying")
        return {"messages": AIMessage("said")}

    types = {
        "values": lib.ValuesStreamPart[lib.MessagesState],
        "updates": lib.UpdatesStreamPart,
        "messages": lib.MessagesStreamPart,
        "custom": lib.CustomStreamPart,
        "checkpoints": lib.CheckpointStreamPart[lib.MessagesState],
        "tasks": lib.TasksStreamPart,
        "debug": lib.DebugStreamPart[lib.MessagesState],
    }
    app = lib.saved(lib.graph(lib.MessagesState, say, edges="START>say>END"))
    parts: list[lib.StreamPart] = app.stream({"messages": []}, thread(), mode=[*types], version="v2")
    yield sorted({part["type"] for part in parts})
    for part in parts:
        kind = types[part["type"]]
        yield sorted(getattr(kind, "__origin__", kind).__required_keys__) == sorted(part)


@program
def the_second_version_of_a_pause(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    graph = lib.graph(Log, a, ask, edges="START>a>ask>END")
    yield lib.saved(graph).stream({"log": []}, thread(), mode=["values", "updates"], version="v2")
    yield lib.saved(graph).invoke({"log": []}, thread(), version="v2")
    yield lib.saved(graph).invoke({"log": []}, thread(), version="v2", stream_mode="updates")


@program
def the_second_version_of_a_pause_of_a_function(lib):
    flow = lib.flow(lambda number: lib.interrupt("sure?"), checkpointer=lib.saver())
    for options in ({}, {"stream_mode": "updates"}, {"stream_mode": "values"}):
        yield flow.invoke(1, thread(str(options)), version="v2", **options)
    yield flow.stream(1, thread("streamed"), mode="values", version="v2")
    yield flow.invoke(lib.Command(resume="yes"), thread("{}"), version="v2")


@program
def the_second_version_of_a_breakpoint(lib):
    app = lib.saved(_chain(lib), interrupt_before=["b"])
    yield app.stream({"log": []}, thread(), mode=["values", "updates"], version="v2")
    yield app.invoke({"log": []}, thread("2"), version="v2")


@program
def a_stream_with_parallel_nodes(lib):
    app = lib.app(lib.graph(Log, a, b, c, edges="START>a>c>END, START>b>c"))
    yield by_step(app.stream({"log": []}, mode=["updates", "values"]))
    yield unordered(app.stream({"log": []}, mode="updates"))


@program
def a_stream_that_fails_shows_what_came_before(lib):
    def fail(state):
        raise Boom("broken")

    app = lib.app(lib.graph(Log, a, fail, edges="START>a>fail>END"))
    yield app.stream({"log": []}, mode=["updates", "values"], fails=True)


@program
def a_stream_of_a_finished_thread(lib):
    app = lib.saved(_chain(lib))
    yield app.stream({"log": ["in"]}, thread(), mode=["updates", "values"])
    yield app.stream(None, thread(), mode=["updates", "values"])
    yield app.invoke(None, thread())


@program
def a_second_turn_begins_with_the_state_and_the_input(lib):
    app = lib.saved(_chain(lib))
    yield app.stream({"log": ["one"]}, thread(), mode="values")
    yield app.stream({"log": ["two"]}, thread(), mode=["values", "updates"])


@program
def a_default_mode_of_the_graph(lib):
    compiled = _chain(lib).compile()
    compiled.stream_mode = "updates"
    yield lib.watch(compiled).stream({"log": []})


@program
def a_batch(lib):
    app = lib.app(_chain(lib))
    yield app.batch([{"log": ["one"]}, {"log": ["two"]}])


@program
def p53_a_pause_in_the_debug_stream(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
    for input in ({"log": []}, lib.Command(resume="yes")):
        chunks = app.stream(input, thread(), mode="debug")
        yield [{**chunk, "payload": {**chunk["payload"], "triggers": ""}} for chunk in chunks]


@program
def checkpoints_of_a_resumed_thread(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
    yield app.stream({"log": []}, thread(), mode="checkpoints")
    yield app.stream(lib.Command(resume="yes", update={"log": ["told"]}), thread(), mode="checkpoints")


@program
def checkpoints_of_a_step_under_way_show_what_its_tasks_came_to(lib):
    def fail(state):
        raise Boom("again")

    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Log, a, fail, edges="START>a>END, START>fail>END"))
    app.invoke({"log": ["in"]}, {**thread(), "max_concurrency": 1}, fails=True)
    yield app.stream(None, thread(), mode="checkpoints", fails=True)
    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>END, START>ask>END"))
    app.invoke({"log": ["in"]}, thread())
    yield app.stream(lib.Command(resume="yes"), thread(), mode="checkpoints")


@program
def checkpoints_of_a_replay(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = next(snapshot for snapshot in app.history(thread()) if snapshot.next == ("b",))
    yield app.stream(None, old.config, mode="checkpoints")


@program
def a_stream_of_commands_and_sends(lib):
    def plan(state):
        return lib.Command(update={"log": ["plan"]}, goto=[lib.Send("work", {"n": 1}), "a"])

    def work(state):
        return {"log": [f"work {state['n']}"]}

    app = lib.saved(lib.graph(Log, plan, work, a, edges="START>plan, work>END, a>END"))
    yield by_step(app.stream({"log": []}, thread(), mode=["updates", "values"]))
    chunks = app.stream({"log": []}, thread("2"), mode="checkpoints")
    yield [(chunk["next"], [task["name"] for task in chunk["tasks"]]) for chunk in chunks]


@program
def the_triggers_of_tasks(lib):
    """The names of the channels are internal, and yet compared: debug streams show them."""
    app = lib.app(lib.graph(Log, a, b, c, edges="START>a, START>b, a+b>c"))
    chunks = app.stream({"log": []}, mode="tasks")
    yield unordered((chunk["name"], tuple(chunk["triggers"])) for chunk in chunks if "triggers" in chunk)


class Two(TypedDict):
    """A state of two plain keys."""

    left: str
    right: str


@program
def updates_of_a_node_that_writes_one_key_twice(lib):
    def twice(state):
        return lib.Command(update=[("left", "1"), ("right", "2")])

    def not_twice(state):
        return [lib.Command(update={"left": "1"}), lib.Command(update={"right": "2"})]

    app = lib.app(lib.graph(Two, twice, not_twice, edges="START>twice>not_twice>END"))
    yield app.stream({"left": "in"}, mode="updates")


@program
def what_has_finished_in_the_checkpoint_that_a_run_goes_on_from(lib):
    """Its result is of the keys that the reader asks for; of others there is none."""

    def left(state):
        return {"left": "1"}

    def silent(state):
        return None

    def ask(state):
        return {"right": lib.interrupt("?")}

    for keys in (None, "left", "right", ["left"], ["right"]):
        app = lib.saved(lib.graph(Two, left, silent, ask, edges="START>left, START>silent, START>ask"))
        app.invoke({"left": "in"}, thread())
        (_, first), *_ = app.stream(lib.Command(resume="2"), thread(), mode=["checkpoints"], output_keys=keys)
        yield keys, first["values"], [(task["name"], task.get("result", "none")) for task in first["tasks"]]


test_same = program.as_test()
