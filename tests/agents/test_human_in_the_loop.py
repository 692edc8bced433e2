"""Three tools in parallel, two need approval (scenario 24)."""

from asyncio import sleep
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool, Tool
from pydantic import BaseModel, Field
from pydantic import v1 as old

from signoff.agents import create_agent
from signoff.agents.inlining import inlined
from signoff.agents.middleware import HumanInTheLoopMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, InvalidGraph, InvalidInput
from signoff.inbox import Inbox
from signoff.types import Command

from .desk import (
    APPROVE,
    MAIL,
    PAY,
    THREE,
    USER,
    WATCHED,
    call,
    calls,
    check_transcript,
    decide,
    edit,
    records,
    reject,
    respond,
    results,
    scripted,
    tool_messages,
)


@pytest.fixture
def open_desk(open_in_all_ways, desk):
    """An agent whose model wants three tools at once."""
    return opening_desk(open_in_all_ways, desk)


@pytest.fixture
def open_quick_desk(open_agent, desk):
    """The same in fewer ways."""
    return opening_desk(open_agent, desk)


def opening_desk(open_app: Any, desk: Any) -> Any:
    def open_desk(*wanted: Any, watched: Any = WATCHED, mode: Any = "batched", **options: Any) -> Any:
        script = calls(*wanted, id="ai-1") if wanted else THREE

        def make(saver: Any) -> Any:
            watch = HumanInTheLoopMiddleware(watched, interrupt_mode=mode)
            return create_agent(scripted(script), desk.tools, middleware=[watch], checkpointer=saver, **options)

        return open_app(make)

    return open_desk


def test_one_question_for_both_and_the_third_tool_is_not_held_up(open_desk, desk):
    app = open_desk()
    (question,) = app.invoke(USER)["__interrupt__"]
    assert [action["name"] for action in question.value["action_requests"]] == ["pay", "mail"]
    assert [action["args"] for action in question.value["action_requests"]] == [PAY["args"], MAIL["args"]]
    assert question.value["action_requests"][1]["description"] == "Write?"
    reviews = question.value["review_configs"]
    assert [review["allowed_decisions"] for review in reviews] == [
        ["approve", "edit", "reject", "respond"],
        ["approve", "reject"],
    ]
    assert desk.ran == ["look ana"]


def test_approved_calls_run_as_they_were_shown(open_desk, desk):
    app = open_desk()
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(APPROVE, APPROVE), by="eva"))
    assert sorted(desk.ran) == ["look ana", "mail bo", "pay 5 ana"]
    assert results(result) == {"c1": "paid 5 to ana", "c2": "found ana", "c3": "wrote to bo"}
    assert {id: (record["type"], record["by"]) for id, record in records(result).items()} == {
        "c1": ("approve", "eva"),
        "c3": ("approve", "eva"),
    }
    check_transcript(result["messages"])


def test_the_schema_of_the_arguments_is_published_from_the_tool(open_quick_desk):
    (question,) = open_quick_desk().invoke(USER)["__interrupt__"]
    schema = question.value["review_configs"][0]["args_schema"]
    assert schema["properties"]["amount"]["type"] == "integer"
    assert schema["required"] == ["amount", "to"]


def test_the_transcript_shows_what_was_proposed_what_ran_and_that_a_person_changed_it(open_desk, desk):
    app = open_desk(PAY)
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(edit("pay", amount=4, to="eva"))))
    assert desk.ran == ["pay 4 eva"]
    assert result["messages"][1].tool_calls[0]["args"] == {"amount": 5, "to": "ana"}
    assert "A person changed this call" in results(result)["c1"]
    assert results(result)["c1"].endswith("paid 4 to eva")
    assert records(result)["c1"]["proposed"] == {"name": "pay", "args": {"amount": 5, "to": "ana"}}
    assert records(result)["c1"]["ran"] == {"name": "pay", "args": {"amount": 4, "to": "eva"}}


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_what_was_shown_of_a_call_may_be_handed_back_with_other_arguments(open_desk, desk, mode):
    app = open_desk(PAY, mode=mode)
    (question,) = app.invoke(USER)["__interrupt__"]
    shown = question.value if mode == "per_call" else question.value["action_requests"][0]
    change = {key: shown[key] for key in ("name", "args", "description")}
    change["args"] = {"amount": 4, "to": "eva"}
    edited = {"type": "edit", "edited_action": change}
    result = app.invoke(Command(resume={question.id: edited} if mode == "per_call" else decide(edited)))
    assert desk.ran == ["pay 4 eva"]
    assert records(result)["c1"]["ran"] == {"name": "pay", "args": {"amount": 4, "to": "eva"}}


def test_a_rejected_call_never_runs_and_the_model_is_told_once(open_desk, desk):
    app = open_desk()
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(reject("too much"), APPROVE)))
    assert sorted(desk.ran) == ["look ana", "mail bo"]
    assert "too much" in results(result)["c1"]
    assert results(result)["c2"] == "found ana"
    assert results(result)["c3"] == "wrote to bo"
    check_transcript(result["messages"])


def test_a_response_is_the_result_of_the_call(open_quick_desk, desk):
    app = open_quick_desk(PAY)
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(respond("Paid by hand."))))
    assert desk.ran == []
    assert results(result) == {"c1": "Paid by hand."}


WRONG = {
    "one decision for two calls": decide(APPROVE),
    "three decisions for two calls": decide(APPROVE, APPROVE, APPROVE),
    "a decision that is not allowed": decide(APPROVE, respond("no")),
    "a decision that does not exist": decide({"type": "accept"}, APPROVE),
    "an edit without an action": decide({"type": "edit"}, APPROVE),
    "an edit to a tool that does not exist": decide(edit("steal", amount=1), APPROVE),
    "an edit with arguments that do not fit": decide(edit("pay", amount="much", to="ana"), APPROVE),
    "an edit with an argument that the tool does not have": decide(edit("pay", amount=1, to="a", fast=True), APPROVE),
    "an edit to another tool with arguments that do not fit it": decide(edit("close", number="B1"), APPROVE),
    "a word": "approve",
    "nothing": None,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_decision_is_refused_and_a_right_one_is_taken_afterwards(open_quick_desk, desk, wrong):
    app = open_quick_desk()
    asked = app.invoke(USER)["__interrupt__"]
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume=wrong))
    assert list(app.get_state().interrupts) == asked
    assert desk.ran == ["look ana"]
    result = app.invoke(Command(resume=decide(APPROVE, reject())))
    assert sorted(desk.ran) == ["look ana", "pay 5 ana"]
    check_transcript(result["messages"])


def test_a_check_that_only_the_tool_can_make_is_made_before_the_answer_is_taken(open_quick_desk, desk):
    app = open_quick_desk(call("close", "c1", number="A1"), watched={"close": True})
    asked = app.invoke(USER)["__interrupt__"]
    with pytest.raises(InvalidAnswer, match="accounts begin with A"):
        app.invoke(Command(resume=decide(edit("close", number="B7"))))
    assert list(app.get_state().interrupts) == asked
    app.invoke(Command(resume=decide(edit("close", number="A7"))))
    assert desk.ran == ["close A7"]


def test_an_edit_to_another_tool_needs_the_approval_of_that_tool(open_desk, desk):
    app = open_desk(PAY)
    app.invoke(USER)
    (again,) = app.invoke(Command(resume=decide(edit("mail", to="ana"))))["__interrupt__"]
    assert [(one["name"], one["args"]) for one in again.value["action_requests"]] == [("mail", {"to": "ana"})]
    assert desk.ran == []
    result = app.invoke(Command(resume=decide(APPROVE)))
    assert desk.ran == ["mail ana"]
    record = records(result)["c1"]
    assert (record["type"], record["ran"]["name"], record["then"]["type"]) == ("edit", "mail", "approve")
    check_transcript(result["messages"])


def test_an_edit_to_another_tool_that_is_then_rejected_runs_nothing(open_quick_desk, desk):
    app = open_quick_desk(PAY)
    app.invoke(USER)
    app.invoke(Command(resume=decide(edit("mail", to="ana"))))
    result = app.invoke(Command(resume=decide(reject("neither"))))
    assert desk.ran == []
    assert "neither" in results(result)["c1"]
    assert "ran" not in records(result)["c1"]
    assert "in its place" not in results(result)["c1"]


# One question a call


def test_each_call_is_a_question_of_its_own(open_desk, desk):
    app = open_desk(mode="per_call")
    pay, mail = app.invoke(USER)["__interrupt__"]
    assert [(q.value["type"], q.value["tool_call_id"], q.value["name"]) for q in (pay, mail)] == [
        ("tool_approval", "c1", "pay"),
        ("tool_approval", "c3", "mail"),
    ]
    assert desk.ran == ["look ana"]
    (left,) = app.invoke(Command(resume={mail.id: APPROVE}))["__interrupt__"]
    assert left == pay
    assert desk.ran == ["look ana", "mail bo"]
    result = app.invoke(Command(resume={pay.id: reject("no")}))
    assert desk.ran == ["look ana", "mail bo"]
    check_transcript(result["messages"])


def test_a_wrong_decision_on_one_call_leaves_both_questions_open(open_quick_desk, desk):
    app = open_quick_desk(mode="per_call")
    pay, mail = app.invoke(USER)["__interrupt__"]
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume={pay.id: APPROVE, mail.id: respond("no")}))
    assert list(app.get_state().interrupts) == [pay, mail]
    app.invoke(Command(resume={pay.id: edit("pay", amount=1, to="bo"), mail.id: APPROVE}))
    assert sorted(desk.ran) == ["look ana", "mail bo", "pay 1 bo"]


def test_an_edit_to_another_tool_asks_again_in_the_same_shape(open_quick_desk, desk):
    app = open_quick_desk(PAY, mode="per_call")
    app.invoke(USER)
    (again,) = app.invoke(Command(resume=edit("mail", to="ana")))["__interrupt__"]
    assert (again.value["type"], again.value["name"]) == ("tool_approval", "mail")
    app.invoke(Command(resume=APPROVE))
    assert desk.ran == ["mail ana"]


# Who is asked about what


def test_a_description_may_be_a_function_of_the_call_the_state_and_the_runtime(open_quick_desk):
    def describe(tool_call: Any, state: Any, runtime: Any) -> str:
        return f"{tool_call['name']} after {len(state['messages'])} messages for {runtime.tool_call_id}"

    app = open_quick_desk(PAY, watched={"pay": {"allowed_decisions": ["approve"], "description": describe}})
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value["action_requests"][0]["description"] == "pay after 2 messages for c1"


def test_a_tool_set_to_false_is_not_asked_about(open_quick_desk, desk):
    open_quick_desk(PAY, watched={"pay": False}).invoke(USER)
    assert desk.ran == ["pay 5 ana"]


def test_a_predicate_decides_whether_to_ask(open_quick_desk, desk):
    def is_much(request: Any) -> bool:
        return request.tool_call["args"]["amount"] > 10

    two = [call("pay", "c1", amount=5, to="ana"), call("pay", "c2", amount=50, to="bo")]
    app = open_quick_desk(*two, watched={"pay": {"allowed_decisions": ["approve", "reject"], "when": is_much}})
    (question,) = app.invoke(USER)["__interrupt__"]
    assert [one["args"]["amount"] for one in question.value["action_requests"]] == [50]
    result = app.invoke(Command(resume=decide(reject())))
    assert desk.ran == ["pay 5 ana"]
    assert records(result)["c1"] == {"type": "rule", "rule": {"name": "when: is_much"}}


def test_a_predicate_that_changes_its_mind_does_not_free_a_rejected_call(open_agent, desk):
    asks = [True]

    def make(saver: Any) -> Any:
        when = {"pay": {"allowed_decisions": ["approve", "reject"], "when": lambda request: asks[0]}}
        return create_agent(scripted(calls(PAY)), desk.tools, interrupt_on=when, checkpointer=saver)

    app = open_agent(make)
    app.invoke(USER)
    asks[0] = False
    result = app.invoke(Command(resume=decide(reject("no"))))
    assert desk.ran == []
    check_transcript(result["messages"])


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_predicate_that_changes_its_mind_does_not_free_a_call_that_is_shown_anew(open_agent, desk, mode):
    asks, seen = [True], ["before"]

    def make(saver: Any) -> Any:
        pay: Any = {"when": lambda request: asks[0], "preview": lambda request: seen[0]}
        watch = HumanInTheLoopMiddleware({"pay": pay}, interrupt_mode=mode)
        return create_agent(scripted(calls(PAY)), desk.tools, middleware=[watch], checkpointer=saver)

    app = open_agent(make)
    app.invoke(USER)
    asks[0], seen[0] = False, "after"
    assert "__interrupt__" in app.invoke(Command(resume=decide(APPROVE) if mode == "batched" else APPROVE))
    assert desk.ran == []


def test_the_short_form_is_interrupt_on(desk):
    app = create_agent(scripted(calls(PAY)), desk.tools, interrupt_on={"pay": True}, checkpointer=InMemorySaver())
    asked = app.invoke(USER, {"configurable": {"thread_id": "1"}})["__interrupt__"]
    assert asked[0].value["action_requests"][0]["name"] == "pay"


def test_a_name_that_no_tool_has_is_refused(desk):
    with pytest.raises(InvalidGraph, match="'pya'"):
        create_agent(scripted(), desk.tools, interrupt_on={"pya": True})


@pytest.mark.parametrize(
    "wrong",
    [
        {"allowed_decisions": []},
        {"allowed_decisions": ["accept"]},
        {"allow": ["approve"]},
        "approve",
        {"when": 5},
        {"when": sleep},
        {"preview": sleep},
        {"description": sleep},
        {"description": 5},
        {"args_schema": int},
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(wrong):
    with pytest.raises(InvalidInput, match="interrupt_on"):
        HumanInTheLoopMiddleware({"pay": wrong})


def test_a_mode_that_does_not_exist_is_refused():
    with pytest.raises(InvalidInput, match="interrupt_mode"):
        HumanInTheLoopMiddleware({}, interrupt_mode="sometimes")


def test_two_watches_over_one_agent_are_refused(desk):
    with pytest.raises(InvalidGraph, match="HumanInTheLoopMiddleware"):
        create_agent(
            scripted(), desk.tools, interrupt_on={"pay": True}, middleware=[HumanInTheLoopMiddleware({"mail": True})]
        )


def test_without_a_notice_the_result_is_as_the_tool_gave_it(open_agent, desk):
    def make(saver: Any) -> Any:
        watch = HumanInTheLoopMiddleware({"pay": True}, edit_notice=None)
        return create_agent(scripted(calls(PAY)), desk.tools, middleware=[watch], checkpointer=saver)

    app = open_agent(make)
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(edit("pay", amount=1, to="bo"))))
    assert results(result) == {"c1": "paid 1 to bo"}
    assert records(result)["c1"]["ran"]["args"] == {"amount": 1, "to": "bo"}


def test_an_edit_into_a_tool_that_is_described_by_json_schema_must_fit_it(open_quick_desk, desk):
    """As the tools of MCP servers are."""
    schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
    refund = StructuredTool(
        name="refund",
        description="Pay back.",
        args_schema=schema,
        func=lambda **args: desk.ran.append(f"refund {args}"),
    )
    desk.tools.append(refund)
    app = open_quick_desk(PAY)
    app.invoke(USER)
    for wrong, words in (
        ({"amount": "much"}, "'much' is not of type 'integer'"),
        ({"amount": 1, "too": 2}, "'too' was unexpected"),
        ({}, "'amount' is a required property"),
    ):
        with pytest.raises(InvalidAnswer, match=words):
            app.invoke(Command(resume=decide(edit("refund", **wrong))))
    app.invoke(Command(resume=decide(edit("refund", amount=1))))
    assert desk.ran == ["refund {'amount': 1}"]


class OldAccount(old.BaseModel):
    """An account, as a class of pydantic.v1."""

    number: int


class OldTransfer(old.BaseModel):
    """Arguments of a tool in a class of pydantic.v1, with another one in it."""

    amount: int
    account: OldAccount


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_tool_whose_arguments_are_a_class_of_pydantic_v1_is_asked_about_and_edited(open_agent, mode):
    def transfer(amount: int, account: Any) -> str:
        """Transfer money."""
        return f"{amount} to {account.number}"

    tool = StructuredTool.from_function(transfer, args_schema=OldTransfer)
    account = {"number": 7}
    wanted = calls(call("transfer", "c1", amount=5, account=account), call("transfer", "c2", amount="much"))
    layers = [HumanInTheLoopMiddleware({"transfer": True}, interrupt_mode=mode)]
    app = open_agent(lambda saver: create_agent(scripted(wanted), [tool], middleware=layers, checkpointer=saver))
    (question,) = app.invoke(USER)["__interrupt__"]
    review = question.value["review_config"] if mode == "per_call" else question.value["review_configs"][0]
    assert review["args_schema"]["properties"]["account"]["properties"]["number"]["type"] == "integer"

    def answer(**args: Any) -> Any:
        put = edit("transfer", **args)
        return Command(resume=put if mode == "per_call" else decide(put))

    for wrong in ({"amount": 5, "account": {}}, {"amount": 5, "account": account, "fast": True}):
        with pytest.raises(InvalidAnswer):
            app.invoke(answer(**wrong))
    result = app.invoke(answer(amount=6, account=account))
    assert results(result)["c1"].endswith("6 to 7")
    assert "amount" in results(result)["c2"]


def test_what_a_schema_calls_its_definitions_is_not_taken_for_an_argument_of_that_name():
    schema = {"definitions": {"n": {"type": "integer"}}, "properties": {"definitions": {"$ref": "#/definitions/n"}}}
    assert inlined(schema) == {"properties": {"definitions": {"type": "integer"}}}


TO: Any = {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street"]}
REFERRING: dict[str, Any] = {
    "definition": {"properties": {"to": {"$ref": "#/$defs/To"}}, "$defs": {"To": TO}},
    "older definition": {"properties": {"to": {"$ref": "#/definitions/To"}}, "definitions": {"To": TO}},
    "definition of all": {
        "$ref": "#/$defs/All",
        "$defs": {"All": {"properties": {"to": {"$ref": "#/$defs/To"}}}, "To": TO},
    },
    "another argument": {"properties": {"from": TO, "to": {"$ref": "#/properties/from"}}},
    "part of a definition": {"properties": {"to": {"$ref": "#/$defs/Way/anyOf/0"}}, "$defs": {"Way": {"anyOf": [TO]}}},
    "definition in one": {"properties": {"to": {"$ref": "#/$defs/A/$defs/To"}}, "$defs": {"A": {"$defs": {"To": TO}}}},
    "odd name": {"properties": {"to": {"$ref": "#/$defs/To~1~0%5BA%5D"}}, "$defs": {"To/~[A]": TO}},
    "one of several": {"allOf": [{"$ref": "#/$defs/All"}], "$defs": {"All": {"properties": {"to": TO}}}},
    "note beside it": {"properties": {"to": {"$ref": "#/$defs/To", "description": "Who."}}, "$defs": {"To": TO}},
    "rule beside it": {"properties": {"to": {"$ref": "#/$defs/To", "required": []}}, "$defs": {"To": TO}},
    "argument of its name": {
        "properties": {"$defs": {}, "$ref": {}, "to": {"$ref": "#/$defs/To"}},
        "$defs": {"To": TO},
    },
}
"""Schemas of one argument, as the tools of servers have them."""


@pytest.mark.parametrize("of_policy", [False, True], ids=["of the tool", "of interrupt_on"])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("kind", REFERRING)
def test_arguments_whose_schema_refers_to_its_parts_are_edited(kind, mode, of_policy):
    def send(**args: Any) -> str:
        return f"sent {args}"

    schema = {"type": "object", **REFERRING[kind]}
    tool = StructuredTool(
        name="send",
        description="Send.",
        args_schema={"type": "object", "additionalProperties": True} if of_policy else schema,
        func=send,
    )
    watch = HumanInTheLoopMiddleware({"send": {"args_schema": schema} if of_policy else True}, interrupt_mode=mode)
    model = scripted(calls(call("send", to={"street": "A"})))
    app = create_agent(model, [tool], middleware=[watch], checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}

    def answered(**args: Any) -> Any:
        put = edit("send", **args)
        return app.invoke(Command(resume=decide(put) if mode == "batched" else put), thread)

    app.invoke(USER, thread)
    for wrong in ({"to": {"street": 5}}, {"to": {}}, {"too": {"street": "B"}}):
        with pytest.raises(InvalidAnswer):
            answered(**wrong)
    assert results(answered(to={"street": "B"}))["c1"].endswith("sent {'to': {'street': 'B'}}")


def test_a_schema_that_holds_itself_or_refers_to_what_is_not_there_takes_anything_there():
    nothing = {
        "a": {"$ref": "#"},
        "b": {"$ref": "#/nowhere"},
        "c": {"$ref": "https://example.com"},
        "d": {"$ref": "#d"},
    }
    assert inlined({"properties": nothing}) == {"properties": {name: {} for name in nothing}}


@pytest.mark.parametrize(
    "draft",
    [
        {},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
    ],
)
@pytest.mark.parametrize(
    ("schema", "good", "wrong"),
    [
        ({"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}, [1, "a", None], ["a", "a"]),
        ({"type": "array", "items": [{"type": "integer"}], "additionalItems": False}, [1], [1, 2]),
        ({"type": "array", "items": [{"type": "integer"}], "additionalItems": {"type": "string"}}, [1, "a"], [1, 2]),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, 1, 0),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": True}, 8, 9),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": False, "exclusiveMaximum": True}, 0, -1),
    ],
)
def test_arguments_whose_schema_is_of_an_older_draft_are_edited(schema, good, wrong, draft):
    tool = StructuredTool(
        name="note",
        description="Note.",
        args_schema={**draft, "type": "object", "properties": {"text": schema}},
        func=lambda text: f"noted {text}",
    )
    model = scripted(calls(call("note", text=good)))
    app = create_agent(model, [tool], interrupt_on={"note": True}, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    app.invoke(USER, thread)
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume=decide(edit("note", text=wrong))), thread)
    done = app.invoke(Command(resume=decide(edit("note", text=good))), thread)
    assert results(done)["c1"].endswith(f"noted {good}")


class Greeted(BaseModel):
    name: str = Field(pattern=r"^\p{L}+$")


@pytest.mark.parametrize("schema", [Greeted, Greeted.model_json_schema()], ids=["class", "schema"])
def test_arguments_with_a_pattern_that_python_does_not_read_are_asked_about_and_edited(schema):
    tool = StructuredTool(name="greet", description="Greet.", args_schema=schema, func=lambda name: f"hello {name}")
    model = scripted(calls(call("greet", name="Ana")))
    app = create_agent(model, [tool], interrupt_on={"greet": True}, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    app.invoke(USER, thread)
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume=decide(edit("greet", name=5))), thread)
    assert results(app.invoke(Command(resume=decide(edit("greet", name="Zoë"))), thread))["c1"].endswith("hello Zoë")


def test_types_that_hold_each_other_are_shown_as_far_as_a_person_can_look():
    several = {
        str(one): {"properties": {str(other): {"$ref": f"#/$defs/{other}"} for other in range(12)}} for one in range(12)
    }
    shown = inlined({"properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": several})
    assert [*shown["properties"]["a"]["properties"]["1"]["properties"]["2"]["properties"]] == [*several]
    assert len(str(shown)) < 200_000


def test_a_value_that_looks_like_a_reference_is_a_value():
    schema = {"properties": {"a": {"enum": [{"$ref": "#"}], "default": {"$ref": "#"}, "const": {"$defs": 1}}}}
    assert inlined(schema) == schema


def noting(desk: Any) -> list[Any]:
    """Tools that are described in other ways than by their functions."""

    def note(**args: Any) -> str:
        desk.ran.append(args)
        return "noted"

    schemas: list[Any] = [{"type": "object"}, {"type": "object", "additionalProperties": True}]
    return [
        *(StructuredTool(name="note", description="Note.", args_schema=schema, func=note) for schema in schemas),
        Tool(name="note", description="Note.", func=lambda text: note(text=text)),
    ]


@pytest.mark.parametrize("kind", range(3), ids=["without arguments", "any", "one text"])
def test_tools_of_every_kind_are_asked_about_and_edited(desk, kind):
    note = noting(desk)[kind]
    given, other = ({}, {}) if kind == 0 else ({"text": "a"}, {"text": "b"})
    for decision in (APPROVE, edit("note", **other)):
        app = create_agent(
            scripted(calls(call("note", "c1", **given))),
            [note],
            interrupt_on={"note": True},
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": "1"}}
        app.invoke(USER, config)
        app.invoke(Command(resume=decide(decision)), config)
    assert desk.ran == [given, other]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_the_inbox_names_the_node_that_people_know(desk, mode):
    saver = InMemorySaver()
    watch = HumanInTheLoopMiddleware(WATCHED, interrupt_mode=mode)
    app = create_agent(scripted(calls(PAY)), desk.tools, middleware=[watch], checkpointer=saver)
    app.invoke(USER, {"configurable": {"thread_id": "1"}})
    (question,) = Inbox(saver).open(node="tools")
    assert question.path == "tools"
    Inbox(saver).answer(question.id, decide(APPROVE) if mode == "batched" else APPROVE, by="eva")
    app.resume_answered()
    happened = [(event.kind, event.path) for event in Inbox(saver).history("1")]
    assert [one for one in happened if one[0] in ("asked", "answered")] == [("asked", "tools"), ("answered", "tools")]


# Ids of calls


SAME = call("pay", "c1", amount=5, to="ana")


@pytest.mark.parametrize("ids", [("c1", "c1"), (None, None), ("", "")], ids=["twice", "none", "empty"])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("decisions", [(APPROVE, reject()), (reject(), APPROVE)], ids=["first", "second"])
def test_of_two_equal_calls_that_share_an_id_only_the_approved_one_runs(open_quick_desk, desk, ids, mode, decisions):
    app = open_quick_desk(*(SAME | {"id": id} for id in ids), mode=mode)
    questions = app.invoke(USER)["__interrupt__"]
    resume = (
        decide(*decisions) if mode == "batched" else dict(zip([one.id for one in questions], decisions, strict=True))
    )
    result = app.invoke(Command(resume=resume))
    assert desk.ran == ["pay 5 ana"]
    assert [message.status == "success" for message in tool_messages(result)] == [one is APPROVE for one in decisions]
    check_transcript(result["messages"])


def test_calls_that_were_written_into_the_state_with_one_id_are_refused_before_anything_runs(open_quick_desk, desk):
    app = open_quick_desk(PAY)
    app.invoke(USER)
    app.update_state({"messages": [calls(SAME, SAME, id="ai-1")]}, as_node="model")
    with pytest.raises(InvalidInput, match="Several calls have the id 'c1'"):
        app.invoke(None)
    assert desk.ran == []


def test_a_tool_of_its_own_class_says_its_arguments_by_its_method():
    class Pay(BaseTool):
        name: str = "pay"
        description: str = "Pay somebody."

        def _run(self, amount: int, to: str = "ana") -> str:
            return f"paid {amount} to {to}"

    model = scripted(calls(call("pay", "c1", amount="five"), call("pay", "c2", amount=5)))
    app = create_agent(model, [Pay()], interrupt_on={"pay": True}, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    (question,) = app.invoke(USER, config)["__interrupt__"]
    (review,) = question.value["review_configs"]
    assert review["args_schema"]["properties"].keys() == {"amount", "to"}
    assert results(app.invoke(Command(resume=decide(APPROVE)), config))["c2"] == "paid 5 to ana"
