"""Conversations that a model accepts (scenario 23)."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from signoff.agents import create_agent
from signoff.errors import InvalidInput
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode, create_react_agent, repair_tool_calls, validate_chat_history
from signoff.prebuilt.chat_history import MOST_KNOWN, CheckedHistories, IncompleteHistory
from signoff.prebuilt.heard import is_overtaken, with_results_first, without_strays
from signoff.types import Command, Overwrite, interrupt

from .models import call, calls, scripted

ASKED = calls(call("pay", "c1"), call("mail", "c2"), call("log", "c3"), id="ai-1")
BROKEN = [
    HumanMessage("x", id="h-1"),
    ASKED,
    ToolMessage("sent", tool_call_id="c2", id="t-1"),
    HumanMessage("y", id="h-2"),
]


def pay() -> str:
    """Pay."""
    return "paid"


def test_a_complete_history_is_accepted():
    validate_chat_history([])
    validate_chat_history([HumanMessage("x"), AIMessage("y")])
    validate_chat_history([calls(call("pay", "c1")), ToolMessage("ok", tool_call_id="c1")])


def test_every_call_without_a_tool_message_is_named():
    with pytest.raises(IncompleteHistory, match=r"2 of its tool calls.*pay \(id 'c1'\), log \(id 'c3'\)") as refused:
        validate_chat_history(BROKEN)
    assert [call["id"] for call in refused.value.missing] == ["c1", "c3"]
    assert "repair_tool_calls" in str(refused.value)


ANSWERED = ToolMessage("ok", tool_call_id="c1")


def test_a_call_needs_a_tool_message_behind_it_although_an_earlier_turn_used_its_id():
    again = [calls(call("pay", "c1")), ANSWERED, calls(call("pay", "c1"))]
    with pytest.raises(IncompleteHistory, match="1 of its"):
        validate_chat_history(again)
    assert [message.type for message in repair_tool_calls(again, "cut off")] == ["ai", "tool", "ai", "tool"]
    validate_chat_history([*again, ANSWERED])
    with pytest.raises(IncompleteHistory):
        validate_chat_history([ANSWERED, calls(call("pay", "c1"))])


def test_a_conversation_that_grows_is_looked_at_where_it_is_new():
    histories, first = CheckedHistories(), HumanMessage("x")
    histories.validate([])
    histories.validate([first])
    history = [first, calls(call("pay", "c1"))]
    with pytest.raises(IncompleteHistory):
        histories.validate(history)
    with pytest.raises(IncompleteHistory):
        histories.validate(history)
    histories.validate([*history, ANSWERED])
    with pytest.raises(IncompleteHistory, match="'c9'"):
        histories.validate([*history, ANSWERED, calls(call("pay", "c9"))])
    histories.validate([*history, ANSWERED])
    with pytest.raises(IncompleteHistory, match="'c1'"):
        histories.validate(history)


def test_a_conversation_that_was_changed_behind_its_beginning_is_looked_at_as_a_whole():
    histories, first = CheckedHistories(), HumanMessage("x")
    histories.validate([first, AIMessage("y"), AIMessage("z")])
    with pytest.raises(IncompleteHistory):
        histories.validate([first, calls(call("pay", "c1")), AIMessage("z"), AIMessage("!")])


def test_only_so_many_conversations_are_known():
    histories = CheckedHistories()
    for _ in range(2 * MOST_KNOWN):
        histories.validate([HumanMessage("x")])
    assert len(histories._known) == MOST_KNOWN


def test_messages_in_other_forms_are_read_too():
    with pytest.raises(IncompleteHistory, match="pay"):
        validate_chat_history([{"role": "user", "content": "x"}, ASKED])


def test_a_mended_history_has_a_tool_message_behind_each_call():
    mended = repair_tool_calls(BROKEN, "It was cancelled.")
    validate_chat_history(mended)
    shown = [(message.type, message.content, getattr(message, "tool_call_id", None)) for message in mended]
    assert shown == [
        ("human", "x", None),
        ("ai", "", None),
        ("tool", "sent", "c2"),
        ("tool", "It was cancelled.", "c1"),
        ("tool", "It was cancelled.", "c3"),
        ("human", "y", None),
    ]


def test_a_history_that_ends_with_calls_is_mended_at_its_end():
    mended = repair_tool_calls([ASKED], lambda call: f"no {call['name']}")
    assert [message.content for message in mended] == ["", "no pay", "no mail", "no log"]
    assert [message.name for message in mended[1:]] == ["pay", "mail", "log"]


def test_texts_may_be_given_by_call():
    mended = repair_tool_calls(BROKEN, {"c1": "refused", "c3": "skipped"})
    assert [message.content for message in mended[3:5]] == ["refused", "skipped"]
    with pytest.raises(InvalidInput, match="none for the call 'c3'"):
        repair_tool_calls(BROKEN, {"c1": "refused"})


def test_what_is_complete_stays_as_it_is():
    history = [HumanMessage("x"), AIMessage("y")]
    assert repair_tool_calls(history, "never said") == history


def test_the_given_history_is_not_changed():
    before = list(BROKEN)
    repair_tool_calls(BROKEN, "text")
    assert before == BROKEN


def test_an_incomplete_history_is_refused_before_the_model_and_can_be_mended(open_agent):
    model = scripted("first", "fine")
    app = open_agent(lambda saver: create_react_agent(model, [pay], checkpointer=saver))
    with pytest.raises(IncompleteHistory, match="pay"):
        app.invoke({"messages": BROKEN})
    assert model.seen == []
    history = app.get_state().values["messages"]
    app.update_state({"messages": Overwrite(repair_tool_calls(history, "It was never run."))})
    result = app.invoke(None)
    assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "tool", "tool", "human", "ai"]
    assert len(model.seen) == 1


@pytest.mark.parametrize("has_hook", [False, True], ids=["as it is", "with a hook"])
def test_new_input_in_place_of_an_answer_leaves_a_conversation_that_goes_on(open_agent, version, has_hook):
    def ask(to: str) -> str:
        """Ask."""
        return f"{to}: {interrupt('?')}"

    def shown(state):
        return {"llm_input_messages": [HumanMessage("be kind"), *state["messages"]]}

    model = scripted(calls(call("ask", "c1", to="ana"), call("pay", "c2")), "fine", "still fine")
    parts = {"version": version, "pre_model_hook": shown if has_hook else None}
    app = open_agent(lambda saver: create_react_agent(model, [ask, pay], checkpointer=saver, **parts))
    app.invoke({"messages": [("user", "x")]})
    app.invoke({"messages": [("user", "never mind")]}, on_pending="discard")
    result = app.invoke({"messages": [("user", "and now?")]})
    assert result["messages"][-1].text == "still fine"
    for seen in model.seen:
        validate_chat_history(seen)
    told = {one.tool_call_id: one.text for one in model.seen[-1] if isinstance(one, ToolMessage)}
    assert "cancelled" in told["c1"]
    validate_chat_history(result["messages"])


def test_new_input_where_calls_were_about_to_be_made_leaves_a_conversation_that_goes_on(open_agent, version):
    model = scripted(calls(call("pay", "c1"), call("pay", "c2")), "never mind", "fine", "still fine")
    app = open_agent(lambda saver: create_react_agent(model, [pay], version=version, checkpointer=saver))
    app.invoke({"messages": [("user", "x")]})
    old = next(one for one in app.history() if "tools" in one.next)
    app.invoke({"messages": [("user", "something else")]}, old.config)
    app.invoke({"messages": [("user", "and now?")]})
    for seen in model.seen:
        validate_chat_history(seen)
    told = [one.text for one in model.seen[-1] if isinstance(one, ToolMessage)]
    assert ["cancelled" in text for text in told] == [True, True]


def test_new_input_after_a_failure_leaves_what_other_calls_came_to(open_agent, version):
    def ask(to: str) -> str:
        """Ask."""
        raise ConnectionError(interrupt("?"))

    model = scripted(calls(call("ask", "c1", to="ana"), call("pay", "c2")), "fine")
    tools = ToolNode([ask, pay], handle_tool_errors=False)
    app = open_agent(lambda saver: create_react_agent(model, tools, version=version, checkpointer=saver))
    app.invoke({"messages": [("user", "x")]})
    with pytest.raises(ConnectionError, match="yes"):
        app.invoke(Command(resume="yes"))
    app.invoke({"messages": [("user", "never mind")]})
    validate_chat_history(model.seen[-1])
    told = {one.tool_call_id: one.text for one in model.seen[-1] if isinstance(one, ToolMessage)}
    # In one task for all calls, what they came to is known to that task alone.
    assert ["cancelled" in told[id] for id in ("c1", "c2")] == [True, version == "v1"]


def test_new_input_at_a_breakpoint_before_the_tools_leaves_a_conversation_that_goes_on(open_agent, version):
    model = scripted(calls(call("pay", "c1")), "fine")
    parts = {"version": version, "interrupt_before": ["tools"]}
    app = open_agent(lambda saver: create_react_agent(model, [pay], checkpointer=saver, **parts))
    app.invoke({"messages": [("user", "x")]})
    result = app.invoke({"messages": [("user", "something else")]})
    assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "human", "ai"]


def test_what_somebody_else_has_left_incomplete_is_not_made_up_for_by_new_input(open_agent):
    app = open_agent(lambda saver: create_react_agent(scripted("fine"), [pay], checkpointer=saver))
    for messages in (BROKEN, [("user", "and now?")]):
        with pytest.raises(IncompleteHistory, match="pay"):
            app.invoke({"messages": messages})


def test_an_agent_that_remembers_goes_on_after_its_question_was_dropped_by_new_input_around_it(open_agent, version):
    def ask(to: str) -> str:
        """Ask."""
        return f"{to}: {interrupt('?')}"

    model = scripted(calls(call("ask", "c1", to="ana"), call("pay", "c2")), "fine")

    def around(saver):
        agent = create_react_agent(model, [ask, pay], checkpointer=True, version=version)
        return StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=saver)

    app = open_agent(around)
    app.invoke({"messages": [("user", "x")]})
    app.invoke({"messages": [("user", "never mind")]}, on_pending="discard")
    validate_chat_history(model.seen[-1])
    told = {one.tool_call_id: one.text for one in model.seen[-1] if isinstance(one, ToolMessage)}
    assert "cancelled" in told["c1"]
    assert ("cancelled" in told["c2"]) is (version == "v1")


PAIR = calls(call("a", "1"), call("b", "2"))
FIRST, SECOND = ToolMessage("one", tool_call_id="1"), ToolMessage("two", tool_call_id="2")
HURRY, THANKS = HumanMessage("hurry"), HumanMessage("thanks")


@pytest.mark.parametrize(
    ("messages", "ordered"),
    [
        ([PAIR, HURRY, FIRST, SECOND], [PAIR, FIRST, SECOND, HURRY]),
        ([PAIR, FIRST, HURRY, SECOND, THANKS], [PAIR, FIRST, SECOND, HURRY, THANKS]),
        ([PAIR, HURRY, FIRST, THANKS, SECOND], [PAIR, FIRST, SECOND, HURRY, THANKS]),
        ([PAIR, HURRY, FIRST], [PAIR, FIRST, HURRY]),
        ([PAIR, HURRY, PAIR, FIRST, SECOND], [PAIR, HURRY, PAIR, FIRST, SECOND]),
    ],
)
def test_results_come_before_what_was_said_while_their_calls_were_open(messages, ordered):
    assert with_results_first(messages) == ordered


def test_a_history_in_order_is_the_same_list():
    history = [HURRY, PAIR, FIRST, SECOND, THANKS, AIMessage("done")]
    assert with_results_first(history) is history


@pytest.mark.parametrize("make", [create_agent, create_react_agent])
def test_the_model_sees_results_before_what_was_said_while_they_were_awaited(open_agent, make):
    @tool
    def ask(what: str) -> str:
        """Ask a person."""
        return str(interrupt(what))

    model = scripted(calls(call("ask", what="sure?")))
    app = open_agent(lambda saver: make(model, [ask], checkpointer=saver))
    app.invoke({"messages": [("user", "hi")]})
    app.invoke(Command(resume="yes", update={"messages": [("user", "hurry")]}))
    assert [message.type for message in model.seen[-1]] == ["human", "ai", "tool", "human"]


SAID = AIMessage("never mind")


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        ([THANKS, FIRST], [THANKS]),
        ([SAID, FIRST, THANKS], [SAID, THANKS]),
        ([PAIR, FIRST, SECOND, SAID, FIRST], [PAIR, FIRST, SECOND, SAID]),
        ([calls(call("a", "1")), FIRST, SECOND], [calls(call("a", "1")), FIRST]),
    ],
)
def test_a_result_that_no_call_stands_before_is_left_out(messages, left):
    assert without_strays(messages) == left


AGAIN = ToolMessage("one, mended", tool_call_id="1")
SAME_ID = AIMessage("", tool_calls=[call("a", "1"), call("b", "1")])


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        ([PAIR, FIRST, SECOND, AGAIN], [PAIR, AGAIN, SECOND]),
        ([PAIR, FIRST, AGAIN, AGAIN, SECOND], [PAIR, AGAIN, SECOND]),
        ([PAIR, FIRST, SECOND, THANKS, AGAIN], [PAIR, AGAIN, SECOND, THANKS]),
        ([SAME_ID, FIRST, AGAIN], [SAME_ID, FIRST, AGAIN]),
    ],
)
def test_of_several_results_of_a_call_the_last_one_counts(messages, left):
    assert list(without_strays(messages)) == left


@pytest.mark.parametrize("make", [create_agent, create_react_agent])
def test_the_model_sees_one_result_of_a_call_that_a_person_has_written_another_one_for(open_agent, make):
    model = scripted(calls(call("pay", "c1")), "fine")
    app = open_agent(lambda saver: make(model, [pay], checkpointer=saver, interrupt_after=["tools"]))
    app.invoke({"messages": [("user", "hi")]})
    app.update_state({"messages": [ToolMessage("not paid", tool_call_id="c1")]})
    result = app.invoke(None)
    assert [message.text for message in model.seen[-1]] == ["hi", "", "not paid"]
    assert [message.text for message in result["messages"]] == ["hi", "", "paid", "not paid", "fine"]


@pytest.mark.parametrize("messages", [[PAIR, FIRST, SECOND], [PAIR, SAID, FIRST, SECOND], [PAIR, HURRY, SECOND, FIRST]])
def test_a_history_without_strays_is_the_same_list(messages):
    assert without_strays(messages) is messages


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([THANKS, SAID, FIRST], True),
        ([SAID], False),
        ([FIRST], False),
        ([SAID, FIRST, THANKS], False),
        ([PAIR, SAID, FIRST, SECOND], False),
        ([PAIR, FIRST, SECOND], False),
    ],
)
def test_an_answer_in_the_place_of_calls_overtakes_their_results(messages, expected):
    assert is_overtaken(messages) is expected


def agent_that_looks_and_asks(make, model, looked):
    @tool
    def look() -> str:
        """Look something up."""
        looked.append("looked")
        return "found"

    @tool
    def ask() -> str:
        """Ask a person."""
        return str(interrupt("sure?"))

    return lambda saver: make(model, [look, ask], checkpointer=saver)


@pytest.mark.parametrize(("make", "node"), [(create_agent, "model"), (create_react_agent, "agent")])
def test_a_call_that_a_person_takes_out_after_it_was_made_is_not_heard_of_by_the_model(open_agent, make, node):
    model, looked = scripted(calls(call("look", "c1"), call("ask", "c2"), id="ai-1"), "fine", "more"), []
    app = open_agent(agent_that_looks_and_asks(make, model, looked))
    app.invoke({"messages": [("user", "hi")]})
    app.update_state({"messages": [calls(call("ask", "c2"), id="ai-1")]}, as_node=node)
    app.invoke(None)
    app.invoke(Command(resume="yes"))
    result = app.invoke({"messages": [("user", "and?")]})
    assert [[getattr(one, "tool_call_id", one.type) for one in seen] for seen in model.seen[1:]] == [
        ["human", "ai", "c2"],
        ["human", "ai", "c2", "ai", "human"],
    ]
    assert "found" in [message.text for message in result["messages"]], "it has happened"
    assert looked == ["looked"]


@pytest.mark.parametrize(("make", "node"), [(create_agent, "model"), (create_react_agent, "agent")])
def test_an_answer_that_a_person_gives_in_the_place_of_calls_is_the_answer(open_agent, make, node):
    model, looked = scripted(calls(call("look", "c1"), call("ask", "c2"), id="ai-1"), "more"), []
    app = open_agent(agent_that_looks_and_asks(make, model, looked))
    app.invoke({"messages": [("user", "hi")]})
    app.update_state({"messages": [AIMessage("never mind", id="ai-1")]}, as_node=node)
    assert [message.type for message in app.invoke(None)["messages"]] == ["human", "ai", "tool"]
    assert (app.get_state().next, len(model.seen)) == ((), 1)
    app.invoke({"messages": [("user", "and?")]})
    assert [message.type for message in model.seen[-1]] == ["human", "ai", "human"]
