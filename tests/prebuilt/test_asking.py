"""Ask a person before a tool runs: accept, edit, response, ignore (scenario 21)."""

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, Tool, tool
from pydantic import BaseModel, ConfigDict, Field
from pydantic import v1 as old

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput, ReplayMismatch
from signoff.prebuilt import (
    InjectedState,
    ToolRuntime,
    add_human_in_the_loop,
    create_react_agent,
    validate_chat_history,
)
from signoff.prebuilt.interrupt import IGNORED
from signoff.types import Command, interrupt

from .models import call, calls, scripted

USER = {"messages": [HumanMessage("Book the Ritz for two nights", id="h")]}
EVERYTHING = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True}
WANTED = calls(call("book_hotel", "c1", hotel="Ritz", nights=2), id="ai-1")


class Hotel:
    """A desk that notes what is booked."""

    def __init__(self) -> None:
        self.booked: list[tuple[str, int]] = []

    def tool(self) -> Any:
        @tool
        def book_hotel(hotel: str, nights: int = 1) -> str:
            """Book a hotel."""
            self.booked.append((hotel, nights))
            return f"booked {hotel} for {nights}"

        return book_hotel


@pytest.fixture
def hotel() -> Hotel:
    return Hotel()


@pytest.fixture
def app(open_agent, hotel, version):
    def build(saver: Any) -> Any:
        asking = add_human_in_the_loop(hotel.tool(), interrupt_config=EVERYTHING)
        return create_react_agent(scripted(WANTED), [asking], checkpointer=saver, version=version)

    return open_agent(build)


def result_of(result: Any) -> list[Any]:
    """The tool messages, in a history that a model accepts."""
    validate_chat_history(result["messages"])
    answers = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    assert len({message.tool_call_id for message in answers}) == len(answers)
    return [message.content for message in answers]


def test_the_question_has_the_call_what_is_allowed_and_a_description(app, hotel):
    (question,) = app.invoke(USER)["__interrupt__"][0].value
    assert question["action_request"] == {"action": "book_hotel", "args": {"hotel": "Ritz", "nights": 2}}
    assert question["config"] == EVERYTHING
    assert "book_hotel" in question["description"]
    assert hotel.booked == []


def test_accept_runs_it_as_asked(app, hotel):
    app.invoke(USER)
    assert result_of(app.invoke(Command(resume=[{"type": "accept"}]))) == ["booked Ritz for 2"]
    assert hotel.booked == [("Ritz", 2)]


def test_edit_runs_it_with_other_arguments(app, hotel):
    app.invoke(USER)
    edited = {"action": "book_hotel", "args": {"hotel": "Plaza"}}
    assert result_of(app.invoke(Command(resume=[{"type": "edit", "args": edited}]))) == ["booked Plaza for 1"]
    assert hotel.booked == [("Plaza", 1)]


def test_response_is_the_result_and_nothing_runs(app, hotel):
    app.invoke(USER)
    result = app.invoke(Command(resume=[{"type": "response", "args": "Too dear. Look for another one."}]))
    assert result_of(result) == ["Too dear. Look for another one."]
    assert hotel.booked == []
    assert isinstance(result["messages"][-1], AIMessage)


def test_ignore_tells_the_model_that_nothing_was_done(app, hotel):
    app.invoke(USER)
    assert result_of(app.invoke(Command(resume=[{"type": "ignore"}]))) == [IGNORED]
    assert hotel.booked == []


def test_a_bare_answer_will_do(app, hotel):
    app.invoke(USER)
    assert result_of(app.invoke(Command(resume={"type": "accept", "args": None}))) == ["booked Ritz for 2"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("yes", "is not one of accept, edit, response, ignore"),
        ([{"type": "perhaps"}], "is not one of"),
        ([{"type": "accept"}, {"type": "accept"}], "is not one of"),
        ({"type": "edit", "args": "Plaza"}, "an edit needs"),
        (
            {"type": "edit", "args": {"action": "book_flight", "args": {}}},
            "cannot turn 'book_hotel' into 'book_flight'",
        ),
        ({"type": "edit", "args": {"args": {"hotel": "Plaza", "nights": "many"}}}, "nights: Input should be a valid"),
        ({"type": "edit", "args": {"args": {"hotel": "Plaza", "nigths": 3}}}, "the tool has no argument 'nigths'"),
        ({"type": "response", "args": None}, "a response needs its text"),
    ],
)
def test_an_answer_that_does_not_fit_is_asked_for_again(hotel, answer, problem):
    asking = add_human_in_the_loop(hotel.tool(), interrupt_config=EVERYTHING)
    app = create_react_agent(scripted(WANTED), [asking], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    (first,) = app.invoke(USER, config)["__interrupt__"]
    (again,) = app.invoke(Command(resume=answer), config)["__interrupt__"]
    assert again.id != first.id
    assert problem in again.value[0]["description"]
    assert again.value[0]["action_request"] == first.value[0]["action_request"]
    assert hotel.booked == []
    app.invoke(Command(resume={"type": "accept"}), config)
    assert hotel.booked == [("Ritz", 2)]


def test_what_is_not_allowed_is_not_taken(hotel):
    asking = add_human_in_the_loop(hotel.tool(), interrupt_config={"allow_accept": True})
    app = create_react_agent(scripted(WANTED), [asking], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    app.invoke(USER, config)
    (again,) = app.invoke(Command(resume=[{"type": "edit", "args": {"args": {"hotel": "Plaza"}}}]), config)[
        "__interrupt__"
    ]
    assert "is not one of accept." in again.value[0]["description"]
    assert again.value[0]["config"] == {**dict.fromkeys(EVERYTHING, False), "allow_accept": True}


def test_by_default_everything_but_ignoring_is_allowed(hotel):
    asking = add_human_in_the_loop(hotel.tool())
    assert asking.interrupt_config == {**EVERYTHING, "allow_ignore": False}


def test_a_config_that_nobody_could_answer_is_refused(hotel):
    with pytest.raises(InvalidInput, match="allows nothing"):
        add_human_in_the_loop(hotel.tool(), interrupt_config={"allow_accept": False})
    with pytest.raises(InvalidInput, match="'allow_accpet'"):
        add_human_in_the_loop(hotel.tool(), interrupt_config={"allow_accpet": True})


def test_a_call_that_the_tool_would_refuse_bothers_nobody(hotel):
    wrong = calls(call("book_hotel", "c1", nights="many"))
    app = create_react_agent(scripted(wrong), [add_human_in_the_loop(hotel.tool())], checkpointer=InMemorySaver())
    result = app.invoke(USER, {"configurable": {"thread_id": "1"}})
    assert "__interrupt__" not in result
    assert result["messages"][2].status == "error"


class Open(BaseModel):
    """Arguments, and whatever else is given."""

    model_config = ConfigDict(extra="allow")
    hotel: str


class OldOpen(old.BaseModel):
    """The same in pydantic.v1."""

    hotel: str

    class Config:
        extra = "allow"


class Named(BaseModel):
    """An argument that goes by another name."""

    hotel: str
    suite: bool = Field(False, alias="inSuite")


class Booking(BaseTool):
    """A tool of its own class, without a class for its arguments."""

    name: str = "book_hotel"
    description: str = "Book a hotel."

    def _run(self, hotel: str, **more: Any) -> str:
        return f"{hotel} {more}"


def test_a_tool_that_asks_is_otherwise_the_tool_that_it_asks_about():
    given = Booking(tags=["travel"], metadata={"cost": "high"}, extras={"defer": True}, return_direct=True)
    asking = add_human_in_the_loop(given)
    kept = ("name", "description", "tags", "metadata", "extras", "return_direct", "response_format")
    assert [getattr(asking, one) for one in kept] == [getattr(given, one) for one in kept]


def booking(args_schema: Any) -> Any:
    def book_hotel(hotel: str, **more: Any) -> str:
        """Book a hotel."""
        return f"{hotel} {more}"

    return StructuredTool.from_function(book_hotel, args_schema=args_schema)


HOTEL: Any = {"title": "book_hotel", "type": "object", "properties": {"hotel": {"type": "string"}}}
MORE: dict[str, Any] = {
    "pydantic": (booking(Open), "suite"),
    "pydantic.v1": (booking(OldOpen), "suite"),
    "json": (booking(HOTEL), "suite"),
    "closed json": (booking({**HOTEL, "additionalProperties": False}), "suite"),
    "a name of LangChain's": (booking(HOTEL), "callbacks"),
    "class": (Booking(), "suite"),
    "alias": (booking(Named), "inSuite"),
}


@pytest.fixture(params=MORE)
def open_and_name(request, open_agent):
    """An agent that was asked, and an argument of the call that the schema of the tool does not name."""
    made, name = MORE[request.param]
    wanted = calls(call("book_hotel", "c1", hotel="Ritz", **{name: True}))
    app = open_agent(
        lambda saver: create_react_agent(scripted(wanted), [add_human_in_the_loop(made)], checkpointer=saver)
    )
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value[0]["action_request"]["args"] == {"hotel": "Ritz", name: True}
    return app, name


def test_an_argument_that_the_schema_does_not_name_is_shown_if_the_tool_gets_it(open_and_name):
    app, _ = open_and_name
    assert "True" in result_of(app.invoke(Command(resume=[{"type": "accept"}])))[0]


def test_an_argument_that_was_shown_is_gone_if_a_person_takes_it_away_and_may_be_changed(open_and_name):
    app, name = open_and_name
    edited = {"type": "edit", "args": {"action": "book_hotel", "args": {"hotel": "Savoy", name: False}}}
    without = {"type": "edit", "args": {"action": "book_hotel", "args": {"hotel": "Savoy"}}}
    told = result_of(app.invoke(Command(resume=[without if name == "suite" else edited])))
    assert "Savoy" in told[0]
    assert "True" not in told[0]


def test_an_argument_that_the_tool_would_drop_is_not_shown(hotel):
    asking = add_human_in_the_loop(hotel.tool())
    wanted = calls(call("book_hotel", hotel="Ritz", nights=2, dry_run=True))
    app = create_react_agent(scripted(wanted), [asking], checkpointer=InMemorySaver())
    (question,) = app.invoke(USER, {"configurable": {"thread_id": "1"}})["__interrupt__"]
    assert question.value[0]["action_request"]["args"] == {"hotel": "Ritz", "nights": 2}


def test_the_model_sees_the_same_tool(hotel):
    plain, asking = hotel.tool(), add_human_in_the_loop(hotel.tool())
    assert (asking.name, asking.description) == (plain.name, plain.description)
    assert asking.tool_call_schema.model_json_schema() == plain.tool_call_schema.model_json_schema()


def test_two_calls_are_two_questions(open_agent, hotel, version):
    two = calls(call("book_hotel", "c1", hotel="Ritz"), call("book_hotel", "c2", hotel="Plaza"))

    def build(saver: Any) -> Any:
        return create_react_agent(
            scripted(two), [add_human_in_the_loop(hotel.tool())], checkpointer=saver, version=version
        )

    app = open_agent(build)
    ritz, plaza = app.invoke(USER)["__interrupt__"]
    app.invoke(Command(resume={plaza.id: [{"type": "accept"}]}))
    result = app.invoke(Command(resume={ritz.id: [{"type": "response", "args": "no"}]}))
    assert result_of(result) == ["no", "booked Plaza for 1"]
    assert hotel.booked == [("Plaza", 1)]


class Room(BaseModel):
    beds: int


def test_what_is_injected_is_not_shown_and_not_lost(open_agent):
    @tool
    def book(
        room: Room,
        talk: Annotated[list[Any], InjectedState("messages")],
        tool_call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
    ) -> Any:
        """Book."""
        text = f"{room.beds} {len(talk)} {runtime.tool_call_id} {runtime.state['messages'][0].content}"
        return Command(update={"messages": [ToolMessage(text, tool_call_id=tool_call_id)]})

    wanted = calls(call("book", "c1", room={"beds": 2}))
    app = open_agent(
        lambda saver: create_react_agent(scripted(wanted), [add_human_in_the_loop(book)], checkpointer=saver)
    )
    (question,) = app.invoke({"messages": [("user", "hi")]})["__interrupt__"]
    assert question.value[0]["action_request"]["args"] == {"room": {"beds": 2}}
    edited = {"type": "edit", "args": {"action": "book", "args": {"room": {"beds": 3}}}}
    assert result_of(app.invoke(Command(resume=[edited]))) == ["3 2 c1 hi"]


def test_functions_and_async_tools_can_ask(open_async):
    async def send(to: str) -> str:
        """Send."""
        return f"sent to {to}"

    wanted = calls(call("send", "c1", to="ana"))
    app = open_async(
        lambda saver: create_react_agent(scripted(wanted), [add_human_in_the_loop(send)], checkpointer=saver)
    )
    app.invoke(USER)
    assert result_of(app.invoke(Command(resume=[{"type": "accept"}]))) == ["sent to ana"]


def test_artifacts_come_through(hotel):
    @tool(response_format="content_and_artifact")
    def draw(what: str) -> Any:
        """Draw."""
        return f"a {what}", {"pixels": 9}

    wanted = calls(call("draw", "c1", what="cat"))
    app = create_react_agent(scripted(wanted), [add_human_in_the_loop(draw)], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    app.invoke(USER, config)
    message = app.invoke(Command(resume={"type": "accept"}), config)["messages"][2]
    assert (message.content, message.artifact) == ("a cat", {"pixels": 9})


def test_the_description_may_be_made_from_the_call(hotel):
    asking = add_human_in_the_loop(hotel.tool(), description=lambda request: f"Book {request['args']['hotel']}?")
    app = create_react_agent(scripted(WANTED), [asking], checkpointer=InMemorySaver())
    (question,) = app.invoke(USER, {"configurable": {"thread_id": "1"}})["__interrupt__"]
    assert question.value[0]["description"] == "Book Ritz?"


def test_tools_without_a_class_for_their_arguments_ask_too():
    noted = []
    note = Tool(name="note", description="Note.", func=lambda text: noted.append(text) or "noted")
    schema = {"type": "object"}
    bell = StructuredTool(
        name="bell", description="Ring.", args_schema=schema, func=lambda: noted.append("ring") or "rang"
    )
    wanted = calls(call("note", "c1", text="a"), call("bell", "c2"))
    model = scripted(wanted)
    app = create_react_agent(model, list(map(add_human_in_the_loop, (note, bell))), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    questions = app.invoke(USER, config)["__interrupt__"]
    told = {one.value[0]["action_request"]["action"]: one.id for one in questions}
    change = {"type": "edit", "args": {"action": "note", "args": {"text": "b"}}}
    app.invoke(Command(resume={told["note"]: change, told["bell"]: {"type": "accept"}}), config)
    assert sorted(noted) == ["b", "ring"]


@pytest.mark.parametrize("answer", ["ignore", "accept"])
def test_an_answer_about_a_tool_that_asks_nobody_any_more_is_refused_and_the_question_kept(app, hotel, version, answer):
    def without_asking(saver: Any) -> Any:
        return create_react_agent(scripted("done"), [hotel.tool()], checkpointer=saver, version=version)

    app.invoke(USER)
    asking, app.compile = app.compile, without_asking
    with pytest.raises(ReplayMismatch, match="'book_hotel', and that tool asks nobody any more"):
        app.invoke(Command(resume=[{"type": answer, "args": None}]))
    assert hotel.booked == []
    app.compile = asking
    assert len(app.get_state().interrupts) == 1
    assert result_of(app.invoke(Command(resume=[{"type": "accept"}]))) == ["booked Ritz for 2"]


def test_a_tool_that_asks_in_its_own_code_need_not_be_wrapped(open_agent, hotel):
    book = hotel.tool().func

    def book_hotel(hotel: str, nights: int) -> str:
        """Book a hotel."""
        request = {"action_request": {"action": "book_hotel", "args": {}}, "config": EVERYTHING, "description": ""}
        return book(hotel, nights) if interrupt([request])[0]["type"] == "accept" else "no"

    app = open_agent(lambda saver: create_react_agent(scripted(WANTED), [book_hotel], checkpointer=saver))
    app.invoke(USER)
    assert result_of(app.invoke(Command(resume=[{"type": "accept"}]))) == ["booked Ritz for 2"]
