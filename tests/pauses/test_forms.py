"""Promise 6: a bad answer is refused before anything is changed; what is asked for is published with the question."""

import threading
from copy import copy
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Annotated, Literal, NamedTuple, TypedDict
from unittest.mock import Mock, patch
from uuid import UUID, uuid4

import pytest
from jsonschema import Draft202012Validator
from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    PositiveInt,
    SecretStr,
    computed_field,
    field_validator,
    model_validator,
)

from signoff import forms
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, InvalidInput, NotStorable
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, Log, Works, asking, beside, line


class Model(BaseModel):
    amount: PositiveInt
    note: str = ""


class Dict(TypedDict):
    amount: int


@dataclass
class Data:
    amount: int


SCHEMA = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}

KINDS = [
    pytest.param(Model, {"amount": 5}, Model(amount=5), {"amount": -5}, "less than or equal to|minimum", id="model"),
    pytest.param(Dict, {"amount": 5}, {"amount": 5}, {"amount": "five"}, "not of type 'integer'", id="TypedDict"),
    pytest.param(Data, {"amount": 5}, Data(5), {"sum": 5}, "'amount' is a required property", id="dataclass"),
    pytest.param(bool, False, False, "maybe", "not of type 'boolean'", id="plain type"),
    pytest.param(list[int], [1, 2], [1, 2], [1, "x"], r"answer\[1\]", id="generic type"),
    pytest.param(Annotated[int, Field(ge=1, le=9)], 5, 5, 12, "maximum", id="constraints"),
    pytest.param(Literal["yes", "no"], "no", "no", "perhaps", "not one of", id="choices"),
    pytest.param(int | None, None, None, "x", "not valid under any", id="optional"),
    pytest.param(SCHEMA, {"amount": 5}, {"amount": 5}, {}, "'amount' is a required property", id="JSON Schema"),
]


def noting(form):
    """A node that asks, and notes what it gets as text, so that nothing needs to be registered."""

    def ask(state):
        return {"log": [repr(interrupt("how much?", response_schema=form))]}

    return ask


@pytest.mark.parametrize(("form", "right", "typed", "wrong", "why"), KINDS)
def test_a_wrong_answer_is_refused_and_the_right_one_is_typed(open_app, form, right, typed, wrong, why):
    app = open_app(beside(ask=noting(form)))
    app.invoke(NEW)
    before = app.get_state()
    with pytest.raises(InvalidAnswer, match=why):
        app.invoke(Command(resume=wrong))
    assert app.get_state() == before
    assert app.invoke(Command(resume=right)) == {"log": [repr(typed)]}


def test_a_form_is_published_with_the_question(open_app):
    app = open_app(beside(ask=noting(Model)))
    told = app.invoke(NEW)["__interrupt__"][0].response_schema
    assert told["properties"]["amount"]["exclusiveMinimum"] == 0
    assert told == app.get_state().interrupts[0].response_schema == app.filed()[0].interrupt.response_schema


class Size(Enum):
    SMALL = "s"


class Strict(BaseModel, strict=True):
    day: date
    sizes: tuple[Size, ...] = ()


class Pair(NamedTuple):
    amount: int
    size: Size


class Renamed(BaseModel):
    amount: int = Field(validation_alias="theAmount")
    note: str = Field("", validation_alias=AliasChoices("theNote", "said"), serialization_alias="noteSaid")


class Renaming(BaseModel, extra="allow"):
    first: Renamed
    rest: dict[str, tuple[Renamed, ...]] = {}


class Counted(BaseModel, extra="forbid"):
    amount: int

    @computed_field
    def twice(self) -> int:
        return 2 * self.amount


RENAMED = Renamed(theAmount=5, theNote="x")

INSTANCES = [
    pytest.param(Model, Model(amount=5, note="x"), id="model"),
    pytest.param(Data, Data(5), id="dataclass"),
    pytest.param(Size, Size.SMALL, id="Enum"),
    pytest.param(list[Data], [Data(5), Data(6)], id="several"),
    pytest.param(dict[str, Size], {"shirt": Size.SMALL}, id="several by name"),
    pytest.param(Pair, Pair(5, Size.SMALL), id="NamedTuple"),
    pytest.param(Strict, Strict(day=date(2026, 1, 2), sizes=(Size.SMALL,)), id="strict"),
    pytest.param(Renamed, RENAMED, id="read by other names"),
    pytest.param(Renaming, Renaming(first=RENAMED, rest={"a": (RENAMED,)}, more=[1]), id="read by other names inside"),
    pytest.param(Counted, Counted(amount=5), id="computed"),
]


@pytest.mark.parametrize(("form", "answer"), INSTANCES)
def test_an_answer_that_is_the_type_already_is_taken(open_app, form, answer):
    """Though no saver knows the class: what is stored is what a page would have sent."""
    app = open_app(beside(ask=noting(form)))
    app.invoke(NEW)
    assert app.invoke(Command(resume=answer)) == {"log": [repr(answer)]}


@pytest.mark.parametrize("holder", [[], {}], ids=["list", "dict"])
def test_an_answer_that_holds_itself_is_refused(open_app, holder):
    app = open_app(beside(ask=noting(list | dict)))
    app.invoke(NEW)
    answer = copy(holder)
    answer.append(answer) if isinstance(answer, list) else answer.update(me=answer)
    with pytest.raises(InvalidAnswer, match="is still open"):
        app.invoke(Command(resume=answer))


def test_a_strict_form_takes_what_a_page_sends(open_app):
    app = open_app(beside(ask=noting(Strict)))
    app.invoke(NEW)
    assert app.invoke(Command(resume={"day": "2026-01-02", "sizes": ["s"]})) == {
        "log": [repr(Strict(day=date(2026, 1, 2), sizes=(Size.SMALL,)))]
    }


class Login(BaseModel):
    password: SecretStr


@dataclass
class Odd:
    thing: threading.Event


@pytest.mark.parametrize("answer", [Login(password=SecretStr("hush")), Odd(threading.Event())], ids=["secret", "odd"])
def test_an_answer_that_would_be_another_one_as_data_is_not_stored_as_data(open_app, answer):
    app = open_app(beside(ask=noting({"type": ["object", "string"]})))
    app.invoke(NEW)
    with pytest.raises(NotStorable, match="register"):
        app.invoke(Command(resume=answer))
    assert len(app.get_state().interrupts) == 1


class Even(BaseModel):
    number: int

    @model_validator(mode="after")
    def is_even(self):
        if self.number % 2:
            raise ValueError("must be even")
        return self


def test_what_only_the_type_knows_is_refused_and_the_question_stays_open(open_app):
    works = Works()
    app = open_app(line(ask=noting(Even), after=works.node("after")))
    app.invoke(NEW)
    for _ in range(2):
        with pytest.raises(InvalidAnswer, match="must be even"):
            app.invoke(Command(resume={"number": 3}))
        assert app.questions() == ["how much?"]
        assert [question.value for question in app.filed()] == ["how much?"]
    assert works.done == {}
    assert app.invoke(Command(resume={"number": 4})) == {"log": ["Even(number=4)", "after"]}
    assert app.filed() == []


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_command_tells_beside_an_answer_that_is_refused_is_taken_back(open_app, durability):
    app = open_app(line(before=Works().node("before"), ask=noting(Even)))
    app.invoke(NEW)
    for _ in range(2):
        with pytest.raises(InvalidAnswer, match="must be even"):
            app.invoke(Command(resume={"number": 3}, update={"log": ["told"]}), durability=durability)
        assert (app.get_state().values, app.get_state().next) == ({"log": ["before"]}, ("ask",))
    result = app.invoke(Command(resume={"number": 4}, update={"log": ["told"]}), durability=durability)
    assert result == {"log": ["before", "told", "Even(number=4)"]}


def test_what_a_command_tells_stays_if_something_was_done_about_it_before_its_answer_was_refused(open_app):
    works = Works()

    @task
    def heed(log):
        works.node("heed")(log)

    def ask(state):
        if state["log"]:
            heed(state["log"]).result()
        return noting(Even)(state)

    app = open_app(line(ask=ask))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="must be even"):
        app.invoke(Command(resume={"number": 3}, update={"log": ["told"]}))
    assert app.get_state().values == {"log": ["told"]}
    assert app.invoke(Command(resume={"number": 4})) == {"log": ["told", "Even(number=4)"]}
    assert works.done == {"heed": 1}


def test_what_only_the_type_knows_is_refused_in_a_nested_graph_and_in_a_call(open_app):
    @task
    def confirm():
        return repr(interrupt("how much?", response_schema=Even))

    inner = beside(ask=lambda state: {"log": [confirm().result()]}).compile()
    app = open_app(beside(inner=inner))
    assert app.ask(NEW) == ["how much?"]
    with pytest.raises(InvalidAnswer, match="must be even"):
        app.invoke(Command(resume={"number": 3}))
    assert app.questions() == ["how much?"]
    assert app.invoke(Command(resume={"number": 4})) == {"log": ["Even(number=4)"]}


def test_a_refused_answer_does_not_open_the_one_beside_it_again(open_app):
    """Two branches are answered in one call; only one of the answers is good."""
    app = open_app(beside(good=asking("good"), bad=noting(Even)))
    app.invoke(NEW)
    ids = app.ids()
    with pytest.raises(InvalidAnswer, match="must be even"):
        app.invoke(Command(resume={ids["good"]: "yes", ids["how much?"]: {"number": 3}}))
    open_now = app.questions()
    assert "how much?" in open_now
    assert sorted(question.value for question in app.filed()) == sorted(open_now), "the index says what is open"


def test_a_node_that_catches_the_refusal_does_not_get_away_with_it(open_app):
    def careful(state):
        try:
            return {"log": [repr(interrupt("how much?", response_schema=Even))]}
        except Exception:
            return {"log": ["swallowed"]}

    app = open_app(beside(careful=careful))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="must be even"):
        app.invoke(Command(resume={"number": 3}))
    assert app.questions() == ["how much?"]


def test_a_form_that_is_none_is_said_at_the_call(open_app):
    app = open_app(beside(ask=asking(response_schema={"type": "nonsense"})))
    with pytest.raises(InvalidInput, match="response_schema is not a JSON Schema"):
        app.invoke(NEW)


class Named(BaseModel):
    name: str = Field(pattern=r"^\p{L}+$")


def test_a_pattern_that_only_pydantic_reads_is_checked_by_it(open_app):
    app = open_app(beside(ask=noting(Named)))
    asked = app.invoke(NEW)["__interrupt__"][0].response_schema
    assert asked["properties"]["name"]["pattern"] == r"^\p{L}+$"
    with pytest.raises(InvalidAnswer, match="should match pattern"):
        app.invoke(Command(resume={"name": "12"}))
    assert app.invoke(Command(resume={"name": "Zoë"})) == {"log": [repr(Named(name="Zoë"))]}


def test_a_part_of_an_answer_whose_pattern_only_pydantic_reads_is_checked_without_it():
    form = forms.published(Named)
    assert forms.refusal(form, "Zoë", form["properties"]["name"]) is None
    assert "is not of type 'string'" in str(forms.refusal(form, 5, form["properties"]["name"]))


def test_a_pattern_that_nobody_reads_is_said_at_the_call(open_app):
    app = open_app(beside(ask=asking(response_schema={"type": "string", "pattern": r"^\p{L}+$"})))
    with pytest.raises(InvalidInput, match=r"re.compile\(\)"):
        app.invoke(NEW)


def test_an_answer_may_have_a_field_that_is_called_pattern(open_app):
    form = {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}
    app = open_app(beside(ask=noting(form)))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume={"pattern": 1}))
    assert app.invoke(Command(resume={"pattern": "["})) == {"log": [repr({"pattern": "["})]}


def test_a_typed_question_of_an_entrypoint(open_app):
    def program(saver):
        @entrypoint(checkpointer=saver)
        def flow(text):
            return interrupt("age?", response_schema=PositiveInt)

        return flow

    app = open_app(program)
    app.invoke("x")
    with pytest.raises(InvalidAnswer, match="-1"):
        app.invoke(Command(resume=-1))
    assert app.invoke(Command(resume=30)) == 30


def test_a_form_itself_is_looked_at_once_however_many_questions_have_it():
    form = {"type": "integer", "title": "looked at once"}

    @entrypoint(checkpointer=InMemorySaver())
    def flow(text):
        return interrupt("age?", response_schema=form)

    def ask_and_answer(thread_id):
        config = {"configurable": {"thread_id": thread_id}}
        flow.invoke("x", config)
        assert flow.invoke(Command(resume=30), config) == 30

    looks = Mock(wraps=Draft202012Validator.check_schema)
    with patch.object(Draft202012Validator, "check_schema", looks):
        for thread_id in ("1", "2", "3"):
            ask_and_answer(thread_id)
    assert looks.call_count == 1


CHANGED_FORMS = {
    "another type": (int, str, 5, "5"),
    "a form where there was none": (None, {"type": "integer"}, "yes", 5),
    "another schema": ({"type": "string"}, {"type": "integer"}, "yes", 5),
}


@pytest.mark.parametrize("case", CHANGED_FORMS)
def test_an_answer_must_fit_the_form_that_the_code_has_now(open_app, case):
    old, new, answer, right = CHANGED_FORMS[case]
    open_app(beside(ask=asking(response_schema=old))).invoke(NEW)
    deployed = open_app(beside(ask=asking(response_schema=new)))
    with pytest.raises(InvalidAnswer, match=r'asked with another form .* on_changed="accept"'):
        deployed.invoke(Command(resume=answer))
    assert deployed.questions() == ["sure?"]
    assert deployed.invoke(Command(resume=right), on_changed="accept") == {"log": [right]}


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (["yes", "no"], r'\{"enum": \[\.\.\.\]\}'),
        (Model(amount=5), "Give its class: Model"),
        (Data(5), "Give its class: Data"),
        (lambda answer: answer > 0, "is a function"),
        ({"amount": int}, "no keyword of JSON Schema"),
        ({"approved": "boolean"}, "no keyword of JSON Schema"),
        ({"amount": {"type": "integer"}}, "no keyword of JSON Schema"),
    ],
    ids=["list", "object of a model", "object of a dataclass", "function", "types", "names of types", "fields"],
)
def test_a_form_that_would_take_everything_or_nothing_is_refused_as_it_is_asked(form, words):
    app = line(ask=noting(form)).compile(InMemorySaver())
    with pytest.raises(InvalidInput, match=f"^response_schema=.*{words}"):
        app.invoke(NEW, {"configurable": {"thread_id": "1"}})
    assert app.get_state({"configurable": {"thread_id": "1"}}).interrupts == ()


@pytest.mark.parametrize("form", [{}, {"title": "Anything"}, {"x-widget": "slider"}, {"$comment": "all"}], ids=str)
def test_a_form_may_say_on_purpose_that_all_is_welcome(form):
    app = line(ask=noting(form)).compile(InMemorySaver())
    assert app.invoke(NEW, {"configurable": {"thread_id": "1"}})["__interrupt__"][0].response_schema == form


@pytest.mark.parametrize("reference", ["#", "#/nowhere", "#anchor"])
def test_an_answer_to_a_form_that_refers_to_nothing_is_refused(reference):
    app = line(ask=noting({"$ref": reference})).compile(InMemorySaver())
    app.invoke(NEW, {"configurable": {"thread_id": "1"}})
    with pytest.raises(InvalidAnswer, match="form refers to .* still open"):
        app.invoke(Command(resume=True), {"configurable": {"thread_id": "1"}})


def test_an_answer_that_is_no_dict_is_told_what_is_wanted_in_one():
    app = line(ask=noting(Model)).compile(InMemorySaver())
    app.invoke(NEW, {"configurable": {"thread_id": "1"}})
    with pytest.raises(InvalidAnswer, match=r"True is not of type 'object' \(give a dict with 'amount'\)"):
        app.invoke(Command(resume=True), {"configurable": {"thread_id": "1"}})


def test_a_question_that_an_older_program_asked_with_such_a_form_can_still_be_answered(monkeypatch):
    app = line(ask=noting({"approved": "boolean"})).compile(InMemorySaver())
    with monkeypatch.context() as older:
        older.setattr("signoff.forms.asked.check_asked", lambda schema: None)
        app.invoke(NEW, {"configurable": {"thread_id": "1"}})
    assert app.invoke(Command(resume=True), {"configurable": {"thread_id": "1"}}) == {"log": ["True"]}


def test_a_form_that_refers_to_another_place_fetches_nothing(open_app):
    asked = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        form = {"$ref": f"http://127.0.0.1:{server.server_port}/form.json"}
        app = open_app(beside(ask=asking("pay?", response_schema=form)))
        app.invoke(NEW)
        with pytest.raises(InvalidAnswer, match="refers to what is not there"):
            app.invoke(Command(resume="yes"))
        server.shutdown()
    assert (asked, app.questions()) == ([], ["pay?"])


class TooMuch(Exception):
    """No ValueError."""


@dataclass
class Limited:
    amount: int

    def __post_init__(self):
        if self.amount > 100:
            raise TooMuch("more than 100")


class Compared(BaseModel):
    amount: int | None

    @field_validator("amount")
    @classmethod
    def is_small(cls, amount):
        assert amount < 100
        return amount


@pytest.mark.parametrize(("form", "wrong"), [(Limited, 500), (Compared, None)])
def test_a_check_that_fails_in_a_way_of_its_own_refuses_the_answer(open_app, form, wrong):
    def ask(state):
        return {"log": [interrupt("how much?", response_schema=form).amount]}

    app = open_app(beside(ask=ask))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="TooMuch|TypeError"):
        app.invoke(Command(resume={"amount": wrong}))
    assert app.questions() == ["how much?"]
    assert app.invoke(Command(resume={"amount": 50})) == {"log": [50]}


class Order(BaseModel):
    amount: int
    id: str = Field(default_factory=lambda: uuid4().hex)


@dataclass
class OrderData:
    amount: int
    id: UUID = field(default_factory=uuid4)


MAKING = [
    (Order, {"amount": 5}),
    (OrderData, {"amount": 5}),
    (Order | None, {"amount": 5}),
    (list[Order], [{"amount": 5}]),
    (dict[str, OrderData], {"Ana": {"amount": 5}}),
]


def paying(form):
    """What asks for an order, and then twice whether to pay for that."""

    def pay(state=None):
        order = repr(interrupt("what?", key="what", response_schema=form))
        interrupt(f"pay {order}?", key="sure")
        interrupt(f"really pay {order}?", key="really")
        return {"log": [order]}

    return pay


def orders_in(app, answer):
    """The orders that an app asks about, and the one that is done."""
    app.invoke(NEW)
    [sure] = app.invoke(Command(resume={"what": answer}))["__interrupt__"]
    [really] = app.invoke(Command(resume={"sure": "yes"}))["__interrupt__"]
    done = app.invoke(Command(resume={"really": "yes"}))
    return sure.value[4:-1], really.value[11:-1], done["log"][-1]


@pytest.mark.parametrize(("form", "answer"), MAKING)
def test_what_a_form_makes_is_made_once(open_app, form, answer):
    assert len({*orders_in(open_app(line(pay=paying(form))), answer)}) == 1


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_so_it_is_beside_others(open_app, pause):
    works = Works()
    graph = beside(pay=paying(Order), look=works.node("look")).add_node("after", works.node("after"))
    app = open_app(graph.add_edge("look", "after"), pause=pause)
    app.invoke(NEW)
    asked = [app.invoke(Command(resume={"what": {"amount": 5}}))["__interrupt__"][0].value]
    asked.append(app.invoke(Command(resume={"sure": "yes"}))["__interrupt__"][0].value)
    log = app.invoke(Command(resume={"really": "yes"}))["log"]
    assert {asked[0][4:-1], asked[1][11:-1]} <= {*log}


def test_so_it_is_in_a_call_and_in_a_nested_graph(open_app):
    called = task(paying(Order))
    assert len({*orders_in(open_app(line(pay=lambda state: called({}).result())), {"amount": 5})}) == 1
    inner = line(pay=paying(Order)).compile()
    assert len({*orders_in(open_app(line(inner=inner)), {"amount": 5})}) == 1


def test_so_it_is_if_the_task_fails_in_between(open_app):
    seen = []

    def pay(state):
        seen.append(interrupt("what?", response_schema=Order).id)
        if len(seen) < 3:
            raise ValueError("no line")
        return {"log": seen[-1:]}

    app = open_app(line(pay=pay))
    app.invoke(NEW)
    for given in (Command(resume={"amount": 5}), None):
        with pytest.raises(ValueError, match="no line"):
            app.invoke(given)
    assert app.invoke(None)["log"] == seen[:1]
    assert len({*seen}) == 1


def test_so_it_is_if_the_task_is_tried_again(open_app):
    seen = []

    def pay(state):
        order = interrupt("what?", response_schema=Order)
        seen.append(order.id)
        if len(seen) < 2:
            raise ConnectionError("no line")
        interrupt("sure?", key="sure")
        return {"log": [order.id]}

    graph = (
        StateGraph(Log).add_node(pay, retry_policy=RetryPolicy(initial_interval=0, jitter=False)).add_edge(START, "pay")
    )
    app = open_app(graph)
    app.invoke(NEW)
    app.invoke(Command(resume={"amount": 5}))
    assert app.invoke(Command(resume="yes"))["log"] == seen[:1]
    assert len({*seen}) == 1


def test_another_form_by_now_makes_of_the_answer_what_it_can(open_app):
    class Closed(BaseModel, extra="forbid"):
        amount: int
        number: int = Field(default_factory=lambda: 7)

    forms_now = [Order, Order, Closed]

    def pay(state):
        order = interrupt("what?", key="what", response_schema=forms_now.pop(0))
        interrupt("sure?", key="sure")
        return {"log": [repr(order)]}

    app = open_app(line(pay=pay))
    app.invoke(NEW)
    app.invoke(Command(resume={"amount": 5}))
    assert app.invoke(Command(resume="yes"))["log"] == ["Closed(amount=5, number=7)"]
