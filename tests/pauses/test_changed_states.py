"""Promise 7: a state whose type was changed while a thread waits is noticed; nothing is lost, and it can be mended."""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, ValidationError

from signoff.errors import ProgramChanged, StateChanged
from signoff.graph import START, StateGraph
from signoff.types import Command, Overwrite, interrupt


class Model(BaseModel):
    log: Annotated[list, operator.add] = []
    amount: Any = None


class ModelThatNeedsMore(Model):
    currency: str


class NarrowerModel(Model):
    amount: list = []


@dataclass
class Record:
    log: Annotated[list, operator.add] = field(default_factory=list)
    amount: Any = None


@dataclass(kw_only=True)
class RecordThatNeedsMore(Record):
    currency: str


CHANGES = {
    "a required field of a model": (Model, ModelThatNeedsMore, {"currency": "EUR"}, "currency: Field required"),
    "a narrower type": (Model, NarrowerModel, {"amount": []}, "amount: Input should be a valid list"),
    "a required field of a dataclass": (Record, RecordThatNeedsMore, {"currency": "EUR"}, "'currency'"),
}

changes = pytest.mark.parametrize("change", CHANGES)
INPUT = {"amount": 120}


def ask(state):
    return {"log": [interrupt("sure?")]}


def plain(state):
    return StateGraph(state).add_node("draft", lambda state: {"log": ["draft"]}).add_node(ask).add_edge(START, "draft")


def line(state):
    return plain(state).add_edge("draft", "ask")


def joined(state):
    graph = plain(state).add_node("check", lambda state: {"log": ["check"]}).add_edge(START, "check")
    return graph.add_edge(["draft", "check"], "ask")


def beside(state):
    return line(state).add_node("other", lambda state: {"log": ["other"]}).add_edge("draft", "other")


def nested(state):
    return StateGraph(Record).add_node("inner", line(state).compile()).add_edge(START, "inner")


SHAPES = {"line": line, "join": joined, "beside": beside, "nested": nested}


@changes
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_a_state_that_cannot_be_read_any_more_is_noticed_and_the_answer_stands(open_app, change, shape, pause):
    old, new, _, wrong = CHANGES[change]
    first, deployed = (open_app(SHAPES[shape](state), pause=pause) for state in (old, new))
    first.invoke(INPUT)
    before = first.get_state()
    for go_on in (Command(resume="yes"), None):
        with pytest.raises(StateChanged, match="node 'ask'") as noticed:
            deployed.invoke(go_on)
        assert wrong in str(noticed.value)
    assert (deployed.get_state().values, deployed.get_state().interrupts) == (before.values, ())
    assert (deployed.filed(), len(deployed.filed(answered=True))) == ([], 1)
    assert "yes" in first.invoke(None)["log"]
    assert first.filed(answered=None) == []


@changes
def test_it_is_caught_as_what_the_type_itself_raises(open_app, change):
    old, new, _, _ = CHANGES[change]
    open_app(line(old)).invoke(INPUT)
    with pytest.raises(ValueError) as noticed:
        open_app(line(new)).invoke(Command(resume="yes"))
    assert isinstance(noticed.value, TypeError)
    assert isinstance(noticed.value, ProgramChanged)
    assert isinstance(noticed.value.__cause__, ValidationError | TypeError)


@changes
@pytest.mark.parametrize("shape", ["line", "join", "beside"])
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_the_new_code_can_read_the_thread_and_mend_it(open_app, change, shape, pause):
    old, new, missing, _ = CHANGES[change]
    first, deployed = (open_app(SHAPES[shape](state), pause=pause) for state in (old, new))
    first.invoke(INPUT)
    assert deployed.get_state().values["log"] == first.get_state().values["log"]
    assert deployed.get_state().interrupts == first.get_state().interrupts != ()
    assert len(deployed.history()) == len(first.history())
    deployed.invoke(Command(resume="yes", update=missing))
    assert "yes" in deployed.get_state().values["log"]
    assert deployed.get_state().values.items() >= missing.items()


@changes
def test_an_update_mends_it_and_leaves_the_question_open(open_app, change):
    old, new, missing, _ = CHANGES[change]
    open_app(line(old)).invoke(INPUT)
    deployed = open_app(line(new))
    deployed.update_state(missing, as_node="draft")
    assert deployed.questions() == ["sure?"]
    assert deployed.invoke(Command(resume="yes"))["log"] == ["draft", "yes"]


@changes
def test_an_answer_that_came_before_is_handed_over_once_the_state_is_mended(open_app, change):
    old, new, missing, _ = CHANGES[change]
    open_app(line(old)).invoke(INPUT)
    deployed = open_app(line(new))
    with pytest.raises(StateChanged):
        deployed.invoke(Command(resume="yes"))
    deployed.update_state(missing, as_node="draft")
    assert deployed.invoke(None)["log"] == ["draft", "yes"]


@changes
def test_new_input_may_drop_the_question(open_app, change):
    old, new, missing, _ = CHANGES[change]
    open_app(line(old)).invoke(INPUT)
    deployed = open_app(line(new))
    assert "__interrupt__" in deployed.invoke({"log": [], **missing}, on_pending="discard")


@changes
def test_a_thread_whose_answer_stands_is_found_by_whoever_continues_such_threads(open_app, change):
    old, new, _, _ = CHANGES[change]
    first = open_app(line(old))
    first.invoke(INPUT)
    with pytest.raises(StateChanged):
        open_app(line(new)).invoke(Command(resume="yes"))
    continued = first._call("resume_answered")
    assert [result["log"] for result in continued.values()] == [["draft", "yes"]]
    assert first._call("resume_answered") == {}


def test_a_breakpoint_has_read_the_state(open_app):
    open_app(line(Model), interrupt_before=["ask"]).invoke(INPUT)
    with pytest.raises(StateChanged, match="currency"):
        open_app(line(ModelThatNeedsMore), interrupt_before=["ask"]).invoke(None)


def test_a_node_that_failed_has_read_the_state(open_app):
    def fail(state):
        raise LookupError("not today")

    def failing(state):
        return StateGraph(state).add_node("fail", fail).add_edge(START, "fail")

    with pytest.raises(LookupError):
        open_app(failing(Model)).invoke(INPUT)
    with pytest.raises(StateChanged, match="currency"):
        open_app(failing(ModelThatNeedsMore)).invoke(None)


@pytest.mark.parametrize("state", [ModelThatNeedsMore, RecordThatNeedsMore])
def test_a_state_that_never_fitted_is_refused_as_ever(open_app, state):
    app = open_app(line(state))
    expected = ValidationError if state is ModelThatNeedsMore else TypeError
    for _ in range(2):
        with pytest.raises(expected) as refused:
            app.invoke(INPUT)
        assert not isinstance(refused.value, ProgramChanged)


def test_a_node_that_makes_the_state_unfit_is_refused_as_ever(open_app):
    graph = StateGraph(NarrowerModel).add_node("draft", lambda state: {"amount": 5}).add_node(ask)
    app = open_app(graph.add_edge(START, "draft").add_edge("draft", "ask"))
    for input in ({"amount": []}, None):
        with pytest.raises(ValidationError) as refused:
            app.invoke(input)
        assert not isinstance(refused.value, ProgramChanged)


def test_an_update_that_does_not_fit_is_refused_as_ever(open_app):
    app = open_app(line(NarrowerModel))
    app.invoke({"amount": [120]})
    with pytest.raises(ValidationError):
        app.invoke(Command(resume="yes", update={"amount": 120}))
    with pytest.raises(ValidationError):
        app.update_state({"amount": 120}, as_node="draft")
    assert app.invoke(Command(resume="yes"))["log"] == ["draft", "yes"]


# Reducers


class Last(TypedDict):
    log: Any


class Added(TypedDict):
    log: Annotated[list, operator.add]


def asking(state):
    return StateGraph(state).add_node(ask).add_edge(START, "ask")


@pytest.mark.parametrize("stored", [5, None, "text", {"a": 1}])
def test_a_reducer_for_another_kind_of_value_is_noticed_and_the_answer_stands(open_app, stored):
    first, deployed = open_app(asking(Last)), open_app(asking(Added))
    first.invoke({"log": stored})
    for go_on in (Command(resume="yes"), None):
        with pytest.raises(StateChanged, match=f"'log' of the graph holds a value of type {type(stored).__name__}"):
            deployed.invoke(go_on)
    assert deployed.get_state().values == {"log": stored}
    assert first.invoke(None) == {"log": ["yes"]}


def test_a_value_that_the_reducer_is_not_for_can_be_replaced(open_app):
    open_app(asking(Last)).invoke({"log": 5})
    deployed = open_app(asking(Added))
    deployed.update_state({"log": Overwrite([5])}, as_node=START)
    assert deployed.invoke(Command(resume="yes")) == {"log": [5, "yes"]}


def test_a_write_that_a_reducer_cannot_take_is_refused_as_ever(open_app):
    app = open_app(asking(Added))
    with pytest.raises(TypeError) as refused:
        app.invoke({"log": 5})
    assert not isinstance(refused.value, ProgramChanged)


def test_keys_that_come_and_go_and_reducers_that_go_lose_nothing(open_app):
    class Both(TypedDict):
        log: Annotated[list, operator.add]
        amount: int

    first, deployed = open_app(asking(Both)), open_app(asking(Added))
    first.invoke({"log": ["old"], "amount": 5})
    assert deployed.get_state().values == {"log": ["old"]}
    assert deployed.invoke(Command(resume="yes")) == {"log": ["old", "yes"]}
    assert first.get_state().values == {"log": ["old", "yes"], "amount": 5}
