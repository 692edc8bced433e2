"""Answers in a given form: by a tool, or by what the provider of the model offers."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel, field_validator

from prebuilt.models import ScriptedModel
from signoff.agents import create_agent
from signoff.agents.middleware import after_model, wrap_model_call
from signoff.agents.structured_output import (
    AutoStrategy,
    MultipleStructuredOutputsError,
    ProviderStrategy,
    StructuredOutputValidationError,
    ToolStrategy,
)
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput

from .desk import LOOK, USER, Desk, call, calls, check_transcript, results, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Answer(BaseModel):
    """An answer."""

    text: str


class Question(BaseModel):
    about: str


def test_an_answer_in_a_given_form_by_a_tool(open_agent, desk):
    script = [calls(call("Answer", "c1", text="yes"))]
    app = open_agent(
        lambda saver: create_agent(scripted(*script), desk.tools, response_format=Answer, checkpointer=saver)
    )
    result = app.invoke(USER)
    assert result["structured_response"] == Answer(text="yes")
    check_transcript(result["messages"])


def test_an_answer_beside_other_calls_waits_for_them(desk):
    script = calls(call("Answer", "c1", text="yes"), LOOK)
    result = create_agent(scripted(script), desk.tools, response_format=Answer).invoke(USER)
    assert (result["structured_response"], desk.ran) == (Answer(text="yes"), ["look ana"])
    check_transcript(result["messages"])


def test_a_wrong_answer_is_told_to_the_model_and_a_second_turn_begins_anew():
    script = [calls(call("Answer", "c1", txt="?")), calls(call("Answer", "c2", text="yes")), "plain"]
    app = create_agent(scripted(*script), response_format=ToolStrategy(Answer), checkpointer=InMemorySaver())
    result = app.invoke(USER, CONFIG)
    assert "text" in results(result)["c1"]
    assert result["structured_response"] == Answer(text="yes")
    assert app.invoke(USER, CONFIG)["structured_response"] is None


def test_an_answer_in_a_form_that_middleware_has_asked_for_is_none_of_the_next_turn(desk):
    form = {"title": "answer", "type": "object", "properties": {"text": {"type": "string"}}}

    @wrap_model_call
    def ask(request, handler):
        is_first = len(request.messages) == 1
        return handler(request.override(response_format=ToolStrategy(form)) if is_first else request)

    script = [calls(call("answer", "c1", text="yes")), calls(LOOK), "looked"]
    app = create_agent(scripted(*script), desk.tools, middleware=[ask], checkpointer=InMemorySaver())
    assert app.invoke(USER, CONFIG)["structured_response"] == {"text": "yes"}
    result = app.invoke(USER, CONFIG)
    assert (result["structured_response"], result["messages"][-1].text) == (None, "looked")


def test_forms_are_called_by_their_titles_and_those_without_by_their_places():
    text, number = ({"type": "object", "properties": {kind: {"type": kind}}} for kind in ("string", "number"))
    both = ToolStrategy({"oneOf": [{"title": "words", **text}, number]})
    assert [spec.name for spec in both.schema_specs] == ["words", "response_2"]


@pytest.mark.parametrize("form", [Answer, AutoStrategy(Answer), {"title": "Answer", **Answer.model_json_schema()}])
def test_middleware_may_ask_for_a_bare_form(form):
    @wrap_model_call
    def ask(request, handler):
        return handler(request.override(response_format=form))

    app = create_agent(scripted(calls(call("Answer", "c1", text="yes"))), middleware=[ask])
    assert dict(app.invoke(USER)["structured_response"]) == {"text": "yes"}


def test_middleware_may_not_ask_for_what_is_no_form():
    @wrap_model_call
    def ask(request, handler):
        return handler(request.override(response_format="json"))

    with pytest.raises(InvalidInput, match="response_format is 'json'"):
        create_agent(scripted("ok"), middleware=[ask]).invoke(USER)


def test_two_answers_or_a_wrong_one_may_end_the_run():
    twice = calls(call("Answer", "c1", text="a"), call("Answer", "c2", text="b"))
    with pytest.raises(MultipleStructuredOutputsError):
        create_agent(scripted(twice), response_format=ToolStrategy(Answer, handle_errors=False)).invoke(USER)
    with pytest.raises(StructuredOutputValidationError):
        create_agent(scripted("no json"), response_format=ProviderStrategy(Answer)).invoke(USER)


@pytest.mark.parametrize("handle", ["again", ValueError, (KeyError, ValueError), lambda error: "again", True])
def test_what_the_model_is_told_of_a_wrong_answer(handle):
    script = [calls(call("Answer", "c1", txt="?")), calls(call("Answer", "c2", text="yes"))]
    result = create_agent(scripted(*script), response_format=ToolStrategy(Answer, handle_errors=handle)).invoke(USER)
    assert "again" in results(result)["c1"]


def test_an_async_function_for_wrong_answers_is_refused_at_once():
    async def handle(error: Exception) -> str:
        return "again"

    with pytest.raises(InvalidInput, match="handle_errors is async"):
        ToolStrategy(Answer, handle_errors=handle)  # type: ignore[arg-type]


def test_an_answer_in_a_given_form_by_the_provider():
    model = scripted('{"text": "yes"}')
    result = create_agent(model, Desk().tools, response_format=ProviderStrategy(Answer, strict=True)).invoke(USER)
    assert result["structured_response"] == Answer(text="yes")
    assert model.bound[0]["response_format"]["json_schema"]["strict"] is True


def test_an_answer_by_a_json_schema_or_one_of_several_forms():
    schema = {"title": "Answer", "type": "object", "properties": {"text": {"type": "string"}}}
    result = create_agent(scripted(calls(call("Answer", "c1", text="a"))), response_format=schema).invoke(USER)
    assert result["structured_response"] == {"text": "a"}

    said = scripted(calls(call("Question", "c1", about="x")))
    result = create_agent(said, response_format=ToolStrategy(Answer | Question)).invoke(USER)
    assert result["structured_response"] == Question(about="x")


TOWN: Any = {
    "title": "Town",
    "type": "object",
    "properties": {"people": {"type": "integer"}},
    "required": ["people"],
}
SHARED: Any = {
    "oneOf": [{"title": "Town", "type": "object", "properties": {"people": {"$ref": "#/$defs/count"}}}],
    "$defs": {"count": {"type": "integer"}},
}


@pytest.mark.parametrize("form", [TOWN, SHARED])
def test_an_answer_that_does_not_fit_a_json_schema_is_told_to_the_model(open_agent, form):
    script = [calls(call("Town", "c1", people="many")), calls(call("Town", "c2", people=5))]
    app = open_agent(lambda saver: create_agent(scripted(*script), response_format=form, checkpointer=saver))
    result = app.invoke(USER)
    assert "'many' is not of type 'integer'" in results(result)["c1"]
    assert result["structured_response"] == {"people": 5}


def test_an_answer_of_a_provider_that_does_not_fit_a_json_schema_ends_the_run():
    with pytest.raises(StructuredOutputValidationError, match="'many' is not of type 'integer'"):
        create_agent(scripted('{"people": "many"}'), response_format=ProviderStrategy(TOWN)).invoke(USER)


def test_what_is_no_json_schema_is_refused_before_anything_is_said():
    with pytest.raises(InvalidInput, match="cannot have the form .* 'number of people' is not"):
        create_agent(scripted("ok"), response_format={"title": "Town", "type": "number of people"})


class Known(BaseModel):
    """A code with a check of its own, which fails in its own way."""

    code: str

    @field_validator("code")
    @classmethod
    def known(cls, value: str) -> str:
        return {"a": "A"}[value]


@dataclass
class Few:
    """At most ten."""

    amount: int

    def __post_init__(self) -> None:
        if self.amount > 10:
            raise TypeError("too many")


WRONG_AND_RIGHT: Any = [(Known, {"code": "z"}, {"code": "a"}), (Few, {"amount": 20}, {"amount": 2})]


@pytest.mark.parametrize(("form", "wrong", "right"), WRONG_AND_RIGHT)
def test_whatever_a_check_of_a_form_raises_is_told_to_the_model(open_agent, form, wrong, right):
    script = [calls(call(form.__name__, "c1", **wrong)), calls(call(form.__name__, "c2", **right))]
    app = open_agent(lambda saver: create_agent(scripted(*script), response_format=form, checkpointer=saver))
    result = app.invoke(USER)
    assert "Answer again" in results(result)["c1"]
    assert result["structured_response"] == form(**right)


@pytest.mark.parametrize(("form", "wrong", "right"), WRONG_AND_RIGHT)
def test_whatever_a_check_raises_of_what_a_provider_answers_says_which_form_it_is(form, wrong, right):
    with pytest.raises(StructuredOutputValidationError, match=form.__name__):
        create_agent(scripted(json.dumps(wrong)), response_format=ProviderStrategy(form)).invoke(USER)


@dataclass
class Note:
    text: str


class Row(TypedDict):
    text: str


@pytest.mark.parametrize("form", [Answer, Note, Row])
def test_an_answer_has_the_type_of_its_form(form):
    said = scripted(calls(call(form.__name__, "c1", text="a")), '{"text": "b"}')
    assert create_agent(said, response_format=form).invoke(USER)["structured_response"] == form(text="a")
    provided = create_agent(said, response_format=ProviderStrategy(form)).invoke(USER)
    assert provided["structured_response"] == form(text="b")


def test_one_of_several_forms_is_for_tools_also_where_the_provider_knows_forms():
    model = scripted(calls(call("Question", "c1", about="x")), profile={"structured_output": True})
    result = create_agent(model, response_format=Answer | Question).invoke(USER)
    assert result["structured_response"] == Question(about="x")


class Named(ScriptedModel):
    model: str
    profile: Any = {"structured_output": True}


@pytest.mark.parametrize(
    ("name", "has_tools", "is_provided"),
    [
        ("gemini-2.5-flash", True, False),
        ("models/gemini-flash-latest", True, False),
        ("gemini-2.5-flash", False, True),
        ("gemini-3-pro", True, True),
        ("other-2", True, True),
    ],
)
def test_a_provider_that_knows_forms_only_without_tools_is_not_asked_for_both(name, has_tools, is_provided):
    answer: Any = AIMessage('{"text": "yes"}') if is_provided else calls(call("Answer", "c1", text="yes"))
    tools = Desk().tools if has_tools else []
    app = create_agent(Named(model=name, script=[answer]), tools, response_format=Answer)
    assert app.invoke(USER)["structured_response"] == Answer(text="yes")


def test_forms_without_a_title_are_told_apart_by_their_place():
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    number = {"type": "object", "properties": {"number": {"type": "integer"}}}
    model = scripted(calls(call("response_2", "c1", number=7)))
    assert create_agent(model, response_format={"oneOf": [text, number]}).invoke(USER)["structured_response"] == {
        "number": 7
    }


class Plain:
    text: str


@pytest.mark.parametrize("form", [list[Answer], Answer | None, Plain, int])
@pytest.mark.parametrize("strategy", [lambda form: form, AutoStrategy, ToolStrategy, ProviderStrategy])
def test_a_form_without_fields_is_refused_before_anything_is_said(form, strategy):
    with pytest.raises(InvalidInput, match="named fields"):
        create_agent(scripted("ok"), response_format=strategy(form))


def test_a_provider_takes_one_form():
    with pytest.raises(InvalidInput, match="ToolStrategy"):
        ProviderStrategy(Answer | Question)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("strategy", "answer", "told"),
    [
        (ToolStrategy, calls(call("Answer", "c9", text="yes")), "There is no tool look. The tools are: Answer."),
        (ProviderStrategy, '{"text": "yes"}', "There is no tool look: you have none."),
    ],
)
def test_a_model_that_calls_a_tool_of_an_agent_without_any_is_told_so(strategy, answer, told, is_async):
    app = create_agent(scripted(calls(LOOK), answer), response_format=strategy(Answer))
    result = asyncio.run(app.ainvoke(USER)) if is_async else app.invoke(USER)
    assert result["structured_response"] == Answer(text="yes")
    assert results(result)[LOOK["id"]] == told
    check_transcript(result["messages"])


def test_a_call_beside_the_answer_of_an_agent_without_tools_is_answered():
    app = create_agent(scripted(calls(call("Answer", "c9", text="yes"), LOOK)), response_format=Answer)
    result = app.invoke(USER)
    assert result["structured_response"] == Answer(text="yes")
    check_transcript(result["messages"])


def test_without_a_form_such_a_call_ends_the_run_whatever_hooks_there_are():
    model = scripted(calls(LOOK), "never said")
    result = create_agent(model, middleware=[after_model(lambda state, runtime: None)]).invoke(USER)
    assert [message.type for message in result["messages"]] == ["human", "ai"]
