"""Breakpoints: before and after nodes, of a graph and of one call."""

from .harness import Programs, thread, unordered
from .states import Log, a, b, c, d, nested

program = Programs()


@program
def p16_a_breakpoint_before_a_node(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"), interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread())
    yield app.stream(None, thread(), mode=["updates", "values"])


@program
def p16_a_breakpoint_after_a_node(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"), interrupt_after=["b"])
    yield app.stream({"log": []}, thread(), mode="updates")
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def p16_breakpoints_everywhere(lib):
    for options in (
        {"interrupt_before": "*"},
        {"interrupt_after": "*"},
        {"interrupt_before": "*", "interrupt_after": "*"},
    ):
        app = lib.saved(lib.graph(Log, a, b, edges="START>a>b>END"), **options)
        yield app.stream({"log": []}, thread(), mode=["updates", "values"])
        for _ in range(4):
            yield app.stream(None, thread(), mode=["updates", "values"])


@program
def p16_breakpoints_of_one_call(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"))
    yield app.invoke({"log": []}, thread(), interrupt_before=["b"])
    yield app.invoke(None, thread(), interrupt_after=["b"])
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def the_name_of_one_node_is_a_breakpoint(lib):
    app = lib.saved(lib.graph(Log, b, edges="START>first>b>last>END", first=a, last=c))
    yield app.invoke({"log": []}, thread(), interrupt_after="first")
    yield app.stream(None, thread(), mode="updates", interrupt_before="last")
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def p16_a_breakpoint_goes_on_with_any_resume(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"), interrupt_before=["b"])
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="whatever"), thread())


@program
def p16_a_breakpoint_behind_a_step_that_wrote_nothing(lib):
    def silent(state):
        return None

    app = lib.saved(lib.graph(Log, silent, b, edges="START>silent>b>END"), interrupt_before=["b"])
    yield app.stream({"log": []}, thread(), mode=["updates", "values"])
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def p16_a_breakpoint_in_a_loop(lib):
    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_conditional_edges("b", lambda state: "a" if len(state["log"]) < 6 else lib.END)
    app = lib.saved(graph, interrupt_before=["b"])
    yield app.invoke({"log": []}, thread())
    for _ in range(3):
        yield app.invoke(None, thread())


@program
def p16_a_breakpoint_before_one_of_two_parallel_nodes(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"), interrupt_before=["c"])
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def p16_a_breakpoint_and_new_input(lib):
    app = lib.saved(lib.graph(Log, a, b, edges="START>a>b>END"), interrupt_before=["b"])
    yield app.invoke({"log": ["one"]}, thread())
    yield app.invoke({"log": ["two"]}, thread())
    yield app.invoke(None, thread())


@program
def p16_a_breakpoint_without_a_saver(lib):
    app = lib.app(lib.graph(Log, a, b, edges="START>a>b>END"), interrupt_before=["b"])
    yield app.stream({"log": []}, mode=["updates", "values"])


@program
def p16_a_breakpoint_before_sends(lib):
    def work(state):
        return {"log": [f"work {state}"]}

    graph = lib.graph(Log, a, work, edges="START>a, work>END")
    graph.add_conditional_edges("a", lambda state: [lib.Send("work", n) for n in (1, 2)])
    app = lib.saved(graph, interrupt_before=["work"])
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def p16_breakpoints_of_a_nested_graph_stop_the_parent(lib):
    inner = lib.graph(Log, b, c, edges="START>b>c>END").compile(interrupt_before=["c"])
    app = lib.saved(lib.graph(Log, a, d, edges="START>a>inner>END, a>d>END", inner=inner))
    yield unordered(app.stream({"log": []}, thread(), mode="updates"))
    yield app.get_state(thread()).next
    yield app.stream(None, thread(), mode=["updates", "values"])


@program
def p16_a_breakpoint_inside_of_a_graph_beside_a_node_that_finishes(lib):
    inner = lib.graph(Log, c, d, edges="START>c>d>END").compile(interrupt_before=["d"])
    app = lib.saved(lib.graph(Log, a, edges="START>a>END, START>inner>END", inner=inner))
    for mode in ("values", "updates"):
        yield app.stream({"log": []}, thread(mode), mode)
        yield app.stream(None, thread(mode), mode)
    yield app.stream({"log": []}, thread("both"), ["values", "updates"])[-3:]


@program
def p16_a_breakpoint_two_graphs_down_is_told_once(lib):
    inmost = lib.graph(Log, c, d, edges="START>c>d>END").compile(interrupt_before=["d"])
    middle = lib.graph(Log, b, edges="START>b>inmost>END", inmost=inmost).compile()
    app = lib.saved(lib.graph(Log, a, edges="START>a>middle>END", middle=middle))
    yield app.stream({"log": []}, thread(), "updates", subgraphs=True)
    yield app.stream(None, thread(), "updates", subgraphs=True)


@program
def what_streams_show_of_a_breakpoint_two_levels_down(lib):
    inner = nested(lib, interrupt_before=["c"])
    middle = lib.graph(Log, a, edges="START>a>END, START>inner>END", inner=inner).compile()
    app = lib.saved(lib.graph(Log, edges="START>middle>END", middle=middle))
    for mode in ("values", "updates", "tasks", "checkpoints"):
        yield unordered(app.stream({"log": []}, thread(mode), mode, subgraphs=True))


test_same = program.as_test()
