"""A Command of the caller on a thread that has not begun: its update is for the state, and its goto is not lost."""

from typing import Annotated, Any, TypedDict

import pytest

from signoff.channels import LastValue
from signoff.errors import InvalidUpdateError, UnknownNode
from signoff.func import entrypoint
from signoff.graph import START, StateGraph
from signoff.pregel import NodeBuilder, Pregel
from signoff.types import Command, Send, interrupt

from .programs import NEW, Log, asking, beside


class Given(TypedDict, total=False):
    log: Annotated[list[Any], lambda old, new: old + new]


class State(Given, total=False):
    x: int


def listing(path: Any = None) -> StateGraph:
    """A graph with more in its state than in its input; behind START is an edge, or one with a path."""
    graph = StateGraph(State, input_schema=Given).add_node("a", lambda state: {"log": ["a", state.get("x")]})
    graph.add_node("b", lambda state: {"log": ["b"]})
    return graph.add_edge(START, "a") if path is None else graph.add_conditional_edges(START, path, ["a"])


def only_for_five(state: State) -> str:
    return "a" if state.get("x", 5) == 5 else "b"


BOTH = pytest.mark.parametrize("path", [None, only_for_five])


@BOTH
@pytest.mark.parametrize("update", [{"log": ["in"], "x": 5}, [("log", ["in"]), ("x", 5)]], ids=["dict", "pairs"])
def test_its_update_is_for_all_of_the_state(open_app, path, update):
    assert open_app(listing(path)).invoke(Command(update=update)) == {"log": ["in", "a", 5], "x": 5}


@BOTH
def test_a_key_that_the_state_does_not_have_is_refused(open_app, path):
    app = open_app(listing(path))
    with pytest.raises(InvalidUpdateError, match="'lgo'.*Did you mean 'log'"):
        app.invoke(Command(update={"log": [], "lgo": 5}))
    assert app.get_state().values == {}


def test_the_state_may_be_one_value(open_app):
    graph = StateGraph(list).add_node("a", lambda state: [*state, "a"]).add_node("b", lambda state: [*state, "b"])
    app = open_app(graph.add_edge(START, "a"))
    assert app.invoke(Command(update=["in"])) == ["in", "a"]


def test_its_goto_is_not_lost_where_the_start_asks(open_app):
    app = open_app(listing(lambda state: interrupt("go?") and "a"))
    assert app.ask(Command(update={"log": ["in"]}, goto="b")) == ["go?"]
    assert app.invoke(Command(resume=True))["log"] == ["in", "b", "a", None]


def test_its_goto_is_not_lost_where_the_start_fails(open_app):
    broken = [True]

    def path(state):
        if broken:
            raise LookupError("broken")
        return "a"

    app = open_app(listing(path))
    with pytest.raises(LookupError):
        app.invoke(Command(goto="b"))
    broken.clear()
    assert app.invoke(None)["log"] == ["b", "a", None]


def low_level(saver):
    nodes = {
        "one": NodeBuilder().subscribe_only("a").do(str.upper).write_to("b"),
        "two": NodeBuilder().subscribe_only("c").do(str.lower).write_to("b"),
    }
    channels = {name: LastValue(str) for name in "abc"}
    return Pregel(nodes=nodes, channels=channels, input_channels=["a"], output_channels=["b"], checkpointer=saver)


@pytest.mark.parametrize("update", [{"a": "hey"}, [("a", "hey")]], ids=["dict", "pairs"])
def test_a_low_level_graph_is_told(open_app, update):
    assert open_app(low_level).invoke(Command(update=update)) == {"b": "HEY"}


def test_a_low_level_graph_goes_where_it_is_sent(open_app):
    assert open_app(low_level).invoke(Command(goto=Send("two", "HEY"))) == {"b": "hey"}


@pytest.mark.parametrize("goto", ["two", Send("three", 1), [Send("two", "x"), "one"]])
def test_a_low_level_graph_is_sent_to_nodes_that_it_has(open_app, goto):
    with pytest.raises(UnknownNode, match="Its nodes: \\['one', 'two'\\]"):
        open_app(low_level).invoke(Command(goto=goto))


def test_a_low_level_graph_is_told_by_channels(open_app):
    with pytest.raises(InvalidUpdateError, match="update is 'zz'"):
        open_app(low_level).invoke(Command(update="zz"))


# Commands of nodes


class OurCommand(Command[Any]):
    """A Command with a name of its own."""


def test_a_command_of_a_subclass_is_obeyed(open_app):
    graph = beside(one=lambda state: OurCommand(update={"log": ["one"]}, goto="two"))
    assert open_app(graph.add_node("two", lambda state: {"log": ["two"]})).invoke(NEW) == {"log": ["one", "two"]}


def test_an_entrypoint_cannot_be_handed_over_to(open_app):
    inner = beside(hand=lambda state: Command(graph=Command.PARENT, update=NEW)).compile()

    def program(saver):
        return entrypoint(checkpointer=saver)(lambda input: inner.invoke(NEW))

    with pytest.raises(InvalidUpdateError, match="entrypoint has no nodes and no keys"):
        open_app(program).invoke(1)


@pytest.mark.parametrize("thread_id", [66, "66"])
def test_a_graph_that_is_called_with_the_number_of_its_run_is_nested(open_app, thread_id):
    inner = beside(ask=asking()).compile()
    config = {"configurable": {"thread_id": thread_id}}

    def call(state):
        return inner.invoke(NEW, config)

    app = open_app(StateGraph(Log).add_node(call).add_edge(START, "call"))
    assert app.ask(NEW, config) == ["sure?"]
    assert app.invoke(Command(resume="yes"), config) == {"log": ["yes"]}
