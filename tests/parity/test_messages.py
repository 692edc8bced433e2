"""The same updates through LangGraph's add_messages and ours."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from langgraph.graph import message as langgraph_message
from langgraph.graph.message import add_messages as langgraph_add_messages

from signoff.graph import message as signoff_message
from signoff.graph.message import add_messages

pytestmark = pytest.mark.parity

ALL = signoff_message.REMOVE_ALL_MESSAGES
HELLO = HumanMessage("hello", id="1")
ANSWER = AIMessage("hi", id="2")
CALL = AIMessage("", id="3", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "t1"}], name="bob")
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "aGk="}}
TOOL_USE = {"type": "tool_use", "name": "f", "input": {"a": "b"}, "id": "t2"}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "t2", "is_error": False, "content": [IMAGE]}
TOOL_CHUNK = {"name": "f", "args": '{"a": 1}', "id": "t", "index": 0}

PROGRAMS: dict[str, tuple[Any, Any]] = {
    "nothing and nothing": ([], []),
    "two strings": ("a", "b"),
    "an empty string": ([], ""),
    "a string into a list": ([], "x"),
    "a list of strings": ([], ["x", "y"]),
    "a pair": ([], ("user", "x")),
    "a pair on the left": (("assistant", "x"), []),
    "a pair as a list": ([], [["user", "x"]]),
    "pairs of every role": ([], [(role, "x") for role in ("human", "user", "ai", "assistant", "system")]),
    "a dict with a role": ([], {"role": "assistant", "content": "x"}),
    "a dict with a type": ([], [{"type": "human", "content": "x", "id": "7"}]),
    "a developer": ([], [{"role": "developer", "content": "x"}]),
    "a dict for a tool": ([], [{"role": "tool", "content": "x", "tool_call_id": "9"}]),
    "a dict with tool calls": (
        [],
        {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "1"}]},
    ),
    "a dict that removes": ([HELLO], [{"role": "remove", "id": "1", "content": ""}]),
    "a dict that replaces": ([HELLO], [{"role": "user", "content": "y", "id": "1"}]),
    "a message and itself": (HELLO, HELLO),
    "append": ([HELLO], [ANSWER]),
    "append without ids": ([HumanMessage("a")], [AIMessage("b"), AIMessage("c")]),
    "replace": ([HELLO, ANSWER], [AIMessage("z", id="1")]),
    "replace and append": ([HELLO], [AIMessage("z", id="1"), ANSWER]),
    "the same new id twice": ([HELLO], [AIMessage("y", id="9"), AIMessage("z", id="9")]),
    "the same old id twice": ([HELLO], [AIMessage("y", id="1"), AIMessage("z", id="1")]),
    "one id twice on the left, kept": ([HELLO, HELLO], []),
    "one id twice on the left, replaced": ([HELLO, HELLO], [AIMessage("z", id="1")]),
    "one id twice on the left, removed": ([HELLO, ANSWER, HELLO], [RemoveMessage("1")]),
    "remove": ([HELLO, ANSWER], [RemoveMessage("1")]),
    "remove twice": ([HELLO], [RemoveMessage("1"), RemoveMessage("1")]),
    "remove two": ([HELLO, ANSWER, CALL], [RemoveMessage("1"), RemoveMessage("3")]),
    "remove, then write": ([HELLO, ANSWER], [RemoveMessage("1"), AIMessage("z", id="1")]),
    "remove, append, write": ([HELLO], [RemoveMessage("1"), ANSWER, AIMessage("w", id="1")]),
    "write, then remove": ([HELLO, ANSWER], [AIMessage("z", id="1"), RemoveMessage("1")]),
    "append, then remove": ([HELLO], [ANSWER, RemoveMessage("2")]),
    "append, remove, append": ([HELLO], [ANSWER, RemoveMessage("2"), AIMessage("w", id="2")]),
    "a removal on the left": ([RemoveMessage("q")], []),
    "remove all": ([HELLO, ANSWER], RemoveMessage(ALL)),
    "remove all of nothing": ([], [RemoveMessage(ALL)]),
    "remove all and start again": ([HELLO], [RemoveMessage(ALL), ANSWER, "x"]),
    "remove all in the middle": ([HELLO], [ANSWER, RemoveMessage(ALL), CALL]),
    "remove all at the end": ([HELLO], [ANSWER, RemoveMessage(ALL)]),
    "remove all twice": ([HELLO], [RemoveMessage(ALL), ANSWER, RemoveMessage(ALL), CALL]),
    "remove all, keeping an old one": ([HELLO, ANSWER], [RemoveMessage(ALL), HELLO]),
    "a remove all on the left": ([HELLO, RemoveMessage(ALL)], ["x"]),
    "a removal before remove all, of nobody": ([HELLO], [RemoveMessage("nobody"), RemoveMessage(ALL)]),
    "chunks on both sides": ([AIMessageChunk("a", id="5")], [AIMessageChunk("b")]),
    "a chunk with a tool call": ([], [AIMessageChunk("a", id="5", tool_call_chunks=[TOOL_CHUNK])]),
    "a chunk that replaces": ([HELLO], [AIMessageChunk("z", id="1")]),
    "chunks of every kind": (
        [],
        [
            HumanMessageChunk("x", id="1"),
            SystemMessageChunk("x", id="2"),
            ToolMessageChunk("x", tool_call_id="t", id="3"),
            FunctionMessageChunk("x", name="f", id="4"),
            ChatMessageChunk("x", role="critic", id="5"),
        ],
    ),
    "messages of every kind": (
        [SystemMessage("s", id="s", additional_kwargs={"x": 1}), CALL],
        [
            ToolMessage("x", tool_call_id="t1", id="4", artifact=3, status="error"),
            FunctionMessage("x", name="f", id="5"),
            ChatMessage("x", role="critic", id="6"),
        ],
    ),
}

OPENAI_PROGRAMS: dict[str, tuple[Any, Any]] = {
    "text": ([], "x"),
    "nothing": ([], []),
    "a single text block": ([HELLO], [HumanMessage([{"type": "text", "text": "hi"}], id="4")]),
    "an image": ([HumanMessage([{"type": "text", "text": "see"}, IMAGE], id="1")], []),
    "a tool call": ([CALL], [ToolMessage("x", tool_call_id="t1", id="4")]),
    "tool use and result blocks": (
        [HELLO],
        [AIMessage([{"type": "text", "text": "x"}, TOOL_USE], id="8"), HumanMessage([TOOL_RESULT], id="9")],
    ),
    "a system message": ([], [SystemMessage("s", id="s", additional_kwargs={"x": 1})]),
    "a replaced message": ([HELLO], [HumanMessage([{"type": "text", "text": "new"}], id="1")]),
    "a removed message": ([HELLO, ANSWER], [RemoveMessage("1")]),
}

REFUSED: dict[str, tuple[Any, Any]] = {
    "None on the left": (None, "x"),
    "None on the right": ("x", None),
    "None and an empty list": (None, []),
    "a number": ([], 5),
    "a number in a list": ([], [5]),
    "a number on the left": (5, []),
    "None in a list": ([], [None]),
    "a tuple of messages": ([], (ANSWER,)),
    "an empty tuple": ([], ()),
    "an iterator": ([], iter([ANSWER])),
    "an unknown role": ([], {"role": "nobody", "content": "x"}),
    "a dict without a role": ([], {"content": "x"}),
    "an empty dict": ({}, []),
    "a number as content": ([], ("user", 5)),
    "removing from nothing": ([], [RemoveMessage("q")]),
    "removing an unknown id": ([HELLO], [ANSWER, RemoveMessage("q")]),
    "removing before it is written": ([HELLO], [RemoveMessage("2"), ANSWER]),
}


def run(reducer: Callable[..., Any], program: tuple[Any, Any], **options: Any) -> list[tuple[type, dict[str, Any]]]:
    """The merged messages as types and fields, with generated ids masked."""
    left, right = copy.deepcopy(program)
    given = {"", *"123456789", "s", "q", ALL}
    result = []
    for message in reducer(left, right, **options):
        fields = message.model_dump()
        if fields["id"] is not None and fields["id"] not in given:
            fields["id"] = f"generated, {len(fields['id'])} characters"
        result.append((type(message), fields))
    return result


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_merged_messages_are_the_same(program):
    assert run(add_messages, program) == run(langgraph_add_messages, program)


@pytest.mark.parametrize("program", OPENAI_PROGRAMS.values(), ids=OPENAI_PROGRAMS)
def test_the_openai_format_is_the_same(program):
    options = {"format": "langchain-openai"}
    assert run(add_messages, program, **options) == run(langgraph_add_messages, program, **options)
    assert run(add_messages(**options), program) == run(langgraph_add_messages(**options), program)


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_what_langgraph_refuses_is_refused_with_a_class_its_handlers_catch(program):
    with pytest.raises((ValueError, NotImplementedError)) as theirs:
        langgraph_add_messages(*program)
    with pytest.raises((ValueError, NotImplementedError)) as ours:
        add_messages(*program)
    caught_by = ValueError if isinstance(theirs.value, ValueError) else NotImplementedError
    assert isinstance(ours.value, caught_by)


def test_the_constant_is_the_same():
    assert signoff_message.REMOVE_ALL_MESSAGES == langgraph_message.REMOVE_ALL_MESSAGES


def test_a_node_sees_the_id_of_the_message_it_made_in_both():
    for reducer in (add_messages, langgraph_add_messages):
        made = AIMessage("x")
        result = reducer([], [made])
        assert result[0] is made
        assert made.id is not None


def test_new_ids_are_uuids_in_both():
    import uuid

    for reducer in (add_messages, langgraph_add_messages):
        assert uuid.UUID(reducer([], "x")[0].id).version == 4
