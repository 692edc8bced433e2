"""Pauses in nested graphs: seen, answered, changed and replayed from the root."""

import operator
from typing import Annotated

from typing_extensions import TypedDict

from .harness import Programs, thread
from .states import Log, a, around, b, d, nested

program = Programs()


def _asking(lib, **options):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    return lib.graph(Log, b, ask, edges="START>b>ask>END").compile(**options)


@program
def p38_a_pause_in_a_default_graph(lib):
    calls = []

    def count(state):
        calls.append(1)
        return {"log": ["count"]}

    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    inner = lib.graph(Log, count, ask, edges="START>count>ask>END").compile()
    app = lib.saved(around(lib, inner))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p40_a_paused_graph_in_a_snapshot(lib):
    app = lib.saved(around(lib, _asking(lib)))
    app.invoke({"log": ["in"]}, thread())
    shallow = app.get_state(thread())
    yield shallow
    yield app.get_state(thread(), subgraphs=True)
    yield app.get_state(shallow.tasks[0].state)
    yield app.history(shallow.tasks[0].state)


@program
def what_a_person_has_changed_inside_is_still_inside_and_so_is_the_answer(lib):
    app = lib.saved(around(lib, _asking(lib)))
    app.invoke({"log": ["in"]}, thread())
    root, inside = app.get_state(thread()), app.get_state(thread(), subgraphs=True).tasks[0].state
    app.update_state(inside.config, {"log": ["told"]}, as_node="b")
    place = app.get_state(thread()).tasks[0].state
    for one in app.history(place):
        named = one.config["configurable"]["checkpoint_map"]
        yield len(named), named[""] == root.config["configurable"]["checkpoint_id"]
    yield app.invoke(lib.Command(resume="yes"), place)


@program
def p40_a_graph_that_has_not_begun_is_an_empty_snapshot(lib):
    middle = lib.graph(Log, a, edges="START>a>inner>END", inner=nested(lib)).compile(interrupt_before=["inner"])
    app = lib.saved(lib.graph(Log, d, edges="START>middle>d>END", middle=middle))
    app.invoke({"log": ["in"]}, thread())
    inside = app.get_state(thread(), subgraphs=True).tasks[0].state
    unborn = inside.tasks[0].state
    yield inside.next, unborn.values, unborn.next, unborn.tasks, unborn.interrupts, unborn.metadata, unborn.created_at


@program
def p40_a_paused_graph_two_levels_down(lib):
    middle = lib.graph(Log, a, edges="START>a>inner>END", inner=_asking(lib)).compile()
    app = lib.saved(lib.graph(Log, d, edges="START>middle>d>END", middle=middle))
    app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread(), subgraphs=True)
    shallow = app.get_state(thread())
    inside = app.get_state(shallow.tasks[0].state)
    yield inside
    yield app.get_state(inside.tasks[0].state)
    yield app.invoke(lib.Command(resume="yes"), thread())


@program
def p40_a_graph_that_has_finished_in_a_snapshot(lib):
    app = lib.saved(lib.graph(Log, a, edges="START>a>asks>END, a>works>END", asks=_asking(lib), works=nested(lib)))
    app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread(), subgraphs=True)
    app.invoke(lib.Command(resume="yes"), thread())
    yield [app.get_state(old.config, subgraphs=True) for old in app.history(thread())]


@program
def p40_a_graph_that_stores_nothing_has_no_state(lib):
    app = lib.saved(around(lib, _asking(lib, checkpointer=False)))
    yield app.stream({"log": ["in"]}, thread(), mode="checkpoints")
    yield app.get_state(thread())
    yield app.get_state(thread(), subgraphs=True)
    yield app.history(thread())


@program
def p40_a_question_inside_that_was_answered_is_not_open(lib):
    def one(state):
        return {"log": [lib.interrupt("one?")]}

    def two(state):
        return {"log": [lib.interrupt("two?"), lib.interrupt("three?")]}

    inner = lib.graph(Log, one, two, edges="START>one>END, START>two>END").compile()
    app = lib.saved(lib.graph(Log, edges="START>inner>END", inner=inner))
    app.invoke({"log": ["in"]}, thread())
    for _ in range(2):
        state = app.get_state(thread(), subgraphs=True)
        yield sorted((question.value, question.id) for question in state.tasks[0].state.interrupts)
        yield sorted((question.value, question.id) for question in state.interrupts)
        yield app.invoke(lib.Command(resume={question.id: "yes" for question in state.interrupts}), thread())


@program
def p40_a_breakpoint_in_a_nested_graph(lib):
    app = lib.saved(around(lib, nested(lib, interrupt_before=["c"])))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread(), subgraphs=True)
    yield app.stream(None, thread(), mode="updates", subgraphs=True)
    yield app.get_state(thread())


@program
def p40_an_update_of_a_paused_graph_from_the_root(lib):
    app = lib.saved(around(lib, nested(lib, interrupt_before=["c"])))
    app.invoke({"log": ["in"]}, thread())
    place = app.get_state(thread()).tasks[0].state
    yield app.update_state(place, {"log": ["told"]})
    yield app.get_state(thread(), subgraphs=True)
    yield app.invoke(None, thread())
    yield app.history(place)


@program
def p40_an_update_of_a_paused_graph_as_its_last_node(lib):
    app = lib.saved(around(lib, nested(lib, interrupt_before=["c"])))
    app.invoke({"log": ["in"]}, thread())
    place = app.get_state(thread()).tasks[0].state
    app.update_state(place, {"log": ["told"]}, as_node="c")
    yield app.invoke(None, thread())


@program
def p40_paused_graphs_started_by_sends(lib):
    class Joke(TypedDict):
        topic: str
        log: Annotated[list, operator.add]

    def think(state: Joke):
        return {"topic": state["topic"] + "!"}

    def tell(state: Joke):
        return {"log": [state["topic"]]}

    inner = lib.graph(Joke, think, tell, edges="START>think>tell>END").compile(interrupt_before=["tell"])
    graph = lib.graph(Log, edges="joke>END", joke=inner)
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("joke", {"topic": t}) for t in ("cats", "dogs")])
    app = lib.saved(graph)
    yield app.invoke({"log": []}, thread())
    snapshot = app.get_state(thread(), subgraphs=True)
    yield [(task.name, task.path, task.state.values, task.state.next) for task in snapshot.tasks]
    yield app.invoke(None, thread())


def _counting(calls, name):
    def node(state):
        calls.append(name)
        return {"log": [name]}

    return node


def _stateful(lib, calls):
    """A graph that holds a stateful one, which asks at its end; `calls` notes what ran."""

    def ask(state):
        calls.append("ask")
        return {"log": [lib.interrupt("sure?")]}

    nodes = {name: _counting(calls, name) for name in ("one", "two")}
    inner = lib.graph(Log, ask, edges="START>one>two>ask>END", **nodes).compile(checkpointer=True)
    nodes = {name: _counting(calls, name) for name in ("first", "last")}
    return lib.saved(lib.graph(Log, edges="START>first>inner>last>END", inner=inner, **nodes))


def _nested_checkpoint(app, *next_nodes):
    return next(s for s in app.history(thread("1", checkpoint_ns="inner")) if s.next == next_nodes)


@program
def p41_a_checkpoint_of_a_paused_nested_graph_is_replayed_from_the_root(lib):
    calls = []
    app = _stateful(lib, calls)
    app.invoke({"log": ["in"]}, thread())
    calls.clear()
    yield app.invoke(None, _nested_checkpoint(app, "two").config)
    yield calls
    calls.clear()
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p41_a_checkpoint_of_a_finished_nested_graph_is_replayed_from_the_root(lib):
    calls = []
    app = _stateful(lib, calls)
    app.invoke({"log": ["in"]}, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    for before in ("ask", "one"):
        calls.clear()
        yield app.invoke(None, _nested_checkpoint(app, before).config)
        yield calls


@program
def p41_a_checkpoint_of_a_nested_graph_is_forked_from_the_root(lib):
    calls = []
    app = _stateful(lib, calls)
    app.invoke({"log": ["in"]}, thread())
    fork = app.update_state(_nested_checkpoint(app, "two").config, {"log": ["told"]})
    calls.clear()
    yield app.invoke(None, fork)
    yield calls
    calls.clear()
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p10_two_paused_graphs_are_answered_at_once(lib):
    app = lib.saved(lib.graph(Log, edges="START>one>END, START>two>END", one=_asking(lib), two=_asking(lib)))
    yield app.invoke({"log": []}, thread())
    questions = app.get_state(thread()).interrupts
    yield len(questions), len({question.id for question in questions})
    yield app.invoke(lib.Command(resume={questions[0].id: "first", questions[1].id: "second"}), thread())


@program
def p10_paused_graphs_started_by_sends_are_answered_in_any_order(lib):
    class Job(TypedDict):
        n: int
        log: Annotated[list, operator.add]

    def ask(state: Job):
        return {"log": [f"{state['n']}: {lib.interrupt(state['n'])}"]}

    inner = lib.graph(Job, ask, edges="START>ask>END").compile()
    graph = lib.graph(Log, edges="job>END", job=inner)
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("job", {"n": n}) for n in range(4)])
    app = lib.saved(graph)
    app.invoke({"log": []}, thread())
    by_value = {question.value: question.id for question in app.get_state(thread()).interrupts}
    yield sorted(by_value)
    yield app.invoke(lib.Command(resume={by_value[n]: f"answer {n}" for n in (3, 1, 0, 2)}), thread())


@program
def p33_a_resume_with_the_head_as_explicit_checkpoint(lib):
    calls = []

    def count(state):
        calls.append(1)
        return {"log": ["count"]}

    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    inner = lib.graph(Log, count, ask, edges="START>count>ask>END").compile()
    app = lib.saved(around(lib, inner))
    app.invoke({"log": ["in"]}, thread())
    head = app.get_state(thread()).config
    yield app.invoke(lib.Command(resume="yes"), head)
    yield calls


@program
def p15_two_questions_in_a_nested_graph_one_after_the_other(lib):
    def asking(name):
        def ask(state):
            return {"log": [f"{name} {lib.interrupt(name)}"]}

        return ask

    inner = lib.graph(Log, edges="START>one>two>END", one=asking("one"), two=asking("two")).compile()
    app = lib.saved(around(lib, inner))
    yield app.invoke({"log": []}, thread())
    for answer in ("x", "y"):
        yield app.invoke(lib.Command(resume=answer), thread())
        yield [question.value for question in app.get_state(thread()).interrupts]


@program
def p15_a_question_in_the_parent_and_in_the_child(lib):
    def ask(state):
        return {"log": [lib.interrupt("parent?")]}

    app = lib.saved(lib.graph(Log, ask, d, edges="START>inner>ask>d>END", inner=_asking(lib)))
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="child's"), thread())
    yield app.invoke(lib.Command(resume="parent's"), thread())


@program
def p15_a_node_that_asks_before_and_after_it_calls_a_graph_that_asks(lib):
    inner = _asking(lib)

    def call(state):
        before = lib.interrupt("before?")
        inside = inner.invoke({"log": []})["log"]
        after = lib.interrupt("after?")
        return {"log": [before, *inside, after]}

    app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
    yield [question.value for question in app.invoke({"log": []}, thread())["__interrupt__"]]
    for answer in ("one", "two"):
        result = app.invoke(lib.Command(resume=answer), thread())
        yield [question.value for question in result["__interrupt__"]]
    yield app.invoke(lib.Command(resume="three"), thread())


@program
def p38_a_stateful_graph_that_asks_keeps_its_state(lib):
    class Inner(TypedDict):
        log: Annotated[list, operator.add]
        kept: Annotated[list, operator.add]

    def ask(state: Inner):
        answer = lib.interrupt(f"kept {state['kept']}?")
        return {"kept": [answer], "log": [f"kept {state['kept']}"]}

    inner = lib.graph(Inner, ask, edges="START>ask>END").compile(checkpointer=True)
    app = lib.saved(lib.graph(Log, a, edges="START>a>inner>END", inner=inner))
    for turn in ("one", "two"):
        yield [question.value for question in app.invoke({"log": [turn]}, thread())["__interrupt__"]]
        yield app.invoke(lib.Command(resume=f"answer {turn}"), thread())


@program
def p18_ending_a_thread_with_a_paused_nested_graph(lib):
    app = lib.saved(around(lib, _asking(lib)))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None, as_node=lib.END)
    snapshot = app.get_state(thread())
    yield snapshot.values, snapshot.next, snapshot.interrupts
    yield app.invoke({"log": ["again"]}, thread())


@program
def p34_an_update_as_the_node_of_a_paused_nested_graph(lib):
    app = lib.saved(around(lib, _asking(lib)))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["instead"]}, as_node="inner")
    snapshot = app.get_state(thread())
    yield snapshot.values, snapshot.next, snapshot.interrupts
    yield app.invoke(None, thread())


@program
def p30_a_replay_from_before_a_nested_graph(lib):
    app = lib.saved(around(lib, _asking(lib)))
    app.invoke({"log": ["in"]}, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    before = next(snapshot for snapshot in app.history(thread()) if snapshot.next == ("inner",))
    yield app.invoke(None, before.config)
    yield app.invoke(lib.Command(resume="no"), thread())
    yield [(snapshot.values, snapshot.next) for snapshot in app.history(thread())]


test_same = program.as_test()
