"""Nested graphs: three ways to remember, names of their own, commands for parents, snapshots from the root."""

import asyncio
import operator
from typing import Annotated

from typing_extensions import TypedDict

from .harness import Boom, Programs, by_step, thread, unordered
from .states import Counted, Log, Plain, a, around, b, d, nested, noting

program = Programs()


@program
def a_graph_as_a_node(lib):
    app = lib.saved(around(lib, nested(lib)))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.history(thread())


@program
def a_graph_as_a_node_shares_only_its_keys(lib):
    seen = []

    def look(state: Plain):
        seen.append(dict(state))
        return {"y": state["x"] + 1}

    class Outer(TypedDict):
        x: int
        y: int
        z: int

    inner = lib.graph(Plain, look, edges="START>look>END").compile()
    app = lib.app(lib.graph(Outer, edges="START>inner>END", inner=inner))
    yield app.invoke({"x": 1, "z": 3})
    yield seen


@program
def a_graph_as_a_node_with_other_output_keys(lib):
    class Inner(TypedDict):
        x: int
        private: str

    class Out(TypedDict):
        x: int

    def work(state: Inner):
        return {"x": state["x"] + 1, "private": "secret"}

    graph = lib.StateGraph(Inner, output_schema=Out)
    graph.add_node("work", work)
    inner = lib.connect(graph, "START>work>END").compile()
    app = lib.app(lib.graph(Plain, edges="START>inner>END", inner=inner))
    yield app.invoke({"x": 1})
    yield app.stream({"x": 1}, mode="updates", subgraphs=True)


@program
def a_graph_called_in_a_node(lib):
    inner = nested(lib)

    def call(state):
        result = inner.invoke({"log": ["handed"]})
        return {"log": result["log"]}

    app = lib.saved(lib.graph(Log, a, call, edges="START>a>call>END"))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.history(thread())


@program.only_async
def a_graph_awaited_in_a_node(lib):
    inner = nested(lib)

    async def call(state):
        result = await inner.ainvoke({"log": ["handed"]})
        return {"log": result["log"]}

    app = lib.saved(lib.graph(Log, a, call, edges="START>a>call>END"))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.stream({"log": []}, thread("2"), mode="updates", subgraphs=True)


@program
def a_graph_called_in_a_conditional_edge(lib):
    def pick(state):
        return {"log": ["b"]}

    inner = lib.graph(Log, pick, edges="START>pick>END").compile()

    def route(state):
        return inner.invoke({"log": []})["log"][-1]

    graph = lib.graph(Log, a, b, edges="START>a, b>END")
    graph.add_conditional_edges("a", route)
    yield lib.app(graph).invoke({"log": []})


@program
def the_same_graph_as_two_nodes(lib):
    inner = nested(lib)
    app = lib.saved(lib.graph(Log, a, edges="START>one>a>two>END", one=inner, two=inner))
    yield app.invoke({"log": []}, thread())


@program
def graphs_in_graphs_in_graphs(lib):
    inner = nested(lib)
    middle = lib.graph(Log, a, edges="START>a>inner>END", inner=inner).compile()
    app = lib.saved(lib.graph(Log, d, edges="START>middle>d>END", middle=middle))
    yield app.invoke({"log": []}, thread())
    yield app.stream({"log": []}, thread("2"), mode="updates", subgraphs=True)


@program
def p38_by_default_each_call_starts_empty(lib):
    class Inner(TypedDict):
        handed: int
        kept: Annotated[list, operator.add]

    def keep(state: Inner):
        return {"kept": [state["handed"]]}

    inner = lib.graph(Inner, keep, edges="START>keep>END").compile()

    def call(state):
        return {"log": [str(inner.invoke({"handed": len(state["log"])})["kept"])]}

    app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
    yield app.invoke({"log": ["one"]}, thread())
    yield app.invoke({"log": ["two"]}, thread())


@program
def p38_with_true_it_keeps_its_own_state_over_turns(lib):
    class Inner(TypedDict):
        handed: int
        kept: Annotated[list, operator.add]

    def keep(state: Inner):
        return {"kept": [state["handed"]]}

    inner = lib.graph(Inner, keep, edges="START>keep>END").compile(checkpointer=True)

    def call(state):
        return {"log": [str(inner.invoke({"handed": len(state["log"])})["kept"])]}

    app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
    yield app.invoke({"log": ["one"]}, thread())
    yield app.invoke({"log": ["two"]}, thread())
    yield app.invoke({"log": ["other"]}, thread("2"))


@program
def p38_with_true_as_a_node(lib):
    class Inner(TypedDict):
        log: Annotated[list, operator.add]
        turns: Annotated[int, operator.add]

    def count(state: Inner):
        return {"turns": 1, "log": [f"turn {state.get('turns')}"]}

    inner = lib.graph(Inner, count, edges="START>count>END").compile(checkpointer=True)
    app = lib.saved(lib.graph(Log, a, edges="START>a>inner>END", inner=inner))
    yield app.invoke({"log": ["one"]}, thread())
    yield app.invoke({"log": ["two"]}, thread())


@program
def p38_with_false_it_stores_nothing(lib):
    app = lib.saved(around(lib, nested(lib, checkpointer=False)))
    yield app.stream({"log": []}, thread(), mode="updates", subgraphs=True)
    yield app.invoke({"log": []}, thread("2"))


@program
def p38_a_graph_that_remembers_inside_of_one_that_stores_nothing(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile(checkpointer=True)
    middle = lib.graph(Log, a, edges="START>a>inner>END", inner=inner).compile(checkpointer=False)
    app = lib.saved(lib.graph(Log, edges="START>middle>END", middle=middle))
    yield app.stream({"log": ["one"]}, thread(), mode="updates", subgraphs=True)
    yield app.stream({"log": ["two"]}, thread(), mode="updates", subgraphs=True)
    stored = lib.stored(app.graph.checkpointer, thread())
    yield sorted(saved.config["configurable"]["checkpoint_ns"] for saved in stored)


@program
def p39_namespaces_of_the_stream(lib):
    inner = nested(lib)
    middle = lib.graph(Log, a, edges="START>a>inner>END", inner=inner).compile()
    app = lib.saved(lib.graph(Log, edges="START>middle>END", middle=middle))
    yield [ns for ns, _ in app.stream({"log": []}, thread(), mode="updates", subgraphs=True)]


@program
def p39_two_default_graphs_called_from_one_node(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile()

    def call(state):
        inner.invoke({"log": []})
        return {"log": inner.invoke({"log": []})["log"]}

    app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
    yield app.stream({"log": []}, thread(), mode="updates", subgraphs=True)


@program
def p39_the_namespace_of_a_stateful_graph_is_its_node(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile(checkpointer=True)
    app = lib.saved(lib.graph(Log, edges="START>inner>END", inner=inner))
    yield app.stream({"log": ["in"]}, thread(), mode="updates", subgraphs=True)
    yield app.get_state(thread("1", checkpoint_ns="inner"))


@program
def p42_on_replay_a_stateful_graph_sees_its_state_of_that_time(lib):
    class Inner(TypedDict):
        handed: int
        kept: Annotated[list, operator.add]

    def keep(state: Inner):
        return {"kept": [state["handed"]]}

    inner = lib.graph(Inner, keep, edges="START>keep>END").compile(checkpointer=True)

    def call(state):
        return {"log": [str(inner.invoke({"handed": len(state["log"])})["kept"])]}

    app = lib.saved(lib.graph(Log, a, call, edges="START>a>call>END"))
    for turn in ("one", "two", "three"):
        app.invoke({"log": [turn]}, thread())
    befores = [snapshot for snapshot in app.history(thread()) if snapshot.next == ("call",)]
    yield app.invoke(None, befores[1].config)
    yield app.invoke({"log": ["four"]}, thread())
    yield app.invoke(None, befores[-1].config)


@program
def p42_on_a_fork_stateful_graphs_see_their_state_of_that_time(lib):
    class Inner(TypedDict):
        handed: int
        kept: Annotated[list, operator.add]

    def keep(state: Inner):
        return {"kept": [state["handed"]]}

    inner = lib.graph(Inner, keep, edges="START>keep>END").compile(checkpointer=True)

    def call(state):
        return {"log": [str(inner.invoke({"handed": len(state["log"])})["kept"])]}

    middle = lib.graph(Log, call, edges="START>call>END").compile(checkpointer=True)
    app = lib.saved(lib.graph(Log, a, edges="START>a>middle>END", middle=middle))
    for turn in ("one", "two", "three"):
        app.invoke({"log": [turn]}, thread())
    befores = [snapshot for snapshot in app.history(thread()) if snapshot.next == ("middle",)]
    yield app.invoke(None, app.update_state(befores[1].config, {"log": ["told"]}))
    yield app.invoke({"log": ["four"]}, thread())
    yield app.invoke(None, app.update_state(befores[-1].config, {"log": ["told"]}))


@program
def p43_a_command_for_the_parent(lib):
    def leave(state):
        return lib.Command(graph=lib.Command.PARENT, update={"log": ["left"]}, goto="d")

    inner = lib.graph(Log, b, leave, edges="START>b>leave").compile()
    app = lib.saved(lib.graph(Log, a, d, edges="START>a>inner, d>END", inner=inner))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.stream({"log": ["in"]}, thread("2"), mode="updates", subgraphs=True)
    yield app.stream({"log": ["in"]}, thread("3"), mode="tasks", subgraphs=True)
    yield app.history(thread())


@program.only_async
def a_node_beside_a_command_for_the_parent_runs_to_its_end(lib):
    ran = []

    async def leave(state):
        return lib.Command(graph=lib.Command.PARENT, update={"log": ["left"]}, goto="d")

    async def work(state):
        for _ in range(20):
            await asyncio.sleep(0)
        ran.append("work")

    inner = lib.graph(Log, leave, work, edges="START>leave, START>work").compile()
    app = lib.saved(lib.graph(Log, d, edges="START>inner, d>END", inner=inner))
    yield app.invoke({"log": ["in"]}, thread())
    yield ran


@program
def p43_a_command_for_the_parent_from_two_levels_down(lib):
    def leave(state):
        return lib.Command(graph=lib.Command.PARENT, update={"log": ["left"]}, goto="here")

    inner = lib.graph(Log, leave, edges="START>leave").compile()
    middle = lib.graph(Log, edges="START>inner, here>END", inner=inner, here=noting("middle here")).compile()
    app = lib.app(lib.graph(Log, edges="START>middle>END, here>END", middle=middle, here=noting("outer here")))
    yield app.invoke({"log": ["in"]})


@program
def p43_a_command_for_the_parent_with_sends_and_edges(lib):
    def leave(state):
        return lib.Command(
            graph=lib.Command.PARENT, update={"log": ["left"]}, goto=[lib.Send("work", 1), lib.Send("work", 2)]
        )

    def work(state):
        return {"log": [f"work {state}"]}

    inner = lib.graph(Log, leave, edges="START>leave").compile()
    app = lib.app(lib.graph(Log, work, d, edges="START>inner>d>END, work>END", inner=inner))
    yield app.invoke({"log": ["in"]})


@program
def p43_a_command_for_the_parent_from_a_graph_called_in_a_node(lib):
    def leave(state):
        return lib.Command(graph=lib.Command.PARENT, update={"log": ["left"]}, goto="d")

    inner = lib.graph(Log, leave, edges="START>leave").compile()

    def call(state):
        inner.invoke({"log": []})
        return {"log": ["never"]}

    app = lib.app(lib.graph(Log, call, d, edges="START>call, d>END"))
    yield app.invoke({"log": ["in"]})


@program
def p43_a_command_for_the_parent_beside_other_tasks(lib):
    def leave(state):
        return lib.Command(graph=lib.Command.PARENT, update={"log": ["left"]}, goto="d")

    inner = lib.graph(Log, leave, edges="START>leave").compile()
    app = lib.app(lib.graph(Log, a, d, edges="START>a>END, START>inner, d>END", inner=inner))
    yield app.invoke({"log": ["in"]})


@program
def p44_a_child_with_its_own_thread_is_independent(lib):
    saver = lib.saver()
    inner = nested(lib, checkpointer=saver)

    def call(state):
        return {"log": inner.invoke({"log": ["handed"]}, thread("own"))["log"][-1:]}

    app = lib.app(lib.graph(Log, call, edges="START>call>END"), checkpointer=saver)
    yield app.invoke({"log": ["in"]}, thread())
    yield app.invoke({"log": ["again"]}, thread())
    yield lib.watch(inner).history(thread("own"))


@program
def a_child_with_its_own_saver_on_a_thread_of_the_same_name(lib):
    inner = nested(lib, checkpointer=lib.saver())

    def call(state):
        return {"log": [len(inner.invoke({"log": ["handed"]}, thread())["log"])]}

    app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.invoke({"log": ["again"]}, thread())
    yield lib.watch(inner).history(thread())


@program
def an_update_of_a_child_with_its_own_saver_on_a_thread_of_the_same_name(lib):
    inner = nested(lib, checkpointer=lib.saver())

    def call(state):
        inner.update_state(thread(), {"log": ["by hand"]})
        return {"log": inner.get_state(thread()).values["log"]}

    app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
    yield app.invoke({"log": ["in"]}, thread())
    yield lib.watch(inner).get_state(thread()).values, app.get_state(thread()).values


@program
def a_child_with_its_own_saver_and_no_thread(lib):
    inner = nested(lib, checkpointer=lib.saver())
    app = lib.saved(around(lib, inner))
    yield app.invoke({"log": ["in"]}, thread())


@program
def p24_a_nested_graph_inherits_durability(lib):
    saver = lib.saver()
    app = lib.app(around(lib, nested(lib)), checkpointer=saver)
    app.invoke({"log": ["in"]}, thread("exit"), durability="exit")
    app.invoke({"log": ["in"]}, thread("sync"), durability="sync")
    for name in ("exit", "sync"):
        found = lib.stored(saver, thread(name))
        yield sorted(saved.config["configurable"]["checkpoint_ns"].partition(":")[0] for saved in found)


@program
def p37_parents_in_the_metadata_of_a_nested_graph(lib):
    saver = lib.saver()
    app = lib.app(around(lib, nested(lib)), checkpointer=saver)
    app.invoke({"log": ["in"]}, thread("1", user="ana"))
    found = lib.stored(saver, thread())
    yield [saved.metadata for saved in found if saved.config["configurable"]["checkpoint_ns"] == ""]
    yield [saved.metadata for saved in found if saved.config["configurable"]["checkpoint_ns"]]


@program
def a_failure_in_a_nested_graph_and_going_on(lib):
    calls, broken = [], [True]

    def count(state):
        calls.append(1)
        return {"log": ["count"]}

    def fragile(state):
        if broken:
            raise Boom("broken")
        return {"log": ["mended"]}

    inner = lib.graph(Log, count, fragile, edges="START>count>fragile>END").compile()
    app = lib.saved(around(lib, inner))
    yield app.invoke({"log": ["in"]}, thread(), fails=True)
    yield app.get_state(thread(), subgraphs=True)
    broken.clear()
    yield app.invoke(None, thread())
    yield calls


@program
def a_nested_graph_in_parallel_with_a_node(lib):
    app = lib.saved(lib.graph(Log, a, d, edges="START>a>d>END, START>inner>d", inner=nested(lib)))
    yield app.invoke({"log": ["in"]}, thread())
    yield unordered(
        (tuple(level.partition(":")[0] for level in ns), chunk)
        for ns, chunk in app.stream({"log": []}, thread("2"), mode="updates", subgraphs=True)
    )


@program
def p39_two_stateful_graphs_in_two_nodes(lib):
    class Inner(TypedDict):
        log: Annotated[list, operator.add]
        turns: Annotated[int, operator.add]

    def child(name):
        def count(state: Inner):
            return {"turns": 1, "log": [f"{name} {state['turns']}"]}

        return lib.graph(Inner, count, edges="START>count>END").compile(checkpointer=True)

    app = lib.saved(lib.graph(Log, edges="START>one>two>END", one=child("one"), two=child("two")))
    yield app.invoke({"log": []}, thread())
    yield app.invoke({"log": []}, thread())


@program
def a_nested_graph_with_sends_inside(lib):
    def work(state):
        return {"log": [f"work {state}"]}

    graph = lib.graph(Log, b, work, edges="START>b, work>END")
    graph.add_conditional_edges("b", lambda state: [lib.Send("work", n) for n in (2, 1)])
    app = lib.saved(around(lib, graph.compile()))
    yield app.invoke({"log": ["in"]}, thread())


@program
def a_send_to_a_nested_graph(lib):
    graph = lib.graph(Log, edges="inner>END", inner=nested(lib))
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("inner", {"log": [word]}) for word in ("x", "y")])
    app = lib.saved(graph)
    yield app.invoke({"log": ["in"]}, thread())
    yield [(snapshot.next, snapshot.values) for snapshot in app.history(thread())]


@program
def a_nested_graph_of_another_kind_of_state(lib):
    from pydantic import BaseModel

    class Inner(BaseModel):
        log: Annotated[list[str], operator.add] = []
        extra: int = 3

    def look(state: Inner):
        return {"log": [f"extra {state.extra}"]}

    inner = lib.graph(Inner, look, edges="START>look>END").compile()
    yield lib.app(around(lib, inner)).invoke({"log": ["in"]})


@program
def a_context_and_a_store_reach_a_nested_graph(lib):
    seen = []

    def look(state, runtime: lib.Runtime):
        seen.append((runtime.context, runtime.store.get(("ns",), "key").value))
        return {"log": ["look"]}

    store = lib.InMemoryStore()
    store.put(("ns",), "key", {"stored": 1})
    inner = lib.graph(Log, look, edges="START>look>END").compile()
    app = lib.app(around(lib, inner), store=store)
    yield app.invoke({"log": []}, context={"user": "ana"})
    yield seen


@program
def a_recursion_limit_holds_in_a_nested_graph(lib):
    graph = lib.graph(Log, b, edges="START>b")
    graph.add_conditional_edges("b", lambda state: "b")
    app = lib.app(around(lib, graph.compile()))
    yield app.invoke({"log": []}, {"recursion_limit": 6}, fails=True)


@program
def nested_updates_beside_values_by_step(lib):
    inner = nested(lib)
    app = lib.app(lib.graph(Counted, a, d, edges="START>a>inner>d>END", inner=inner))
    yield by_step(app.stream({"log": [], "count": 1}, mode=["updates", "values"]))


@program
def a_nested_graph_may_have_no_key_in_common(lib):
    seen = []

    class Other(TypedDict):
        trail: Annotated[list[str], operator.add]

    def step(state: Other):
        seen.append(dict(state))
        return {"trail": ["t"]}

    inner = lib.graph(Other, step, edges="START>step>END").compile(checkpointer=True)
    app = lib.saved(lib.graph(Plain, edges="START>inner>END", inner=inner))
    yield app.invoke({"x": 1}, thread())
    yield app.invoke({"x": 2}, thread())
    yield seen, [state.values for state in app.history(thread())]


@program
def a_send_tells_such_a_graph_what_it_knows(lib):
    class Other(TypedDict):
        trail: Annotated[list[str], operator.add]

    inner = lib.graph(Other, edges="START>step>END", step=lambda state: {"trail": [f"{state['trail']}"]}).compile()
    graph = lib.StateGraph(Plain).add_node("inner", inner)
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("inner", {"trail": ["sent"], "x": 3})], ["inner"])
    yield lib.app(graph).stream({"x": 1}, mode="updates", subgraphs=True)


@program
def a_function_may_return_all_that_a_nested_graph_returns(lib):
    class Wide(TypedDict):
        x: int
        private: str

    inner = lib.graph(Wide, edges="START>n>END", n=lambda state: {"x": 5, "private": "inside"}).compile()

    def call(state):
        return inner.invoke(state)

    async def acall(state):
        return await inner.ainvoke(state)

    yield lib.app(lib.graph(Plain, edges="START>call>END", call=acall if lib.is_async else call)).invoke({"x": 1})


@program
def p43_a_command_for_the_parent_from_the_second_graph_that_a_node_calls(lib):
    def leave(state):
        return lib.Command(graph=lib.Command.PARENT, goto="b") if "leave" in state["log"] else None

    inner = lib.graph(Log, leave, edges="START>leave>END").compile()

    def a(state):
        inner.invoke({"log": []})
        inner.invoke({"log": state["log"]})
        return {"log": ["stayed"]}

    app = lib.app(lib.graph(Log, a, b, edges="START>a, b>END"))
    yield app.invoke({"log": ["leave"]})
    yield app.invoke({"log": ["stay"]})


@program
def p39_graphs_that_remember_called_from_one_node_remember_apart(lib):
    def remembering(name):
        return lib.graph(Log, edges=f"START>{name}>END", **{name: noting(name)}).compile(checkpointer=True)

    fruit, veggie = remembering("fruit"), remembering("veggie")
    seen = []

    def both(state):
        seen.append(
            [graph.invoke({"log": [text]})["log"] for graph, text in ((fruit, "1"), (veggie, "2"), (fruit, "3"))]
        )
        return {"log": ["both"]}

    app = lib.saved(lib.graph(Log, both, edges="START>both>END"))
    yield app.invoke({"log": []}, thread())
    yield app.invoke({"log": []}, thread())
    yield seen


test_same = program.as_test()
