"""What annotations tell of a graph, and those that tell nothing: names that are not there when somebody looks."""

import gc
import operator
import sys
import types
import weakref
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar, get_type_hints

import pytest
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from signoff._annotations import signature_of
from signoff.channels import BinaryOperatorAggregate, DeltaChannel
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidGraph
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.graph.state import StateNode
from signoff.managed import RemainingSteps
from signoff.runtime import Runtime
from signoff.types import Command


class State(TypedDict):
    log: Annotated[list, operator.add]


def all_of(value, writes):
    for write in writes:
        value = value + write
    return value


def test_a_function_that_makes_nodes_can_be_annotated():
    def saying(word) -> StateNode[State, None]:
        return lambda state: {"log": [word]}

    assert get_type_hints(saying)["return"] == StateNode[State, None] != StateNode
    nodes: list[StateNode] = [saying("a")]
    assert StateGraph(State).add_node("a", nodes[0]).add_edge(START, "a").compile().invoke({"log": []}) == {
        "log": ["a"]
    }


B, C = Literal["b"], Literal["c"]


@pytest.mark.parametrize(
    ("hint", "ends"),
    [
        (Literal["b", "c"], ["b", "c"]),
        (B | C, ["b", "c"]),
        (B | Literal["c", "b"], ["b", "c"]),
        (B | str, []),
        (str, []),
    ],
    ids=["one", "two", "union", "or any text", "any text"],
)
def test_literals_say_where_a_node_or_a_conditional_edge_leads(hint, ends):
    def node(state) -> Command[hint]: ...

    def path(state) -> hint: ...

    def built(a, *paths):
        graph = StateGraph(State).add_node("a", a).add_node("b", saying_nothing).add_node("c", saying_nothing)
        graph.add_edge(START, "a")
        for one in paths:
            graph.add_conditional_edges("a", one)
        return graph.compile().get_graph().edges

    for edges in (built(node), built(saying_nothing, path)):
        assert [edge.target for edge in edges if edge.conditional] == ends


def saying_nothing(state):
    return None


@dataclass
class Go:
    """A node with a field."""

    to: str

    def __call__(self, state: State) -> Command[Literal["b", "c"]]:
        return Command(goto=self.to, update={"log": ["go"]})


@dataclass
class Choose:
    """A path with a field."""

    to: str

    def __call__(self, state: State) -> Literal["b", "c"]:
        return self.to


def graph(node):
    built = StateGraph(State).add_node("a", node).add_edge(START, "a")
    return built.add_node("b", said("b")).add_node("c", said("c"))


def said(text):
    return lambda state: {"log": [text]}


def ways(app):
    return [(edge.target, edge.conditional) for edge in app.get_graph().edges if edge.source == "a"]


@pytest.mark.parametrize(
    "built",
    [lambda: graph(Go("c")), lambda: graph(said("go")).add_conditional_edges("a", Choose("c"))],
    ids=["node", "path"],
)
def test_an_object_with_fields_says_where_it_leads(built):
    app = built().compile()

    assert ways(app) == [("b", True), ("c", True)]
    assert app.invoke({"log": []}) == {"log": ["go", "c"]}


PROGRAM = """
class Result:
    amount: Amount
    def __init__(self, log):
        self.log = log

def a(state: Checked) -> Command[Checked]:
    return Result(["go"])

def choose(state: Checked) -> Checked:
    return "c"

@task
def double(given: Checked, *, by: Later = None) -> Later:
    return Later(2 * given)

@entrypoint(checkpointer=InMemorySaver())
def flow(given: Checked, *, config: Checked) -> Later:
    return double(given).result()

@dataclass
class Later:
    amount: int
"""


@pytest.fixture
def program():
    """A program whose annotations name what comes further below, and `Checked`, which only type checkers see.

    From Python 3.14 on it may be written like this. Before, it says that annotations are not to be read yet.
    """
    head = "" if sys.version_info >= (3, 14) else "from __future__ import annotations"
    module = types.ModuleType("program")
    vars(module).update(task=task, entrypoint=entrypoint, InMemorySaver=InMemorySaver, dataclass=dataclass)
    sys.modules["program"] = module
    exec(head + PROGRAM, vars(module))
    yield module
    del sys.modules["program"]


def test_nodes_and_paths_whose_annotations_name_what_is_not_there_run(program):
    app = graph(program.a).add_conditional_edges("a", program.choose).compile()

    assert app.invoke({"log": []})["log"][-1] == "c"


def test_tasks_whose_annotations_name_what_is_not_there_run(program):
    assert program.flow.invoke(1, {"configurable": {"thread_id": "1"}}) == program.Later(2)


# Names for types, as `type Lines = Annotated[list, operator.add]` makes them since Python 3.12

T = TypeVar("T")
Lines = TypeAliasType("Lines", Annotated[list, operator.add])
LinesOf = TypeAliasType("LinesOf", Annotated[list[T], operator.add], type_params=(T,))
Again = TypeAliasType("Again", Lines)
Left = TypeAliasType("Left", RemainingSteps)
Ways = TypeAliasType("Ways", Literal["b", "c"])


class Named(TypedDict):
    log: Lines


class NamedTwice(TypedDict):
    log: NotRequired[Again]


class NamedOf(TypedDict):
    log: LinesOf[str]


@dataclass
class NamedInDataclass:
    log: Lines


class NamedInModel(BaseModel):
    log: Lines


class Of(TypedDict, Generic[T]):
    log: Annotated[list[T], operator.add]
    best: T


@dataclass
class DataOf(Generic[T]):
    log: Annotated[list[T], operator.add]
    best: T = None


StateName = TypeAliasType("StateName", State)
STATES = [Named, NamedTwice, NamedOf, NamedInDataclass, NamedInModel, StateName, Of[str], DataOf[str]]


@pytest.mark.parametrize("state", STATES, ids=str)
def test_a_reducer_counts_behind_a_name_and_in_a_state_with_parameters(state):
    app = StateGraph(state).add_node("a", said("a")).add_node("b", said("b")).add_edge(START, "a").add_edge("a", "b")
    assert app.compile().invoke({"log": []})["log"] == ["a", "b"]


def test_a_bare_state_may_have_a_name():
    app = StateGraph(Lines).add_node("a", lambda state: ["a"]).add_edge(START, "a").compile()
    assert app.invoke(["given"]) == ["given", "a"]


def test_a_managed_value_may_have_a_name():
    class Managed(State):
        left: Left

    app = StateGraph(Managed).add_node("a", lambda state: {"log": [state["left"] > 0]}).add_edge(START, "a").compile()
    assert app.invoke({"log": []}) == {"log": [True]}


def test_a_node_is_given_an_object_of_a_state_with_parameters():
    def a(state: DataOf[str]):
        return {"log": [type(state).__name__, state.best]}

    app = StateGraph(DataOf[str]).add_node(a).add_edge(START, "a").compile()
    assert app.invoke({"log": [], "best": "b"})["log"] == ["DataOf", "b"]


def test_what_a_parameter_of_a_state_stands_for_is_stored_and_shown():
    @dataclass
    class Order:
        amount: int

    app = StateGraph(Of[Order]).add_node("a", lambda state: {"best": state["log"][0]}).add_edge(START, "a")
    app = app.compile(checkpointer=InMemorySaver())
    assert app.invoke({"log": [Order(5)]}, {"configurable": {"thread_id": "1"}})["best"] == Order(5)
    assert app.get_state({"configurable": {"thread_id": "1"}}).values["best"] == Order(5)
    assert app.get_input_jsonschema()["properties"]["best"] == {"$ref": "#/$defs/Order"}


@pytest.mark.parametrize("context_schema", [DataOf[str], TypeAliasType("Context", DataOf)], ids=str)
def test_a_context_may_have_a_name_or_parameters(context_schema):
    def a(state: State, runtime: Runtime):
        return {"log": [type(runtime.context).__name__]}

    app = StateGraph(State, context_schema=context_schema).add_node(a).add_edge(START, "a").compile()
    assert app.invoke({"log": []}, context={"log": []}) == {"log": ["DataOf"]}


def to_c(state: StateName) -> Command[Ways]:
    return Command(goto="c")


def choose_c(state: StateName) -> Ways:
    return "c"


@pytest.mark.parametrize(
    "built",
    [lambda: graph(to_c), lambda: graph(said("go")).add_conditional_edges("a", choose_c)],
    ids=["node", "path"],
)
def test_where_something_leads_may_have_a_name(built):
    assert ways(built().compile()) == [("b", True), ("c", True)]


class TypeAlias:
    """What `type Unknown = list[Checked]` makes, where that is no syntax yet."""

    __name__, __type_params__ = "Unknown", ()

    def __call__(self):
        """A type can be called; `typing` looks for that."""

    @property
    def __value__(self):
        raise NameError("name 'Checked' is not defined")


TypeAlias.__name__ = "TypeAliasType"

LAZY = """
class Shelf(TypedDict):
    books: Unknown

def a(state: Unknown) -> Unknown:
    return {"log": ["a"]}

@task
def read(books: Unknown) -> Unknown:
    return books
"""


def test_a_name_for_what_only_type_checkers_see_is_passed_over_in_functions_and_refused_in_a_state():
    module = {"task": task, "TypedDict": TypedDict, "Unknown": TypeAlias()}
    exec("type Unknown = list[Checked]" if sys.version_info >= (3, 12) else "", module)
    exec(LAZY, module)
    assert StateGraph(State).add_node(module["a"]).add_edge(START, "a").compile().invoke({"log": []}) == {"log": ["a"]}
    with pytest.raises(InvalidGraph, match="The type Unknown could not be resolved: name 'Checked' is not defined"):
        StateGraph(module["Shelf"])


@pytest.mark.parametrize(
    "rule",
    [lambda typ: BinaryOperatorAggregate(typ, operator.add), lambda typ: DeltaChannel(all_of, typ)],
    ids=["one by one", "at once"],
)
def test_each_graph_of_a_program_has_its_own_rule_for_a_key_that_differs_in_its_type_alone(rule):
    def total(typ, write):
        class State(TypedDict):
            done: bool
            total: Annotated[Any, rule(typ)]

        graph = StateGraph(State).add_node("add", lambda state: {"total": write}).add_edge(START, "add")
        return graph.compile().invoke({"done": False})["total"]

    assert (total(list, [1]), total(int, 1)) == ([1], 1)


def test_a_graph_whose_nodes_have_its_owner_as_a_default_goes_with_the_request_that_made_it():
    class Service:
        def __init__(self):
            graph = StateGraph(State).add_node("say", lambda state, service=self: {"log": [service.word]})
            self.app, self.word = graph.add_edge(START, "say").compile(), "hello"

    service = Service()
    assert service.app.invoke({"log": []}) == {"log": ["hello"]}
    gone = weakref.ref(service)
    del service
    gc.collect()
    assert gone() is None


def test_the_parameters_of_a_function_that_holds_nothing_are_read_once():
    def route(state: dict[str, list[Any]], runtime: "Runtime[None]") -> Command[Literal["a", "b"]] | None:
        raise NotImplementedError

    def checked(state: Annotated[State, operator.add]) -> None:
        raise NotImplementedError

    assert signature_of(route) is signature_of(route)
    assert signature_of(checked) is not signature_of(checked)  # what stands there may hold the function


class Summed(TypedDict):
    log: Annotated[list, operator.add]


class Bare(TypedDict):
    log: list


def test_a_plain_key_gives_way_to_one_with_a_rule():
    graph = StateGraph(Bare).add_node("a", lambda state: {"log": ["a"]}, input_schema=Summed)
    assert graph.add_edge(START, "a").compile().invoke({"log": ["in"]}) == {"log": ["in", "a"]}
    assert graph.nodes["a"].retry_policy is None


@dataclass
class Order:
    amount: int
    paid: bool = field(init=False)


def test_a_field_that_is_set_later_may_be_missing():
    seen = []
    graph = StateGraph(Order).add_node("look", lambda state: seen.append(hasattr(state, "paid")))
    app = graph.add_edge(START, "look").compile()
    app.invoke({"amount": 1})
    app.invoke({"amount": 1, "paid": True})
    assert seen == [False, True]
