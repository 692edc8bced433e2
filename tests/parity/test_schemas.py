"""Schemas: dataclasses, pydantic models, and schemas of inputs, outputs and nodes."""

import operator
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, NotRequired, Required
from uuid import UUID, uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, Field, model_validator
from typing_extensions import TypedDict

from .harness import Programs, thread
from .states import Counted, Plain, a

program = Programs()


@program
def p49_a_node_gets_only_the_keys_of_its_own_schema(lib):
    seen = []

    class Narrow(TypedDict):
        y: int

    def narrow(state: Narrow):
        seen.append(dict(state))
        return {"x": 7}

    def wide(state: Plain):
        seen.append(dict(state))

    app = lib.app(lib.graph(Plain, narrow, wide, edges="START>narrow>wide>END"))
    yield app.invoke({"x": 1, "y": 2})
    yield seen


@program
def p49_a_node_may_write_keys_that_only_another_schema_declares(lib):
    seen = []

    class Private(TypedDict):
        secret: str

    def write(state: Plain):
        return {"secret": "s", "x": 1}

    def read(state: Private):
        seen.append(dict(state))
        return {"x": 2}

    graph = lib.graph(Plain, write, read, edges="START>write>read>END")
    yield lib.app(graph).invoke({"x": 0})
    yield lib.app(graph).stream({"x": 0}, mode=["updates", "values"])
    yield seen


@program
def p49_an_input_schema_given_to_add_node(lib):
    seen = []

    class Narrow(TypedDict):
        y: int

    def narrow(state):
        seen.append(dict(state))

    graph = lib.StateGraph(Plain)
    graph.add_node("narrow", narrow, input_schema=Narrow)
    yield lib.app(lib.connect(graph, "START>narrow>END")).invoke({"x": 1, "y": 2})
    yield seen


@program
def p49_a_conditional_edge_sees_the_schema_of_its_node(lib):
    seen = []

    class Narrow(TypedDict):
        y: int

    def narrow(state: Narrow):
        return {"y": state["y"] + 1}

    def route(state):
        seen.append(dict(state))
        return lib.END

    graph = lib.graph(Plain, narrow, edges="START>narrow")
    graph.add_conditional_edges("narrow", route)
    yield lib.app(graph).invoke({"x": 1, "y": 2})
    yield seen


@program
def input_and_output_schemas_of_the_graph(lib):
    seen = []

    class Question(TypedDict):
        question: str

    class Answer(TypedDict):
        answer: str

    class State(Question, Answer):
        steps: Annotated[list, operator.add]

    def think(state: State):
        seen.append(dict(state))
        return {"steps": ["thought"]}

    def say(state: State):
        return {"answer": state["question"] + "!", "steps": ["said"]}

    graph = lib.StateGraph(State, input_schema=Question, output_schema=Answer)
    graph.add_node(think).add_node(say)
    app = lib.saved(lib.connect(graph, "START>think>say>END"))
    yield app.invoke({"question": "q", "answer": "from outside"}, thread())
    yield app.stream({"question": "r"}, thread(), mode=["updates", "values"])
    yield app.get_state(thread()).values
    yield seen


@program
def a_conditional_edge_at_the_start_sees_the_whole_state(lib):
    @dataclass
    class Order:
        log: Annotated[list[str], operator.add] = field(default_factory=list)
        count: int = 0

    class Words(TypedDict):
        log: Annotated[list[str], operator.add]

    for state in (Counted, Order):
        seen = []

        def route(state, seen=seen):
            seen.append(state)
            return "count"

        graph = lib.StateGraph(state, input_schema=Words).add_node("count", lambda state: {"count": 3})
        app = lib.saved(graph.add_conditional_edges(lib.START, route))
        app.invoke({"log": ["one"]}, thread())
        app.invoke({"log": ["two"]}, thread())
        yield seen


@program
def input_keys_beside_the_known_ones_are_left_out(lib):
    app = lib.app(lib.graph(Counted, a, edges="START>a>END"))
    yield app.invoke({"log": ["in"], "other": 1})


@program
def required_and_not_required_keys(lib):
    seen = []

    class State(TypedDict, total=False):
        must: Required[int]
        may: NotRequired[Annotated[list, operator.add]]
        also: Annotated[NotRequired[list], operator.add]

    def look(state: State):
        seen.append(dict(state))
        return {"may": [1], "also": [2]}

    yield lib.app(lib.graph(State, look, edges="START>look>END")).invoke({"must": 1})
    yield seen


@program
def a_state_that_inherits(lib):
    class Base(TypedDict):
        base: Annotated[list, operator.add]

    class Middle(Base):
        middle: int

    class State(Middle):
        top: str

    def fill(state: State):
        return {"base": ["b"], "middle": 1, "top": "t"}

    yield lib.app(lib.graph(State, fill, edges="START>fill>END")).invoke({"base": ["in"]})


@program
def a_dataclass_state_is_built_for_nodes_and_returned_as_a_dict(lib):
    seen = []

    @dataclass
    class State:
        x: int
        y: int = 5
        log: Annotated[list[str], operator.add] = field(default_factory=list)

    def one(state: State):
        seen.append(state)
        return {"x": state.x + 1, "log": ["one"]}

    def two(state: State):
        seen.append(state)
        return {"y": state.x, "log": ["two"]}

    app = lib.app(lib.graph(State, one, two, edges="START>one>two>END"))
    yield app.invoke({"x": 1})
    yield app.invoke(State(x=2, log=["in"]))
    yield app.stream({"x": 1, "y": 1}, mode="values")
    yield seen


@program
def a_dataclass_returned_by_a_node_is_an_update(lib):
    @dataclass
    class State:
        x: int = 0
        y: int = 0
        z: int | None = None

    def one(state: State):
        return State(x=state.x + 1)

    app = lib.app(lib.graph(State, one, edges="START>one>END"))
    yield app.invoke({"x": 1, "y": 9, "z": 4})
    yield app.stream({"x": 1, "y": 9, "z": 4}, mode="updates")


class _Order:
    amount: int

    def __init__(self, **said):
        vars(self).update(said)


class _Paid(_Order):
    paid: bool


class _Same(_Paid):
    pass


class _Row(NamedTuple):
    amount: int
    paid: bool = False


class _Lean:
    __slots__ = ("amount",)
    amount: int

    def __init__(self):
        self.amount = 5


@program
def what_a_class_declares_and_those_that_it_is_derived_from_are_updates(lib):
    orders = [_Paid(amount=3, paid=True), _Same(amount=4), _Row(2, True), _Lean()]
    for order in [*orders, lib.Command(update=orders[0])]:
        graph = lib.graph(_Paid, edges="START>order", order=lambda state, order=order: order)
        yield lib.app(graph).invoke({"amount": 1, "paid": False})


@program
def what_a_class_declares_and_those_that_it_is_derived_from_are_states(lib):
    for kind, order in ((_Paid, _Paid(amount=3, paid=True)), (_Same, _Same(amount=3)), (_Row, _Row(2))):
        seen = []
        graph = lib.graph(kind, edges="START>look", look=seen.append)
        yield lib.app(graph).invoke(order), seen


@program
def a_class_without_annotations_of_its_own_says_what_a_node_reads(lib):
    seen = []

    def look(state: _Same):
        seen.append(state)

    yield lib.app(lib.graph(Plain, look, edges="START>look")).invoke({"x": 1, "amount": 2}), seen


class Model(BaseModel):
    x: int
    y: int = 5
    z: int | None = None
    log: Annotated[list[str], operator.add] = []


@program
def a_pydantic_state_is_built_for_nodes_and_returned_as_a_dict(lib):
    seen = []

    def one(state: Model):
        seen.append(state)
        return {"x": state.x + 1, "log": ["one"]}

    def two(state: Model):
        seen.append(state)
        return {"y": state.x}

    app = lib.app(lib.graph(Model, one, two, edges="START>one>two>END"))
    yield app.invoke({"x": 1})
    yield app.invoke(Model(x=2))
    yield app.stream({"x": 1}, mode=["values", "updates"])
    yield seen


@program
def a_pydantic_state_coerces_for_the_node_what_the_input_says(lib):
    seen = []

    def one(state: Model):
        seen.append(state)

    app = lib.app(lib.graph(Model, one, edges="START>one>END"))
    yield app.invoke({"x": "7"})
    yield seen


@program
def a_pydantic_state_refuses_a_bad_input(lib):
    def one(state: Model):
        return {"x": 1}

    app = lib.saved(lib.graph(Model, one, edges="START>one>END"))
    yield app.invoke({"x": "not a number"}, thread(), fails=True)
    yield app.invoke({"y": 1}, thread(), fails=True)


@program
def a_pydantic_state_notices_a_bad_update_at_the_next_node(lib):
    def bad(state: Model):
        return {"x": "not a number"}

    def after(state: Model):
        return {"y": 1}

    yield lib.app(lib.graph(Model, bad, edges="START>bad>END")).invoke({"x": 1})
    yield lib.app(lib.graph(Model, bad, after, edges="START>bad>after>END")).invoke({"x": 1}, fails=True)


@program
def a_pydantic_object_returned_by_a_node_is_an_update(lib):
    def one(state: Model):
        return Model(x=state.x + 1)

    def two(state: Model):
        return Model(x=state.x, y=state.y, z=None, log=["two"])

    app = lib.app(lib.graph(Model, one, two, edges="START>one>two>END"))
    yield app.invoke({"x": 1, "y": 9, "z": 4, "log": ["in"]})
    yield app.stream({"x": 1, "y": 9, "z": 4}, mode="updates")


@program
def a_pydantic_state_with_a_saver_and_a_second_turn(lib):
    def one(state: Model):
        return {"log": [f"x={state.x}"]}

    app = lib.saved(lib.graph(Model, one, edges="START>one>END"))
    yield app.invoke({"x": 1}, thread())
    yield app.invoke({"x": 2, "log": ["in"]}, thread())
    yield app.get_state(thread()).values


class _Checked(BaseModel):
    name: str
    amount: int = 0
    limit: int = 3
    number: UUID = Field(default_factory=uuid4, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _is_named(cls, said):
        assert len(said["name"]) > 1
        return said

    @model_validator(mode="after")
    def _is_within_the_limit(self):
        if self.amount > self.limit:
            raise ValueError("too much")
        return self


@program
def what_checks_a_whole_object_is_no_check_of_a_part(lib):
    seen = []
    app = lib.saved(lib.graph(_Checked, edges="START>look", look=lambda state: seen.append((state.name, state.amount))))
    app.invoke({"name": "Ana", "amount": 5, "limit": 10}, thread())
    app.invoke({"amount": 7}, thread())
    app.invoke({"name": "Bo"}, thread())
    yield seen
    app.invoke({"amount": 11}, thread(), fails=True)
    yield seen


@program
def a_whole_object_is_checked_as_one(lib):
    app = lib.app(lib.graph(_Checked, a, edges="START>a"))
    yield app.invoke({"name": "Ana", "amount": 5, "limit": 3, "number": UUID(int=1)}, fails=True)


@program
def a_typed_dict_state_with_a_pydantic_node_input(lib):
    seen = []

    class Part(BaseModel):
        x: int

    def one(state: Part):
        seen.append(state)
        return {"y": state.x}

    yield lib.app(lib.graph(Plain, one, edges="START>one>END")).invoke({"x": 3})
    yield seen


@program
def an_object_with_annotations_as_state(lib):
    seen = []

    class State:
        x: int
        y: int

        def __init__(self, x: int = 0, y: int = 0) -> None:
            self.x = x
            self.y = y

    def one(state: State):
        seen.append((type(state).__name__, state))
        return {"x": 3}

    yield lib.app(lib.graph(State, one, edges="START>one>END")).invoke({"x": 1, "y": 2})
    yield seen


@program
def a_pydantic_state_takes_messages_in_every_form(lib):
    class Chat(BaseModel):
        messages: Annotated[list[AnyMessage], lib.add_messages]

    def reply(state):
        return {"messages": [AIMessage("hi", id="ai")]}

    app = lib.app(lib.graph(Chat, reply, edges="START>reply>END"))
    for said in (("user", "hello"), {"role": "user", "content": "hello"}, HumanMessage("hello")):
        yield [(message.type, message.content) for message in app.invoke({"messages": [said]})["messages"]]


@program
def p49_unknown_keys_in_what_a_node_returns_are_dropped(lib):
    def one(state):
        return {"x": 3, "extra": "dropped"}

    def two(state):
        return lib.Command(update={"y": 4, "more": 1})

    app = lib.saved(lib.graph(Plain, one, two, edges="START>one>two>END"))
    yield app.stream({"x": 1, "y": 2}, thread())
    yield app.get_state(thread()).values


@program
def a_nested_graph_that_shares_no_key(lib):
    class Inner(TypedDict, total=False):
        count: int

    def count(state):
        return {"count": state.get("count", 0) + 1}

    inner = lib.graph(Inner, count, edges="START>count>END").compile()
    graph = lib.graph(Plain, a, edges="START>inner>a>END", inner=inner)
    yield lib.app(graph).invoke({"x": 1, "y": 2})


test_same = program.as_test()
