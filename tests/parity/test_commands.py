"""Commands: from nodes, as input, to parents."""

import operator
from typing import Annotated, Literal

from .harness import Programs, by_step, thread
from .states import Counted, Log, Plain, a, b, c, d

program = Programs()


@program
def a_command_updates_and_goes(lib):
    def route(state: Log):
        return lib.Command(update={"log": ["route"]}, goto="b")

    app = lib.app(lib.graph(Log, route, b, c, edges="START>route, b>c>END"))
    yield app.invoke({"log": []})
    yield app.stream({"log": []}, mode=["updates", "values"])


@program
def a_command_with_only_an_update(lib):
    def tell(state: Log):
        return lib.Command(update={"log": ["tell"]})

    app = lib.app(lib.graph(Log, tell, b, edges="START>tell>b>END"))
    yield app.stream({"log": []}, mode="updates")


@program
def a_command_with_only_a_goto(lib):
    def go(state: Log) -> lib.Command[Literal["b", "c"]]:
        return lib.Command(goto="c" if state["log"] else "b")

    app = lib.app(lib.graph(Log, go, b, c, edges="START>go, b>END, c>END"))
    yield app.stream({"log": []}, mode="updates")
    yield app.stream({"log": ["in"]}, mode="updates")


@program
def a_command_to_a_set_of_nodes(lib):
    def go(state: Log):
        return lib.Command(goto={"c", "b"})

    app = lib.app(lib.graph(Log, go, b, c, d, edges="START>go, b>d, c>d>END"))
    yield app.invoke({"log": []})


@program
def a_command_for_a_parent_from_a_caller(lib):
    app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(graph=lib.Command.PARENT, update={"log": ["x"]}), thread(), fails=True)
    yield app.get_state(thread()).values


@program
def a_command_to_several_nodes(lib):
    def go(state: Log):
        return lib.Command(goto=["c", "b"])

    app = lib.app(lib.graph(Log, go, b, c, d, edges="START>go, b>d, c>d>END"))
    yield app.invoke({"log": []})


@program
def p47_a_goto_does_not_switch_off_edges(lib):
    def go(state: Log):
        return lib.Command(goto="c")

    app = lib.app(lib.graph(Log, go, b, c, edges="START>go>b>END, c>END"))
    yield app.invoke({"log": []})


@program
def p47_a_goto_and_an_edge_to_the_same_node(lib):
    def go(state: Log):
        return lib.Command(goto="b")

    app = lib.app(lib.graph(Log, go, b, edges="START>go>b>END"))
    yield app.invoke({"log": []})


@program
def a_command_that_goes_to_the_end(lib):
    def go(state: Log):
        return lib.Command(update={"log": ["go"]}, goto=lib.END)

    app = lib.app(lib.graph(Log, go, b, edges="START>go, b>END"))
    yield app.stream({"log": []}, mode=["updates", "values"])


@program
def a_list_of_commands(lib):
    def go(state: Log):
        return [lib.Command(update={"log": ["one"]}, goto="b"), lib.Command(update={"log": ["two"]}, goto="c")]

    app = lib.app(lib.graph(Log, go, b, c, edges="START>go, b>END, c>END"))
    yield app.invoke({"log": []})
    yield by_step(app.stream({"log": []}, mode=["updates", "values"]))


@program
def a_list_of_commands_and_updates(lib):
    def go(state: Counted):
        return [{"log": ["plain"]}, lib.Command(update={"log": ["told"], "count": 3}, goto="c")]

    app = lib.app(lib.graph(Counted, go, c, edges="START>go, c>END"))
    yield app.invoke({"log": []})
    yield app.stream({"log": []}, mode="updates")


@program
def an_update_of_pairs(lib):
    def tell(state: Log):
        return lib.Command(update=[("log", ["one"]), ("log", ["two"])], goto="b")

    app = lib.app(lib.graph(Log, tell, b, edges="START>tell, b>END"))
    yield app.invoke({"log": []})
    yield app.stream({"log": []}, mode="updates")


@program
def a_command_with_an_object_as_update(lib):
    from dataclasses import dataclass

    @dataclass
    class Update:
        log: list
        count: int

    def tell(state: Counted):
        return lib.Command(update=Update(["told"], 4))

    yield lib.app(lib.graph(Counted, tell, edges="START>tell>END")).invoke({"log": []})


@program
def a_command_of_a_root_state(lib):
    def tell(state):
        return lib.Command(update=["told"], goto="last")

    def last(state):
        return ["last"]

    app = lib.app(lib.graph(Annotated[list, operator.add], tell, last, edges="START>tell, last>END"))
    yield app.invoke(["in"])


@program
def destinations_do_not_steer(lib):
    def go(state: Log):
        return lib.Command(goto="c")

    graph = lib.StateGraph(Log)
    graph.add_node("go", go, destinations=("b", "c"))
    graph.add_node("b", b).add_node("c", c)
    yield lib.app(lib.connect(graph, "START>go, b>END, c>END")).invoke({"log": []})


@program
def a_command_loop(lib):
    def count(state: Counted):
        n = state["count"] + 1
        return lib.Command(update={"count": n, "log": [str(n)]}, goto="count" if n < 4 else "b")

    app = lib.app(lib.graph(Counted, count, b, edges="START>count, b>END"))
    yield app.invoke({"count": 0})


@program
def p17_a_goto_as_input_at_a_breakpoint_adds_a_task(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>c>END, d>END"), interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    yield by_step(app.stream(lib.Command(goto="d"), thread(), mode=["updates", "values"]))
    yield app.get_state(thread())


@program
def p17_a_goto_as_input_at_a_breakpoint_to_several(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>END, c>END, d>END"), interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(goto=["d", "c"]), thread())


@program
def a_send_as_input_at_a_breakpoint(lib):
    def work(state):
        return {"log": [f"work {state}"]}

    app = lib.saved(lib.graph(Log, a, b, work, edges="START>a>b>END, work>END"), interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(goto=[lib.Send("work", 1), lib.Send("work", 2)]), thread())


@program
def p13_an_update_as_input_shows_first(lib):
    app = lib.saved(lib.graph(Log, a, b, edges="START>a>b>END"), interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    yield app.stream(lib.Command(update={"log": ["told"]}), thread(), mode=["updates", "values"])
    yield [snapshot.values for snapshot in app.history(thread())]


@program
def an_update_and_a_goto_as_input(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>END, c>END"), interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(update={"log": ["told"]}, goto="c"), thread())


@program
def a_goto_as_input_of_a_finished_thread(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>END, b>c>END"))
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(goto="b"), thread())
    yield app.invoke(lib.Command(update={"log": ["told"]}, goto="b"), thread())
    yield [snapshot.values for snapshot in app.history(thread())]


@program
def an_update_as_input_of_a_finished_thread(lib):
    app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(update={"log": ["told"]}), thread())
    yield app.get_state(thread()).values


@program
def p43_a_command_for_the_parent_of_a_root_graph(lib):
    def up(state: Log):
        return lib.Command(graph=lib.Command.PARENT, goto="b")

    app = lib.app(lib.graph(Log, up, b, edges="START>up, b>END"))
    yield app.invoke({"log": []}, fails=True)


@program
def a_plain_key_in_a_command_and_in_a_sibling_collide(lib):
    def one(state: Plain):
        return lib.Command(update={"x": 1})

    def two(state: Plain):
        return {"x": 2}

    app = lib.app(lib.graph(Plain, one, two, edges="START>one>END, START>two>END"))
    yield app.invoke({"x": 0}, fails=True)


test_same = program.as_test()
