"""Branches: conditional edges, what they see and where they lead."""

import operator
from typing import Annotated, Literal

from typing_extensions import TypedDict

from .harness import Programs, by_step, thread
from .states import Counted, Log, a, b, c

program = Programs()


@program
def a_conditional_edge_names_a_node(lib):
    graph = lib.graph(Counted, a, b, c, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", lambda state: "b" if state["count"] else "c")
    yield lib.app(graph).invoke({"log": [], "count": 0})
    yield lib.app(graph).invoke({"log": [], "count": 1})


@program
def a_conditional_edge_with_a_map(lib):
    def is_even(state: Counted) -> bool:
        return state["count"] % 2 == 0

    graph = lib.graph(Counted, a, b, c, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", is_even, {True: "b", False: "c"})
    yield lib.app(graph).invoke({"log": [], "count": 0})
    yield lib.app(graph).invoke({"log": [], "count": 1})


@program
def p49_a_conditional_edge_sees_the_schema_it_asks_for(lib):
    seen = []

    class Narrow(TypedDict):
        log: Annotated[list, operator.add]

    def narrow(state: Narrow):
        return {"log": ["narrow"]}

    def route(state: Counted):
        seen.append(dict(state))
        return lib.END

    graph = lib.graph(Counted, narrow, edges="START>narrow")
    graph.add_conditional_edges("narrow", route)
    yield lib.app(graph).invoke({"log": [], "count": 2})
    yield seen


@program
def what_a_conditional_edge_asks_for_is_a_key_of_the_state(lib):
    seen = []

    class Wide(Counted):
        way: str

    def choose(state):
        return {"way": "b"}

    def route(state: Wide):
        seen.append(dict(state))
        return state["way"]

    graph = lib.graph(Counted, choose, b, c, edges="START>choose, b>END, c>END")
    graph.add_conditional_edges("choose", route)
    app = lib.saved(graph)
    yield app.invoke({"log": [], "count": 2}, thread())
    yield app.get_state(thread()).values
    yield seen


@program
def a_conditional_edge_with_a_list_as_map(lib):
    graph = lib.graph(Counted, a, b, c, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", lambda state: ["b", "c"], path_map=["b", "c", lib.END])
    yield lib.app(graph).invoke({"log": [], "count": 0})


@program
def a_conditional_edge_with_a_literal_annotation(lib):
    def route(state) -> Literal["b", "__end__"]:
        return "__end__" if state["count"] else "b"

    graph = lib.graph(Counted, a, b, edges="START>a, b>END")
    graph.add_conditional_edges("a", route)
    yield lib.app(graph).invoke({"log": [], "count": 0})
    yield lib.app(graph).invoke({"log": [], "count": 1})


@program
def a_conditional_edge_to_end_and_a_node_at_once(lib):
    graph = lib.graph(Counted, a, b, edges="START>a, b>END")
    graph.add_conditional_edges("a", lambda state: [lib.END, "b"])
    yield lib.app(graph).invoke({"log": [], "count": 0})


@program
def a_conditional_edge_to_nowhere_ends_the_path(lib):
    graph = lib.graph(Counted, a, b, edges="START>a, b>END")
    graph.add_conditional_edges("a", lambda state: [])
    yield lib.app(graph).stream({"log": [], "count": 0}, mode=["updates", "values"])


@program
def a_conditional_edge_sees_what_its_own_node_wrote(lib):
    seen = []

    def route(state):
        seen.append(list(state["log"]))
        return lib.END

    graph = lib.graph(Log, a, b, edges="START>a, START>b>END")
    graph.add_conditional_edges("a", route)
    yield lib.app(graph).invoke({"log": ["in"]})
    yield seen


@program
def two_conditional_edges_of_one_node(lib):
    def first(state):
        return "b"

    def second(state):
        return ["c", "b"]

    graph = lib.graph(Log, a, b, c, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", first)
    graph.add_conditional_edges("a", second)
    yield lib.app(graph).invoke({"log": []})


@program
def a_conditional_edge_beside_a_direct_one(lib):
    graph = lib.graph(Log, a, b, c, edges="START>a>b>END, c>END")
    graph.add_conditional_edges("a", lambda state: "c")
    yield lib.app(graph).invoke({"log": []})
    yield by_step(lib.app(graph).stream({"log": []}, mode=["updates", "values"]))


@program
def a_conditional_entry_point(lib):
    graph = lib.graph(Counted, a, b, edges="a>END, b>END")
    graph.set_conditional_entry_point(lambda state: "a" if state["count"] else "b", path_map={"a": "a", "b": "b"})
    app = lib.saved(graph)
    yield app.invoke({"log": [], "count": 0}, thread())
    yield app.invoke({"log": [], "count": 1}, thread())
    yield [snapshot.next for snapshot in app.history(thread())]


@program
def a_conditional_edge_with_config_and_store(lib):
    def route(state, config):
        return config["configurable"]["goes_to"]

    graph = lib.graph(Log, a, b, c, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", route)
    yield lib.app(graph).invoke({"log": []}, {"configurable": {"goes_to": "c"}})


@program.only_async
def a_conditional_edge_may_be_async(lib):
    async def route(state):
        return "b" if len(state["log"]) < 4 else lib.END

    async def work(state):
        return {"log": ["work"]}

    graph = lib.graph(Log, work, b, edges="START>work, b>work")
    graph.add_conditional_edges("work", route)
    yield lib.app(graph).invoke({"log": []})


@program
def an_error_of_a_conditional_edge_reaches_the_caller(lib):
    def route(state):
        raise KeyError("nowhere")

    graph = lib.graph(Log, a, b, edges="START>a, b>END")
    graph.add_conditional_edges("a", route)
    yield lib.app(graph).invoke({"log": []}, fails=True)


@program
def a_loop_with_an_end(lib):
    def route(state):
        return "a" if len(state["log"]) < 6 else lib.END

    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_conditional_edges("b", route)
    yield lib.app(graph).invoke({"log": []})
    yield lib.app(graph).stream({"log": []}, mode="values")


@program
def a_node_that_goes_to_itself(lib):
    def again(state: Counted):
        return {"count": state["count"] + 1}

    graph = lib.graph(Counted, again, edges="START>again")
    graph.add_conditional_edges("again", lambda state: "again" if state["count"] < 4 else lib.END)
    yield lib.app(graph).stream({"count": 0}, mode="updates")


test_same = program.as_test()
