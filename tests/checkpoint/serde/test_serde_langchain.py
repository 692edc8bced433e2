"""LangChain's messages, and what their bytes cost."""

import subprocess
import sys

import langchain_core.messages as lc
import numpy as np
import pytest
from langchain_core.agents import AgentFinish
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)

from signoff.checkpoint.serde import register
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.checkpoint.serde.langchain import MESSAGES
from signoff.errors import NotStorable

CALL = {"name": "search", "args": {"q": "refunds"}, "id": "call-1", "type": "tool_call"}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}


def every_class() -> list[BaseMessage]:
    special = {
        "ToolMessage": {"tool_call_id": "c"},
        "ChatMessage": {"role": "r"},
        "FunctionMessage": {"name": "f"},
    }
    special |= {"BaseMessage": {"type": "human"}, "BaseMessageChunk": {"type": "x"}}
    made = []
    for name in MESSAGES:
        extra = special.get(name.removesuffix("Chunk")) or special.get(name) or {}
        made.append(RemoveMessage(id="r") if name == "RemoveMessage" else getattr(lc, name)(content="hi", **extra))
    return made


def touched() -> AIMessage:
    message = AIMessage("hi")
    message.id = "set-later"
    message.additional_kwargs["in"] = "place"
    message.tool_calls.append(dict(CALL))
    return message


MESSAGES_OF_ALL_SORTS = [
    *every_class(),
    HumanMessage("hi", id="1", name="ana"),
    HumanMessage([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:..."}}]),
    HumanMessage("hi", anything="else", more=(1, 2)),
    AIMessage("", tool_calls=[CALL], usage_metadata=USAGE, response_metadata={"model": "m"}),
    AIMessage("", tool_calls=[], name=None),
    AIMessage(
        "bad",
        invalid_tool_calls=[{"name": "x", "args": "{", "id": None, "error": "oops", "type": "invalid_tool_call"}],
    ),
    AIMessageChunk(
        "part",
        tool_call_chunks=[{"name": "s", "args": '{"q"', "id": "1", "index": 0, "type": "tool_call_chunk"}],
    ),
    AIMessageChunk("a") + AIMessageChunk("b", chunk_position="last"),
    ToolMessage("failed", tool_call_id="c", status="error", artifact={"rows": [(1, 2)]}),
    touched(),
    HumanMessage.model_construct(content="unchecked"),
]


@pytest.mark.parametrize("message", MESSAGES_OF_ALL_SORTS, ids=lambda value: type(value).__name__)
def test_a_message_comes_back_with_all_there_is_to_it(again, message):
    loaded = again(message)
    assert loaded.model_fields_set == message.model_fields_set
    assert (loaded.model_extra or {}) == (message.model_extra or {})
    assert list(loaded.__dict__) == list(message.__dict__)
    assert loaded.model_dump() == message.model_dump()
    assert repr(loaded) == repr(message)


def test_every_message_class_that_langchain_has_is_in_the_table():
    classes = (getattr(lc, name) for name in lc.__all__)
    messages = {cls.__name__ for cls in classes if isinstance(cls, type) and issubclass(cls, BaseMessage)}
    assert messages == set(MESSAGES)


def test_messages_that_came_back_share_nothing(again):
    first, second = again([HumanMessage("a"), HumanMessage("b")])
    first.additional_kwargs["x"] = 1
    assert second.additional_kwargs == {}
    assert HumanMessage("c").additional_kwargs == {}
    assert again(HumanMessage("d")).additional_kwargs == {}


def test_a_message_that_came_back_works_on(again):
    loaded = again(AIMessage("hi", tool_calls=[CALL]))
    assert loaded.model_copy(update={"id": "x"}).tool_calls == [CALL]
    assert loaded.text == "hi"
    loaded.content = "changed"
    assert AIMessage.model_validate(loaded.model_dump()).content == "changed"


def test_a_short_message_takes_few_bytes():
    assert len(dumps(HumanMessage("hi"))) < 20
    assert len(dumps(AIMessage("hi", id="run-1"))) < 30


def test_equal_messages_have_equal_bytes_in_every_process():
    program = (
        "from langchain_core.messages import AIMessage; from signoff.checkpoint.serde.codec import dumps;"
        "import sys; sys.stdout.write(dumps(AIMessage('a', id='b', name='c', odd=1, other=2)).hex())"
    )
    run = lambda seed: subprocess.run(  # noqa: E731
        [sys.executable, "-W", "ignore", "-c", program],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run("1").stdout == run("2").stdout != ""


def test_a_message_can_be_loaded_before_langchain_was_imported():
    program = (
        "import sys; from signoff.checkpoint.serde.codec import loads;"
        "assert 'langchain_core' not in sys.modules;"
        "message = loads(bytes.fromhex(sys.argv[1]));"
        "print(type(message).__name__, message.content, message.tool_calls[0]['id'])"
    )
    data = dumps(AIMessage("hi", tool_calls=[CALL])).hex()
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, data], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["AIMessage", "hi", "call-1"]


class Own(HumanMessage):
    mood: str = "fine"


def test_a_message_class_of_ones_own_has_to_be_registered(again):
    with pytest.raises(NotStorable, match=r"values\[0\]: .*Own is a pydantic model that is not registered"):
        dumps([Own("hi")])
    register(Own)
    again(Own("hi", mood="great"))


def test_a_message_that_carries_something_that_cannot_travel_is_refused_with_the_path():
    message = ToolMessage("ok", tool_call_id="c", artifact={"connection": object()})
    with pytest.raises(NotStorable, match=r"values\.messages\[1\]\.artifact\.connection: an instance of builtins"):
        dumps({"messages": [HumanMessage("hi"), message]})


def test_a_message_may_carry_an_array():
    loaded = loads(dumps(ToolMessage("ok", tool_call_id="c", artifact=np.arange(3))))
    assert loaded.artifact.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "document",
    [Document("text"), Document("text", metadata={"page": (1, 2)}), Document("text", id="7", metadata={})],
    ids=["bare", "metadata", "id"],
)
def test_a_document_needs_no_registration(again, document):
    assert again(document).model_fields_set == document.model_fields_set
    again([ToolMessage("found", tool_call_id="1", artifact=[document])])


def test_a_document_can_be_loaded_first_thing_and_says_what_is_missing_where_langchain_is():
    data = dumps(Document("text", metadata={"page": 1})).hex()
    program = (
        "import sys; from signoff.checkpoint.serde.codec import loads; from signoff.errors import Undecodable\n"
        "try: print(loads(bytes.fromhex(sys.argv[1])).metadata)\n"
        "except Undecodable as error: print(error)"
    )
    without = "import sys; sys.modules['langchain_core.documents.base'] = None\n" + program
    heard = [
        subprocess.run([sys.executable, "-c", text, data], capture_output=True, text=True, check=True).stdout
        for text in (program, without)
    ]
    assert heard[0].strip() == "{'page': 1}"
    assert "Install langchain-core" in heard[1]


def test_other_classes_of_langchain_are_registered_like_any(again):
    finish = AgentFinish({"output": "done"}, "log")
    with pytest.raises(NotStorable, match=r"register\(AgentFinish\)"):
        dumps(finish)
    register(AgentFinish)
    again(finish)


def test_a_message_cannot_be_loaded_without_langchain_and_the_error_says_so():
    program = (
        "import sys; sys.modules['langchain_core.messages'] = None;"
        "from signoff.checkpoint.serde.codec import loads; from signoff.errors import Undecodable\n"
        "try: loads(bytes.fromhex(sys.argv[1]))\n"
        "except Undecodable as error: print(error)"
    )
    data = dumps(HumanMessage("hi")).hex()
    run = subprocess.run([sys.executable, "-c", program, data], capture_output=True, text=True, check=True)
    assert "Install langchain-core" in run.stdout


def test_a_message_without_content_is_refused():
    with pytest.raises(NotStorable, match=r"lacks some: \['content'\]"):
        dumps(HumanMessage.model_construct())


def test_the_text_of_a_message_comes_back_as_the_text_that_it_equals():
    text = AIMessage("hello").text
    back = loads(dumps({"said": text, "all": [text]}))
    assert back == {"said": text, "all": [text]}
    assert type(back["said"]) is str
