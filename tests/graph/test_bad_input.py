"""Bad input gets a typed error that names the node and says what to do, and changes nothing."""

import asyncio
import operator
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import (
    EmptyInputError,
    GraphRecursionError,
    InvalidAnswer,
    InvalidGraph,
    InvalidInput,
    InvalidUpdateError,
    MissingThreadId,
    UnknownNode,
)
from signoff.graph import END, START, StateGraph, updating
from signoff.managed import RemainingSteps
from signoff.types import Command, Overwrite, Send

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list, operator.add]
    name: str


def graph(*nodes, saver=None, **settings):
    """Nodes one after the other."""
    builder = StateGraph(State)
    names = [f"n{index}" for index in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for start, end in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(start, end)
    return builder.compile(saver, **settings)


def run(app, input=None, config=CONFIG):
    return app.invoke({"log": []} if input is None else input, config)


def arun(app, input=None, config=CONFIG):
    return asyncio.run(app.ainvoke({"log": []} if input is None else input, config))


both = pytest.mark.parametrize("invoke", [run, arun], ids=["sync", "async"])


def says(error, *words):
    for word in words:
        assert word in str(error.value), f"{word!r} is not in: {error.value}"


@both
@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ([1, 2], ["'n1'", "list", "Return a dict"]),
        ("text", ["'n1'", "str", "Return a dict"]),
        (7, ["'n1'", "int"]),
        (Command(update=[1]), ["'n1'", "update"]),
        (Command(resume="yes"), ["'n1'", "whoever calls the graph"]),
        ([Command(update={"name": "x"}), Command(resume=None)], ["'n1'", "whoever calls the graph"]),
        (Command(graph=Command.PARENT, resume="yes"), ["'n1'", "whoever calls the graph"]),
    ],
)
def test_a_result_that_is_no_update_names_the_node_and_the_mend(invoke, returned, words):
    app = graph(lambda state: {"log": ["first"]}, lambda state: returned, saver=InMemorySaver())
    with pytest.raises(InvalidUpdateError) as error:
        invoke(app)
    says(error, *words)
    assert app.get_state(CONFIG).values == {"log": ["first"]}
    assert app.get_state(CONFIG).next == ("n1",)


@both
@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ({"name": "x", "nmae": "y"}, "'nmae', which the state does not have: it was dropped. Did you mean 'name'?"),
        (
            {"name": Overwrite("x"), "zzz": 1},
            "'zzz', which the state does not have: it was dropped. The keys are: 'log'",
        ),
        (Command(update={"name": "x", "mane": 1}), "Node 'n0' returned the key 'mane'"),
        (Command(update=[("name", "x"), ("nam", 1)]), "Node 'n0' returned the key 'nam'"),
    ],
    ids=["dict", "far", "command", "pairs"],
)
def test_a_key_that_the_state_does_not_have_is_dropped_and_the_log_says_so_once(invoke, returned, words, caplog):
    app = graph(lambda state: returned, saver=InMemorySaver())
    updating._warn_of.cache_clear()
    assert invoke(app)["name"] == "x"
    assert invoke(app)["name"] == "x"
    (record,) = caplog.records
    assert words in record.getMessage()


class Named(TypedDict):
    name: str


class Own(TypedDict, total=False):
    name: str
    own: str


@both
@pytest.mark.parametrize("is_graph", [True, False], ids=["graph", "function"])
def test_a_node_is_not_blamed_for_what_a_graph_in_it_hands_over(invoke, is_graph, caplog):
    def hand_over(state):
        return Command(graph=Command.PARENT, update={**state, "name": "x", "own": "mine"})

    inner = StateGraph(Own).add_node(hand_over).add_edge(START, "hand_over").compile()
    app = graph(inner if is_graph else lambda state: inner.invoke({"name": "", "own": ""}))
    updating._warn_of.cache_clear()
    assert invoke(app)["name"] == "x"
    assert caplog.records == []


class Watched(TypedDict):
    name: str
    remaining_steps: RemainingSteps


@both
@pytest.mark.parametrize("returned", [dict, lambda state: Command(update=dict(state))], ids=["dict", "command"])
def test_a_node_may_return_all_that_it_was_given_managed_values_included(invoke, returned, caplog):
    app = StateGraph(Watched).add_node("a", returned).add_edge(START, "a").compile()
    assert invoke(app, {"name": "x"}) == {"name": "x"}
    assert not caplog.records


@both
def test_a_nested_graph_may_hand_all_that_it_was_given_to_its_parent(invoke, caplog):
    def hand_over(state):
        return Command(graph=Command.PARENT, goto="desk", update={**state, "name": "y"})

    inner = StateGraph(Watched).add_node(hand_over).add_edge(START, "hand_over").compile()
    outer = StateGraph(Named).add_node("inner", inner).add_node("desk", lambda state: None).add_edge(START, "inner")
    assert invoke(outer.compile(), {"name": "x"}) == {"name": "y"}
    assert not caplog.records


@both
@pytest.mark.parametrize("update", [{"nmae": 1}, [("nmae", 1)], Command(update={"nmae": 1})], ids=repr)
def test_an_update_by_a_person_with_an_unknown_key_is_refused(invoke, update):
    app = graph(lambda state: None, saver=InMemorySaver())
    invoke(app)
    before = app.get_state(CONFIG)
    with pytest.raises(InvalidUpdateError) as error:
        app.update_state(CONFIG, update)
    says(error, "'nmae'", "Did you mean 'name'?")
    with pytest.raises(InvalidUpdateError):
        app.invoke(Command(update={"nmae": 1}, goto="n0"), CONFIG)
    assert app.get_state(CONFIG) == before


@both
def test_a_command_of_the_caller_with_a_wrong_update_is_told_as_the_callers(invoke):
    app = graph(lambda state: None, saver=InMemorySaver())
    invoke(app)
    with pytest.raises(InvalidUpdateError, match="This is a Command whose update is 'x'"):
        invoke(app, Command(update="x"))


@both
def test_a_nested_graph_that_shares_no_key_with_the_graph_around_it_runs(invoke):
    class Inner(TypedDict, total=False):
        count: int

    inner = StateGraph(Inner).add_node("one", lambda state: {"count": 1}).add_edge(START, "one").compile()
    assert invoke(graph(inner, lambda state: {"name": "after"})) == {"log": [], "name": "after"}


@both
@pytest.mark.parametrize(
    "returned", [Command(goto="nn1"), Command(goto=["n0", Send("nn1", {})]), Send("nn1", {})], ids=repr
)
def test_an_unknown_goto_names_the_node_and_the_nearest_name(invoke, returned):
    app = graph(lambda state: None, lambda state: returned, saver=InMemorySaver())
    with pytest.raises(UnknownNode) as error:
        invoke(app)
    says(error, "Node 'n1' goes to 'nn1'", "Did you mean 'n1'?")
    assert app.get_state(CONFIG).next == ("n1",)


@both
@pytest.mark.parametrize("chosen", ["nope", None, START, Send("nope", {}), ["n0", "nope"], 3], ids=repr)
def test_a_conditional_edge_to_nowhere_is_an_error(invoke, chosen):
    builder = StateGraph(State).add_node("n0", lambda state: None).add_edge(START, "n0")
    app = builder.add_conditional_edges("n0", lambda state: chosen).compile()
    with pytest.raises(InvalidUpdateError) as error:
        invoke(app)
    says(error, "'n0'")


@both
def test_a_path_map_without_the_answer_lists_what_it_maps(invoke):
    builder = StateGraph(State).add_node("n0", lambda state: None).add_edge(START, "n0")
    app = builder.add_conditional_edges("n0", lambda state: "maybe", {"yes": "n0", "no": END}).compile()
    with pytest.raises(UnknownNode) as error:
        invoke(app)
    says(error, "'maybe'", "'n0'", "'yes', 'no'")


@both
def test_two_writes_to_a_plain_key_name_both_nodes(invoke):
    builder = StateGraph(State)
    for name in ("left", "right"):
        builder.add_node(name, lambda state, name=name: {"name": name}).add_edge(START, name)
    app = builder.compile(InMemorySaver())
    with pytest.raises(InvalidUpdateError) as error:
        invoke(app)
    says(error, "'name'", "'left' and 'right'", "Annotated")
    assert app.get_state(CONFIG).metadata["step"] == 0


@both
def test_a_cycle_without_an_end_says_what_is_due_and_how_to_raise_the_limit(invoke):
    builder = StateGraph(State).add_node("again", lambda state: {"log": ["x"]}).add_edge(START, "again")
    app = builder.add_edge("again", "again").compile()
    with pytest.raises(GraphRecursionError) as error:
        invoke(app, {"log": []}, {"recursion_limit": 5})
    says(error, "5 steps", "'again'", "recursion_limit")


@both
def test_a_missing_thread_id_says_how_to_give_one(invoke):
    with pytest.raises(MissingThreadId) as error:
        invoke(graph(lambda state: None, saver=InMemorySaver()), {"log": []}, {})
    says(error, "thread_id", "configurable")


def test_a_thread_may_be_called_zero():
    """A number is a name as any other, wherever it is given."""
    app = StateGraph(State).add_node("a", lambda state: {"log": ["a"]}).add_edge(START, "a").compile(InMemorySaver())
    config = {"configurable": {"thread_id": 0}}
    app.invoke({"log": []}, config)
    assert app.get_state(config).values == {"log": ["a"]}
    assert len(list(app.get_state_history(config))) == 3


@both
@pytest.mark.parametrize(
    ("input", "kind", "words"),
    [
        ({"nmae": "x"}, InvalidInput, ["'nmae'", "'log', 'name'"]),
        ([1], InvalidUpdateError, ["list", "dict"]),
        ("text", InvalidUpdateError, ["str", "dict"]),
    ],
)
def test_an_input_that_does_not_fit_is_refused_before_anything_is_stored(invoke, input, kind, words):
    app = graph(lambda state: None, saver=InMemorySaver())
    with pytest.raises(kind) as error:
        invoke(app, input)
    says(error, *words)
    assert list(app.get_state_history(CONFIG)) == []


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["no saver", "saver"])
def test_nothing_to_continue_is_an_error(saver):
    with pytest.raises(EmptyInputError):
        graph(lambda state: None, saver=saver).invoke(None, CONFIG)


def test_an_unknown_checkpoint_is_an_error():
    app = graph(lambda state: None, saver=InMemorySaver())
    run(app)
    with pytest.raises(InvalidInput) as error:
        app.invoke(None, {"configurable": {"thread_id": "1", "checkpoint_id": "nope"}})
    says(error, "'nope'", "get_state_history")


def test_an_answer_without_a_question_is_refused_and_changes_nothing():
    app = graph(lambda state: {"log": ["done"]}, saver=InMemorySaver())
    run(app)
    before = list(app.get_state_history(CONFIG))
    with pytest.raises(InvalidAnswer) as error:
        app.invoke(Command(resume="yes", update={"log": ["sneaked in"]}), CONFIG)
    says(error, "'yes'", "no open question")
    assert list(app.get_state_history(CONFIG)) == before


def test_an_answer_to_a_thread_that_has_not_begun_is_refused():
    app = graph(lambda state: {"log": ["ran"]}, saver=InMemorySaver())
    with pytest.raises(InvalidAnswer, match="no open question"):
        app.invoke(Command(resume="yes"), CONFIG)
    assert list(app.get_state_history(CONFIG)) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"durability": "never"}, ["durability", "'never'"]),
        ({"interrupt_before": ["nope"]}, ["'nope'", "breakpoint"]),
        ({"interrupt_after": "nope"}, ["'nope'", "breakpoint"]),
        ({"output_keys": "nope"}, ["'nope'", "output_keys"]),
        ({"stream_mode": "all"}, ["'all'", "values"]),
        ({"version": "v9"}, ["'v9'"]),
        ({"config": {"recursion_limit": 0}}, ["recursion_limit", "0"]),
    ],
)
def test_a_call_that_does_not_fit_is_refused(arguments, words):
    app = graph(lambda state: None)
    with pytest.raises(InvalidInput) as error:
        list(app.stream({"log": []}, **arguments))
    says(error, *words)


def test_compile_takes_the_name_of_one_node_as_a_breakpoint():
    builder = StateGraph(State).add_node("node", lambda state: {"log": ["ran"]}).add_edge(START, "node")
    app = builder.compile(checkpointer=InMemorySaver(), interrupt_before="node")
    assert app.invoke({"log": []}, CONFIG) == {"log": []}
    assert app.invoke(None, CONFIG) == {"log": ["ran"]}
    with pytest.raises(InvalidGraph, match="'nope'"):
        builder.compile(interrupt_after="nope")


def test_reading_without_a_saver_says_so():
    with pytest.raises(InvalidInput) as error:
        graph(lambda state: None).get_state(CONFIG)
    says(error, "no saver", "InMemorySaver")


def broken(change):
    builder = StateGraph(State).add_node("node", lambda state: None)
    change(builder)
    return builder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b, ["no beginning", "add_edge(START, 'node')"]),
        (lambda b: b.add_edge(START, "nod"), ["'nod'", "Did you mean 'node'?"]),
        (lambda b: b.add_edge(START, "node").add_edge("faraway", "node"), ["'faraway'", "add_node('faraway'"]),
        (lambda b: b.add_edge(START, "node").add_edge(["node", "zz"], "node"), ["'zz'"]),
        (lambda b: b.add_edge(START, "node").add_conditional_edges("zz", lambda s: END), ["'zz'", "conditional"]),
        (lambda b: b.add_edge(START, "node").add_conditional_edges("node", lambda s: END, ["zz"]), ["'zz'", "'node'"]),
        (lambda b: b.add_edge(START, "node").add_node("other", print, destinations=("zz",)), ["'zz'", "'other'"]),
    ],
)
def test_compile_names_the_node_and_the_mend(change, words):
    builder = broken(change)
    with pytest.raises(InvalidGraph) as error:
        builder.compile()
    says(error, *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b.add_node("node", print), ["'node'", "exists already"]),
        (lambda b: b.add_node("a:b", print), ["'a:b'", "reserved"]),
        (lambda b: b.add_node("a|b", print), ["'a|b'"]),
        (lambda b: b.add_node(END, print), ["__end__", "reserved"]),
        (lambda b: b.add_node("empty"), ["'empty'", "add_node('empty', function)"]),
        (lambda b: b.add_edge(END, "node"), ["END"]),
        (lambda b: b.add_edge("node", START), ["START"]),
        (lambda b: b.add_sequence([]), ["add_sequence"]),
        (lambda b: b.add_node("late", lambda state: None, timeout=1), ["'late'", "async def"]),
        (lambda b: b.add_conditional_edges("node", max).add_conditional_edges("node", max), ["'max'"]),
    ],
)
def test_describing_refuses_at_the_call(change, words):
    with pytest.raises(InvalidGraph) as error:
        broken(change)
    says(error, *words)


def test_a_node_that_cannot_be_called_is_refused():
    with pytest.raises(InvalidGraph) as error:
        broken(lambda b: b.add_node("seven", 7).add_edge(START, "seven")).compile()
    says(error, "'seven'", "function")


def test_a_reducer_with_one_argument_is_refused():
    class Odd(TypedDict):
        key: Annotated[list, lambda value: value]

    with pytest.raises(InvalidGraph) as error:
        StateGraph(Odd)
    says(error, "'key'", "two arguments")


def test_an_annotation_that_cannot_be_resolved_says_which():
    class Odd(TypedDict):
        key: "Nowhere"  # noqa: F821

    with pytest.raises(InvalidGraph) as error:
        StateGraph(Odd)
    says(error, "Odd", "Nowhere")


def test_an_async_node_in_a_sync_run_says_what_to_call():
    async def node(state):
        return None

    with pytest.raises(InvalidInput) as error:
        graph(node).invoke({"log": []})
    says(error, "'n0'", "ainvoke")
