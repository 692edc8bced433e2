"""Durability: what is stored when, and that results do not depend on it."""

from .harness import Boom, Programs, thread
from .states import Log, a, b, c, d

program = Programs()

ALL = ("sync", "async", "exit")


def _chain(lib):
    return lib.graph(Log, a, b, c, edges="START>a>b>c>END")


def _shape(history):
    return [(snapshot.values, snapshot.next, snapshot.metadata, snapshot.parent_config is None) for snapshot in history]


@program
def p23_what_a_run_stores(lib):
    for durability in ALL:
        app = lib.saved(_chain(lib))
        yield app.invoke({"log": ["in"]}, thread(), durability=durability)
        yield _shape(app.history(thread()))


@program
def p23_what_a_second_turn_stores(lib):
    for durability in ALL:
        app = lib.saved(_chain(lib))
        app.invoke({"log": ["one"]}, thread(), durability=durability)
        app.invoke({"log": ["two"]}, thread(), durability=durability)
        history = app.history(thread())
        yield _shape(history)
        yield history[-2].parent_config


@program
def p23_what_a_pause_stores(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    for durability in ALL:
        app = lib.saved(lib.graph(Log, a, ask, c, edges="START>a>ask>c>END"))
        yield app.invoke({"log": ["in"]}, thread(), durability=durability)
        yield _shape(app.history(thread()))
        yield app.invoke(lib.Command(resume="yes"), thread(), durability=durability)
        yield _shape(app.history(thread()))


@program
def p23_what_histories_show_of_old_questions(lib):
    def ask(state):
        return {"log": [lib.interrupt("one?"), lib.interrupt("two?")]}

    def confirm(state):
        return {"log": [lib.interrupt("sure?")]}

    for durability in ALL:
        app = lib.saved(lib.graph(Log, a, ask, confirm, edges="START>a>ask>confirm>END"))
        app.invoke({"log": ["in"]}, thread(), durability=durability)
        for answer in ("first", "second", "yes"):
            app.invoke(lib.Command(resume=answer), thread(), durability=durability)
            yield [[question.value for question in snapshot.interrupts] for snapshot in app.history(thread())]


@program
def p23_what_a_pause_beside_a_finished_task_stores(lib):
    calls = []

    def work(state):
        calls.append("work")
        return {"log": ["work"]}

    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    for durability in ALL:
        app = lib.saved(lib.graph(Log, work, ask, d, edges="START>work>d>END, START>ask>d"))
        yield app.invoke({"log": ["in"]}, thread(), durability=durability)
        yield app.get_state(thread()).values
        yield app.invoke(lib.Command(resume="yes"), thread(), durability=durability)
    yield calls


@program
def p23_what_a_failure_stores(lib):
    for durability in ALL:
        broken = [True]

        def fail(state, broken=broken):
            if broken:
                raise Boom("broken")
            return {"log": ["mended"]}

        app = lib.saved(lib.graph(Log, a, c, edges="START>a>fail>c>END", fail=fail))
        yield app.invoke({"log": ["in"]}, thread(), durability=durability, fails=True)
        yield _shape(app.history(thread()))
        broken.clear()
        yield app.invoke(None, thread(), durability=durability)
        yield _shape(app.history(thread()))


@program
def p23_what_a_breakpoint_stores(lib):
    for durability in ALL:
        app = lib.saved(_chain(lib), interrupt_before=["b"])
        app.invoke({"log": ["in"]}, thread(), durability=durability)
        yield _shape(app.history(thread()))
        yield app.invoke(None, thread(), durability=durability)
        yield _shape(app.history(thread()))


@program
def p23_what_a_run_out_of_steps_stores(lib):
    for durability in ALL:
        app = lib.saved(_chain(lib))
        yield app.invoke({"log": ["in"]}, {**thread(), "recursion_limit": 2}, durability=durability, fails=True)
        yield _shape(app.history(thread()))


@program
def p24_what_nested_graphs_store(lib):
    for durability in ALL:
        saver = lib.saver()
        inner = lib.graph(Log, b, c, edges="START>b>c>END").compile()
        app = lib.app(lib.graph(Log, a, edges="START>a>inner>END", inner=inner), checkpointer=saver)
        app.invoke({"log": ["in"]}, thread(), durability=durability)
        places = [saved.config["configurable"]["checkpoint_ns"] for saved in lib.stored(saver, thread())]
        yield sorted(place.partition(":")[0] for place in places)


@program
def p24_what_a_paused_nested_graph_stores(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    for durability in ALL:
        saver = lib.saver()
        inner = lib.graph(Log, b, ask, edges="START>b>ask>END").compile()
        app = lib.app(lib.graph(Log, a, edges="START>a>inner>END", inner=inner), checkpointer=saver)
        app.invoke({"log": ["in"]}, thread(), durability=durability)
        places = [saved.config["configurable"]["checkpoint_ns"] for saved in lib.stored(saver, thread())]
        yield sorted(place.partition(":")[0] for place in places)
        yield app.invoke(lib.Command(resume="yes"), thread(), durability=durability)


@program
def p24_what_a_stateful_nested_graph_stores(lib):
    for durability in ALL:
        saver = lib.saver()
        inner = lib.graph(Log, b, edges="START>b>END").compile(checkpointer=True)
        app = lib.app(lib.graph(Log, a, edges="START>a>inner>END", inner=inner), checkpointer=saver)
        app.invoke({"log": ["in"]}, thread(), durability=durability)
        yield app.invoke({"log": ["again"]}, thread(), durability=durability)
        places = [saved.config["configurable"]["checkpoint_ns"] for saved in lib.stored(saver, thread())]
        yield sorted(places)


@program
def streams_do_not_depend_on_durability(lib):
    for durability in ALL:
        app = lib.saved(_chain(lib))
        yield app.stream({"log": ["in"]}, thread(), mode=["updates", "values"], durability=durability)


test_same = program.as_test()
