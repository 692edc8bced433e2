"""add_messages, MessagesState and push_message."""

import gc
import subprocess
import sys
from typing import Annotated, Any, get_type_hints

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)

from loading import modules_after
from signoff._scope import running
from signoff.errors import InvalidInput, InvalidUpdateError, SignoffError
from signoff.graph.message import (
    REMOVE_ALL_MESSAGES,
    InvalidMessage,
    MessagesState,
    UnknownMessage,
    add_messages,
    push_message,
)

HELLO = HumanMessage("hello", id="1")
ANSWER = AIMessage("hi", id="2")


def contents(messages: list[BaseMessage]) -> list[Any]:
    return [message.content for message in messages]


def test_new_messages_are_appended_in_order():
    assert add_messages([HELLO], [ANSWER, HumanMessage("bye", id="3")]) == [
        HELLO,
        ANSWER,
        HumanMessage("bye", id="3"),
    ]


def test_the_left_list_is_never_changed_and_never_returned():
    left = [HELLO]
    for right in ([], [ANSWER], [HumanMessage("other", id="1")], [RemoveMessage("1")]):
        assert add_messages(left, right) is not left
        assert left == [HELLO]


def test_the_right_list_is_never_changed_and_never_returned():
    right = [AIMessageChunk("a", id="1"), "b"]
    result = add_messages([], right)
    assert result is not right
    assert right == [AIMessageChunk("a", id="1"), "b"]


def test_messages_already_in_the_list_stay_the_same_objects():
    assert add_messages([HELLO], [ANSWER])[0] is HELLO


@pytest.mark.parametrize("update", ["hi", ("user", "hi"), {"role": "user", "content": "hi"}, HumanMessage("hi")])
def test_one_message_may_come_without_a_list(update):
    assert contents(add_messages([], update)) == ["hi"]
    assert contents(add_messages(update, [])) == ["hi"]


def test_every_form_of_a_message_may_be_mixed_in_a_list():
    result = add_messages([], ["a", ("ai", "b"), {"role": "system", "content": "c"}, HELLO, ["user", "e"]])
    assert [message.type for message in result] == ["human", "ai", "system", "human", "human"]


def test_messages_without_an_id_get_one_that_differs():
    result = add_messages(["a"], ["b", "c"])
    assert len({message.id for message in result}) == 3
    assert all(isinstance(message.id, str) for message in result)


def test_an_empty_id_is_none():
    result = add_messages([HumanMessage("a", id="")], [AIMessage("b", id=""), {"role": "ai", "content": "c", "id": ""}])
    assert contents(result) == ["a", "b", "c"]
    assert len({message.id for message in result}) == 3


def test_the_id_given_to_an_update_is_seen_by_the_node_that_made_it():
    made = AIMessage("x")
    assert add_messages([], [made])[0].id == made.id is not None


def test_a_saved_message_without_an_id_is_copied_before_it_gets_one():
    saved = HumanMessage("old")
    result = add_messages([saved], [ANSWER])
    assert saved.id is None
    assert isinstance(result[0].id, str)
    assert result[0].content == "old"


def test_a_known_id_replaces_in_place():
    result = add_messages([HELLO, ANSWER], [HumanMessage("changed", id="1")])
    assert contents(result) == ["changed", "hi"]


def test_the_last_of_two_updates_with_one_id_wins():
    assert contents(add_messages([HELLO], [AIMessage("x", id="9"), AIMessage("y", id="9")])) == ["hello", "y"]


def test_a_removal_by_id_removes():
    assert add_messages([HELLO, ANSWER], RemoveMessage("1")) == [ANSWER]


def test_removing_twice_is_removing():
    assert add_messages([HELLO], [RemoveMessage("1"), RemoveMessage("1")]) == []


def test_a_message_written_after_its_removal_takes_the_old_place():
    result = add_messages([HELLO, ANSWER], [RemoveMessage("1"), HumanMessage("again", id="1")])
    assert contents(result) == ["again", "hi"]


def test_removing_an_empty_id_is_refused_and_names_it():
    with pytest.raises(UnknownMessage, match="RemoveMessage\\(id=''\\)"):
        add_messages([HELLO], [RemoveMessage("")])


def test_removing_an_unknown_id_is_refused_and_names_it():
    with pytest.raises(UnknownMessage, match="'nope'.*REMOVE_ALL_MESSAGES") as caught:
        add_messages([HELLO], [ANSWER, RemoveMessage("nope")])
    assert isinstance(caught.value, InvalidUpdateError)
    assert isinstance(caught.value, ValueError)


def test_remove_all_forgets_everything_before_it():
    update = [ANSWER, RemoveMessage(REMOVE_ALL_MESSAGES), AIMessage("fresh", id="3")]
    assert contents(add_messages([HELLO], update)) == ["fresh"]


def test_the_last_remove_all_counts():
    everything = RemoveMessage(REMOVE_ALL_MESSAGES)
    assert add_messages([HELLO], [everything, ANSWER, everything]) == []


def test_only_a_removal_can_remove_all():
    assert len(add_messages([HELLO], [HumanMessage("sly", id=REMOVE_ALL_MESSAGES)])) == 2


def test_what_follows_remove_all_is_merged_like_any_update():
    update = [RemoveMessage(REMOVE_ALL_MESSAGES), ANSWER, AIMessage("new", id="2"), HELLO, RemoveMessage("1")]
    assert contents(add_messages([HELLO], update)) == ["new"]


def test_chunks_become_whole_messages_on_both_sides():
    result = add_messages([AIMessageChunk("a", id="1")], [AIMessageChunk("b", id="2")])
    assert [type(message) for message in result] == [AIMessage, AIMessage]


def test_a_message_class_of_the_user_is_kept():
    class Note(HumanMessage):
        pass

    note = Note("x", id="7")
    assert add_messages([note], [HELLO])[0] is note


@pytest.mark.parametrize(
    "update",
    [5, [None], [5], {"role": "nobody", "content": "x"}, {"content": "x"}, ("a", "b", "c"), ("user", 5)],
)
def test_what_cannot_become_a_message_is_refused(update):
    with pytest.raises(InvalidMessage, match="cannot become a message"):
        add_messages([], update)
    with pytest.raises(InvalidMessage):
        add_messages(update, [])


def test_a_refused_message_names_a_long_value_only_in_part():
    with pytest.raises(InvalidMessage) as caught:
        add_messages([], [{"content": "x" * 10_000}])
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("left", "right", "name"), [(None, [], "left"), ([], None, "right")])
def test_none_for_one_side_is_refused_and_says_which(left, right, name):
    with pytest.raises(ValueError, match=f"'{name}' is None"):
        add_messages(left, right)
    with pytest.raises(ValueError, match=f"'{name}' is None"):
        add_messages()(left, right)


def test_without_lists_it_is_a_reducer():
    assert add_messages()([HELLO], [ANSWER]) == [HELLO, ANSWER]


def test_openai_format_applies_to_old_and_new_messages():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    reducer = add_messages(format="langchain-openai")
    result = reducer([HumanMessage([image], id="1")], [AIMessage([{"type": "text", "text": "ok"}], id="2")])
    assert result[0].content == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]
    assert result[1].content == "ok"


def test_openai_format_turns_a_tool_result_into_a_tool_message():
    block = {"type": "tool_result", "tool_use_id": "9", "content": [{"type": "text", "text": "42"}]}
    call = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "9"}])
    result = add_messages([call], [HumanMessage([block])], format="langchain-openai")
    assert isinstance(result[1], ToolMessage)
    assert result[1].tool_call_id == "9"


def test_openai_format_applies_after_remove_all():
    update = [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage([{"type": "text", "text": "hi"}])]
    assert contents(add_messages([HELLO], update, format="langchain-openai")) == ["hi"]


def test_an_unknown_format_is_refused_where_it_is_written():
    with pytest.raises(InvalidInput, match="'xml'.*langchain-openai"):
        add_messages(format="xml")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="xml"):
        add_messages([], [], format="xml")  # type: ignore[call-overload]


def test_an_unknown_option_is_a_type_error():
    with pytest.raises(TypeError, match="shape"):
        add_messages(shape=1)  # type: ignore[call-overload]


def test_a_role_without_openai_format_is_refused_as_an_invalid_message():
    from langchain_core.messages import ChatMessage

    with pytest.raises(InvalidMessage, match="critic"):
        add_messages([], [ChatMessage("x", role="critic")], format="langchain-openai")


def test_the_messages_state_has_the_reducer():
    hint = get_type_hints(MessagesState, include_extras=True)["messages"]
    assert hint == Annotated[list[Any], add_messages]


def test_appending_does_not_call_python_for_each_old_message():
    def calls(length: int) -> int:
        left = [AIMessage("x", id=str(number)) for number in range(length)]
        add_messages(left, [HELLO])
        count = 0

        def count_call(*_: Any) -> None:
            nonlocal count
            count += 1

        gc.disable()  # a collection in between may call what others have hooked into it
        sys.setprofile(count_call)
        try:
            add_messages(left, [AIMessage("x", id="new")])
        finally:
            sys.setprofile(None)
            gc.enable()
        return count

    assert calls(1000) == calls(10)


class Scope:
    """What a running task offers to push_message()."""

    def __init__(self) -> None:
        self.pushed: list[tuple[BaseMessage, str | None]] = []

    def push_message(self, message: BaseMessage, state_key: str | None) -> None:
        self.pushed.append((message, state_key))


@pytest.fixture
def scope():
    scope = Scope()
    token = running.set(scope)
    yield scope
    running.reset(token)


def test_a_pushed_message_reaches_the_running_task_and_is_returned(scope):
    assert push_message(ANSWER) is ANSWER
    assert push_message(HELLO, state_key=None) is HELLO
    assert push_message(HELLO, state_key="log") is HELLO
    assert scope.pushed == [(ANSWER, "messages"), (HELLO, None), (HELLO, "log")]


def test_a_pushed_dict_becomes_a_message_and_a_chunk_stays_a_chunk(scope):
    assert push_message({"role": "ai", "content": "x", "id": "4"}) == AIMessage("x", id="4")
    assert isinstance(push_message(AIMessageChunk("x", id="5")), AIMessageChunk)


@pytest.mark.parametrize("message", ["x", AIMessage("x"), AIMessage("x", id="")])
def test_a_message_without_an_id_is_not_pushed(scope, message):
    with pytest.raises(ValueError, match="needs a message with an id"):
        push_message(message)
    assert scope.pushed == []


def test_pushing_outside_of_a_run_is_refused():
    with pytest.raises(SignoffError, match=r"push_message\(\)"):
        push_message(ANSWER)


def test_importing_the_module_imports_no_framework():
    heavy = {"langchain_core", "langgraph", "pydantic", "asyncio", "numpy"}
    assert modules_after("import signoff.graph.message") & heavy == set()


def test_without_langchain_core_the_error_names_the_extra():
    script = (
        "import sys\n"
        "sys.modules['langchain_core'] = None\n"
        "from signoff.graph.message import MissingExtra, add_messages\n"
        "assert add_messages([], []) == []\n"
        "try:\n"
        "    add_messages([], 'hi')\n"
        "except MissingExtra as error:\n"
        "    assert 'pip install \"signoff[agents]\"' in str(error), error\n"
        "    assert isinstance(error, ImportError)\n"
        "else:\n"
        "    raise AssertionError('no error')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


class Incomparable:
    """As an array is: whether one equals another is no yes or no."""

    def __eq__(self, other):
        raise ValueError("the truth of this is ambiguous")

    __hash__ = None  # type: ignore[assignment]


def test_messages_that_cannot_be_compared_are_merged_as_others_are():
    found, again = (ToolMessage("found", tool_call_id="c1", id="2", artifact=Incomparable()) for _ in range(2))
    for messages in ([HELLO, found], [HELLO, again]):
        assert [one.content for one in add_messages(messages, "more")] == ["hello", "found", "more"]


def test_a_message_that_is_given_another_id_where_it_is_stays_one():
    message = HumanMessage("hello", id="1")
    messages = add_messages([message], [])
    message.id = "2"
    assert add_messages(messages, [message]) == [message]
