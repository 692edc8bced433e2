"""Edges: direct, joined, conditional, in sequence, deferred; and what compile() refuses."""

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from .harness import Programs, by_step, thread, unordered
from .states import Counted, Log, a, b, c, d, e, noting

program = Programs()


@program
def one_after_the_other(lib):
    app = lib.app(lib.graph(Log, a, b, c, edges="START>a>b>c>END"))
    yield app.invoke({"log": []})
    yield app.stream({"log": []}, mode="updates")
    yield app.stream({"log": []}, mode="values")


@program
def entry_and_finish_points(lib):
    graph = lib.StateGraph(Log)
    graph.add_node("a", a).add_node("b", b).add_edge("a", "b")
    graph.set_entry_point("a").set_finish_point("b")
    yield lib.app(graph).invoke({"log": []})


@program
def a_node_without_an_edge_behind_it_ends_its_path(lib):
    app = lib.app(lib.graph(Log, a, b, edges="START>a>b"))
    yield app.invoke({"log": []})


@program
def a_sequence(lib):
    graph = lib.StateGraph(Log)
    graph.add_sequence([a, ("second", b), c]).add_edge(lib.START, "a")
    yield lib.app(graph).stream({"log": []}, mode="updates")


@program
def a_conditional_edge_sees_what_a_node_returns_beside_the_state(lib):
    def decide(state):
        return {"log": ["decided"], "verdict": "b"}

    seen = []

    def way(state):
        seen.append(dict(state))
        return state["verdict"]

    graph = lib.connect(lib.StateGraph(Log).add_node(decide).add_node("a", a).add_node("b", b), "START>decide")
    app = lib.saved(graph.add_conditional_edges("decide", way, ["a", "b"]))
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread()).values, seen


@program
def a_conditional_edge_at_the_start_sees_what_the_input_has_beside_the_state(lib):
    graph = lib.StateGraph(Log).add_node("a", a).add_node("b", b)
    graph.add_conditional_edges(lib.START, lambda state: state["way"], ["a", "b"])
    yield lib.app(graph).invoke({"log": [], "way": "b"})


@program
def a_conditional_edge_that_names_the_state_sees_no_more(lib):
    seen = []

    def way(state: Log):
        seen.append(dict(state))
        return "a"

    graph = lib.StateGraph(Log).add_node("go", lambda state: {"log": ["go"], "more": 1}).add_node("a", a)
    app = lib.app(lib.connect(graph, "START>go").add_conditional_edges("go", way, ["a"]))
    yield app.invoke({"log": []}), seen


@program
def p46_a_diamond_runs_its_end_once(lib):
    app = lib.app(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    yield app.invoke({"log": []})
    yield by_step(app.stream({"log": []}, mode=["updates", "values"]))


@program
def a_crooked_diamond_runs_its_end_twice(lib):
    app = lib.app(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>e>d", e=e))
    yield app.invoke({"log": []})


@program
def a_join_waits_for_the_longer_path(lib):
    app = lib.app(lib.graph(Log, a, b, c, d, e, edges="START>a>b, a>c>e, b+e>d>END"))
    yield app.invoke({"log": []})
    yield by_step(app.stream({"log": []}, mode=["updates", "values"]))


@program
def a_join_from_start(lib):
    app = lib.app(lib.graph(Log, a, b, c, edges="START>a, START>b, a+b>c>END"))
    yield app.invoke({"log": []})


@program
def a_join_that_is_never_complete_ends_quietly(lib):
    graph = lib.graph(Log, a, b, c, d, edges="START>a, b+c>d")
    graph.add_conditional_edges("a", lambda state: "b", ["b", "c"])
    yield lib.app(graph).invoke({"log": []})


@program
def a_join_in_a_loop_opens_again(lib):
    def route(state):
        return "a" if len(state["log"]) < 8 else lib.END

    graph = lib.graph(Log, a, b, c, d, edges="START>a>b, a>c, b+c>d")
    graph.add_conditional_edges("d", route)
    yield lib.app(graph).invoke({"log": []})


@program
def a_join_that_leads_back_to_one_of_its_starts(lib):
    app = lib.saved(lib.graph(Log, a, b, edges="START>a, START>b, a+b>a"))
    yield app.invoke({"log": []}, {**thread(), "recursion_limit": 6})
    yield app.invoke({"log": ["again"]}, {**thread(), "recursion_limit": 6})


@program
def a_join_that_is_reached_again_in_the_step_in_which_it_opens(lib):
    graph = lib.graph(Log, a, b, c, edges="START>a, START>c, a+c>b")
    graph.add_conditional_edges("a", lambda state: "a" if len(state["log"]) < 6 else lib.END)
    yield lib.app(graph).invoke({"log": []}, {"recursion_limit": 12})


@program
def two_joins_to_one_node(lib):
    app = lib.app(lib.graph(Log, a, b, c, d, e, edges="START>a, START>b>c, a+b>e, a+c>e, e>END, START>d"))
    yield app.invoke({"log": []})
    yield by_step(app.stream({"log": []}, mode=["updates", "values"]))


@program
def a_join_and_a_direct_edge_to_one_node(lib):
    app = lib.app(lib.graph(Log, a, b, c, edges="START>a>c>END, START>b, a+b>c"))
    yield app.invoke({"log": []})


@program
def a_half_open_join_is_remembered_over_turns(lib):
    def route(state):
        return "b" if state["count"] == 1 else "c"

    graph = lib.graph(Counted, a, b, c, d, edges="START>a, b+c>d")
    graph.add_conditional_edges("a", route)
    app = lib.saved(graph)
    yield app.invoke({"log": ["one"], "count": 1}, thread())
    yield app.invoke({"log": ["two"], "count": 2}, thread())
    yield app.get_state(thread())


@program
def p45_writes_are_folded_by_the_name_of_the_node(lib):
    names = ["zeta", "alpha", "node_10", "node_2", "Beta"]
    nodes = {name: noting(name) for name in names}
    app = lib.app(lib.graph(Log, edges=",".join(f"START>{name}>END" for name in names), **nodes))
    yield app.invoke({"log": []})


@program
def the_order_of_parallel_tasks_in_snapshots_and_streams(lib):
    nodes = {name: noting(name) for name in ("zeta", "mu", "alpha")}
    edges = "START>zeta>END, START>mu>END, START>alpha>END"
    app = lib.saved(lib.graph(Log, edges=edges, **nodes), interrupt_before="*")
    chunks = app.stream({"log": []}, thread(), mode=["checkpoints", "updates"])
    yield [payload["next"] for mode, payload in chunks if mode == "checkpoints"]
    state = app.get_state(thread())
    yield state.next, [task.name for task in state.tasks]
    yield app.invoke(None, thread())
    yield [(snapshot.next, [task.name for task in snapshot.tasks]) for snapshot in app.history(thread())]


@program
def a_deferred_node_runs_when_nothing_else_is_due(lib):
    graph = lib.graph(Log, a, b, c, edges="START>a>b, a>c")
    graph.add_node("late", noting("late"), defer=True)
    lib.connect(graph, "a>late>END, b>END, c>END")
    yield lib.app(graph).invoke({"log": []})
    yield by_step(lib.app(graph).stream({"log": []}, mode=["updates", "values"]))


@program
def a_deferred_node_reached_again_and_again_runs_once(lib):
    graph = lib.graph(Log, a, b, c, edges="START>a>b>c")
    graph.add_node("late", noting("late"), defer=True)
    lib.connect(graph, "a>late, b>late, c>late>END")
    yield lib.app(graph).invoke({"log": []})


@program
def a_deferred_join(lib):
    graph = lib.graph(Log, a, b, c, d, edges="START>a>b, START>c>d")
    graph.add_node("late", noting("late"), defer=True)
    lib.connect(graph, "a+c>late>END, b>END, d>END")
    yield lib.app(graph).invoke({"log": []})
    yield by_step(lib.app(graph).stream({"log": []}, mode=["updates", "values"]))


@program
def a_deferred_node_in_a_loop(lib):
    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_node("late", noting("late"), defer=True)
    lib.connect(graph, "a>late")
    graph.add_conditional_edges("late", lambda state: "a" if len(state["log"]) < 5 else lib.END)
    yield lib.app(graph).invoke({"log": []})


@program
def two_deferred_nodes_one_behind_the_other(lib):
    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_node("late", noting("late"), defer=True)
    graph.add_node("later", noting("later"), defer=True)
    lib.connect(graph, "a>late>later>END")
    yield lib.app(graph).invoke({"log": []})


@program
def a_deferred_node_behind_sends(lib):
    def fan(state):
        return [lib.Send("work", {"n": n}) for n in range(3)]

    def work(state):
        return {"log": [f"work {state['n']}"]}

    graph = lib.graph(Log, a, work, edges="START>a")
    graph.add_node("late", noting("late"), defer=True)
    lib.connect(graph, "work>late>END").add_conditional_edges("a", fan)
    yield lib.app(graph).invoke({"log": []})


@program
def a_deferred_node_in_the_history(lib):
    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_node("late", noting("late"), defer=True)
    lib.connect(graph, "a>late>END")
    app = lib.saved(graph)
    yield app.invoke({"log": []}, thread())
    yield [(snapshot.values, snapshot.next) for snapshot in app.history(thread())]


@program
def nodes_may_be_methods_partials_and_callable_objects(lib):
    from functools import partial

    class Worker:
        def method(self, state: Log):
            return {"log": ["method"]}

        def __call__(self, state: Log):
            return {"log": ["object"]}

    def sized(state: Log, *, size: int):
        return {"log": [f"size {size}"]}

    graph = lib.StateGraph(Log)
    graph.add_node("method", Worker().method)
    graph.add_node("object", Worker())
    graph.add_node("partial", partial(sized, size=3))
    yield lib.app(lib.connect(graph, "START>method>object>partial>END")).invoke({"log": []})


@program
def nodes_may_be_runnables(lib):
    from langchain_core.runnables import RunnableLambda

    upper = RunnableLambda(lambda state: {"log": [word.upper() for word in state["log"]]})
    graph = lib.graph(Log, a, edges="START>a", upper=upper | RunnableLambda(lambda update: update))
    yield lib.app(lib.connect(graph, "a>upper>END")).invoke({"log": ["in"]})


@program
def names_come_from_functions(lib):
    def first(state: Log):
        return {"log": ["first"]}

    graph = lib.StateGraph(Log)
    graph.add_node(first)
    app = lib.app(lib.connect(graph, "START>first>END"))
    yield app.stream({"log": []}, mode="updates")


def _refused(build: Any) -> str:
    try:
        build()
    except ValueError:
        return "refused"
    return "taken"


@program
def what_a_graph_refuses(lib):
    def graph(edges: str = "START>a>b>END"):
        return lib.graph(Log, a, b, edges=edges)

    builds = {
        "a node twice": lambda: graph().add_node("a", a),
        "a reserved name": lambda: graph().add_node(lib.END, a),
        "an edge from the end": lambda: graph().add_edge(lib.END, "a"),
        "an edge to the start": lambda: graph().add_edge("a", lib.START),
        "an unknown end": lambda: graph("START>a>nowhere").compile(),
        "an unknown start": lambda: graph("START>a, nowhere>b").compile(),
        "no way in": lambda: graph("a>b>END").compile(),
        "a join with an unknown start": lambda: graph("START>a>b, a+nowhere>b").compile(),
        "an unknown path target": lambda: graph("START>a").add_conditional_edges("b", lambda _: "a", ["no"]).compile(),
        "a branch of an unknown node": lambda: graph("START>a").add_conditional_edges("no", lambda _: "a").compile(),
        "two branches of one name": lambda: graph().add_conditional_edges("a", a).add_conditional_edges("a", a),
        "a breakpoint nowhere": lambda: graph().compile(interrupt_before=["nowhere"]),
        "a colon in a name": lambda: graph().add_node("a:b", a),
        "a pipe in a name": lambda: graph().add_node("a|b", a),
        "an empty sequence": lambda: graph().add_sequence([]),
        "a node that nobody reaches": lambda: graph("START>a>END").compile(),
        "two rules for one key": lambda: _two_rules(lib),
    }
    for name, build in builds.items():
        yield name, _refused(build)


def _two_rules(lib):
    def newest(left, right):
        return right

    class Other(TypedDict):
        log: Annotated[list, newest]

    graph = lib.StateGraph(Log, input_schema=Other)
    graph.add_node("a", a)
    lib.connect(graph, "START>a>END").compile()


@program
def a_wide_fan_out_and_in(lib):
    names = [f"n{number:02}" for number in range(20)]
    nodes = {name: noting(name) for name in names}
    edges = ",".join(f"START>{name}>last" for name in names)
    app = lib.app(lib.graph(Log, edges=edges, last=noting("last"), **nodes))
    yield app.invoke({"log": []})
    yield unordered(app.stream({"log": []}, mode="updates"))


@program
def a_reducer_sees_the_writes_of_a_step_one_by_one(lib):
    class State(TypedDict):
        trace: Annotated[list, lambda left, right: [*left, (len(left), right)]]
        total: Annotated[int, operator.add]

    def one(state: State):
        return {"trace": "one", "total": 1}

    def two(state: State):
        return {"trace": "two", "total": 10}

    app = lib.app(lib.graph(State, two, one, edges="START>one>END, START>two>END"))
    yield app.invoke({"trace": "in", "total": 100})


test_same = program.as_test()
