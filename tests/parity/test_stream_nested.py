"""Streams of nested graphs: namespaces, order, pauses."""

from .harness import Programs, thread, unordered
from .states import Log, a, b, c, noting

program = Programs()


def _nested(lib, **options):
    inner = lib.graph(Log, b, c, edges="START>b>c>END").compile(**options)
    return lib.graph(Log, a, edges="START>a>inner>last>END", inner=inner, last=noting("last"))


@program
def p51_updates_of_a_nested_graph_precede_that_of_its_node(lib):
    app = lib.app(_nested(lib))
    yield app.stream({"log": ["in"]}, mode="updates", subgraphs=True)
    yield app.stream({"log": ["in"]}, mode="updates")


@program
def p39_values_of_a_nested_graph(lib):
    app = lib.app(_nested(lib))
    yield app.stream({"log": ["in"]}, mode="values", subgraphs=True)
    yield app.stream({"log": ["in"]}, mode=["values", "updates"], subgraphs=True)


@program
def tasks_and_checkpoints_of_a_nested_graph(lib):
    app = lib.saved(_nested(lib))
    chunks = app.stream({"log": ["in"]}, thread(), mode=["tasks", "checkpoints"], subgraphs=True)
    yield [(len(ns), mode, payload.get("name"), payload.get("next")) for ns, mode, payload in chunks]


@program
def p53_debug_of_a_nested_graph(lib):
    app = lib.saved(_nested(lib))
    chunks = app.stream({"log": ["in"]}, thread(), mode="debug", subgraphs=True)
    yield [
        (ns, {**chunk, "payload": {**chunk["payload"], "triggers": ""}})
        for ns, chunk in chunks
        if chunk["type"] == "checkpoint"
    ]


@program
def custom_words_of_a_nested_graph(lib):
    def talk(state):
        lib.get_stream_writer()("from inside")
        return {"log": ["talk"]}

    inner = lib.graph(Log, talk, edges="START>talk>END").compile()
    app = lib.app(lib.graph(Log, a, edges="START>a>inner>END", inner=inner))
    yield app.stream({"log": []}, mode="custom")
    yield app.stream({"log": []}, mode="custom", subgraphs=True)
    yield app.stream({"log": []}, mode=["custom", "updates"], subgraphs=True)


@program
def a_stream_of_a_nested_graph_called_in_a_node(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile()

    def call(state):
        return {"log": [*inner.invoke({"log": ["handed"]})["log"], "called"]}

    app = lib.app(lib.graph(Log, a, call, edges="START>a>call>END"))
    yield app.stream({"log": []}, mode="updates", subgraphs=True)
    yield app.stream({"log": []}, mode="updates")


@program
def a_nested_stream_read_in_a_node(lib):
    inner = lib.graph(Log, b, c, edges="START>b>c>END").compile()

    def call(state):
        return {"log": [str(chunk) for chunk in inner.stream({"log": ["handed"]}, stream_mode="updates")]}

    app = lib.app(lib.graph(Log, a, call, edges="START>a>call>END"))
    yield app.invoke({"log": []})
    yield app.stream({"log": []}, mode="updates", subgraphs=True)


@program
def parallel_nested_graphs(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile()
    graph = lib.graph(Log, a, edges="START>a, a>one>END, a>two>END", one=inner, two=inner)
    yield unordered(
        (tuple(level.partition(":")[0] for level in ns), chunk)
        for ns, chunk in lib.app(graph).stream({"log": []}, mode="updates", subgraphs=True)
    )


@program
def p14_a_pause_of_a_nested_graph_in_the_streams(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    for modes in ("updates", "values", ["updates", "values"]):
        inner = lib.graph(Log, b, ask, edges="START>b>ask>END").compile()
        app = lib.saved(lib.graph(Log, a, edges="START>a>inner>END", inner=inner))
        yield app.stream({"log": []}, thread(), mode=modes, subgraphs=True)
        yield app.stream(lib.Command(resume="yes"), thread(), mode=modes, subgraphs=True)
        yield app.stream({"log": []}, thread("2"), mode=modes)
        yield app.stream(lib.Command(resume="yes"), thread("2"), mode=modes)


@program
def p16_a_breakpoint_of_a_nested_graph_in_the_streams(lib):
    for modes in ("updates", "values"):
        inner = lib.graph(Log, b, c, edges="START>b>c>END").compile(interrupt_before=["c"])
        app = lib.saved(lib.graph(Log, a, edges="START>a>inner>END", inner=inner))
        yield app.stream({"log": []}, thread(), mode=modes, subgraphs=True)
        yield app.stream(None, thread(), mode=modes, subgraphs=True)


@program
def p16_a_breakpoint_two_levels_down_in_the_streams(lib):
    for modes in ("updates", "values"):
        inner = lib.graph(Log, b, c, edges="START>b>c>END").compile(interrupt_before=["c"])
        middle = lib.graph(Log, edges="START>inner>END", inner=inner).compile()
        app = lib.saved(lib.graph(Log, a, edges="START>a>middle>END", middle=middle))
        yield app.stream({"log": []}, thread(), mode=modes, subgraphs=True)
        yield app.stream(None, thread(), mode=modes, subgraphs=True)


test_same = program.as_test()
