"""A message has its id as soon as a node has written it: whoever is shown it finds it again, wherever it comes up."""

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from typing_extensions import TypedDict

from signoff.channels import BinaryOperatorAggregate, DeltaChannel
from signoff.errors import InvalidUpdateError
from signoff.graph import START, MessagesState, StateGraph
from signoff.graph.message import InvalidMessage, add_messages, add_messages_at_once
from signoff.pregel import NodeBuilder, Pregel
from signoff.types import Command, Overwrite, interrupt

CONFIG: Any = {"configurable": {"thread_id": "1"}}
QUESTION = HumanMessage("what?", id="1")


class Delta(TypedDict):
    messages: Annotated[list[Any], DeltaChannel(add_messages_at_once)]


class Formatted(TypedDict):
    messages: Annotated[list[Any], add_messages(format="langchain-openai")]


FORMS = {
    "message": lambda: [AIMessage("hello")],
    "alone": lambda: AIMessage("hello"),
    "chunk": lambda: [AIMessageChunk("hello")],
    "pair": lambda: [("ai", "hello")],
    "pair_alone": lambda: ("ai", "hello"),
    "dict": lambda: [{"role": "ai", "content": "hello"}],
    "text": lambda: ["hello"],
    "empty_id": lambda: [AIMessage("hello", id="")],
    "dict_with_empty_id": lambda: {"role": "ai", "content": "hello", "id": ""},
}
"""What a node may write."""


def graph_of(*nodes: Any, saver: Any = None, state: Any = MessagesState) -> Any:
    """A graph whose nodes are all behind the start."""
    graph = StateGraph(state)
    for node in nodes:
        graph.add_node(node)
        graph.add_edge(START, node.__name__)
    return graph.compile(checkpointer=saver)


def ids_of(values: Any) -> dict[str, str]:
    found = {message.text: message.id for message in values["messages"]}
    assert all(found.values())
    return found


def only_message(update: Any) -> Any:
    [message] = update["messages"] if isinstance(update["messages"], list) else [update["messages"]]
    return message


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("state", [MessagesState, Delta])
def test_an_update_shows_the_id_that_the_state_has(form, state):
    def speak(state):
        return {"messages": FORMS[form]()}

    def murmur(state):
        return Command(update={"messages": [AIMessage("hm")]})

    for nodes in ([speak], [speak, murmur]):
        shown = {}
        for mode, chunk in graph_of(*nodes, state=state).stream({"messages": []}, stream_mode=["updates", "values"]):
            if mode == "updates":
                shown |= {message.text: message.id for message in map(only_message, chunk.values())}
        assert shown == ids_of(chunk)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_beside_a_question_keeps_its_id(form, saver):
    def speak(state):
        return {"messages": FORMS[form]()}

    def ask(state):
        return {"messages": [AIMessage(interrupt("really?"))]}

    graph = graph_of(ask, speak, saver=saver)
    seen = [
        graph.invoke({"messages": [QUESTION]}, CONFIG),
        graph.get_state(CONFIG).values,
        graph.invoke(Command(resume="yes"), CONFIG),
        graph.get_state(CONFIG).values,
    ]
    assert len({ids_of(values)["hello"] for values in seen}) == 1


def test_what_is_told_while_asking_keeps_its_id(saver):
    def ask(state):
        interrupt("really?", update={"messages": [("ai", "I have asked")]})

    graph = graph_of(ask, saver=saver)
    graph.invoke({"messages": [QUESTION]}, CONFIG)
    before, again = graph.get_state(CONFIG).values, graph.get_state(CONFIG).values
    after = graph.invoke(Command(resume="yes"), CONFIG)
    assert ids_of(before) == ids_of(again) == ids_of(after)


def test_what_a_caller_tells_beside_one_of_two_answers_keeps_its_id(saver):
    def ask(state):
        interrupt("one?", key="one")

    def ask_more(state):
        interrupt("two?", key="two")

    graph = graph_of(ask, ask_more, saver=saver)
    graph.invoke({"messages": [QUESTION]}, CONFIG)
    first = graph.invoke(Command(resume={"one": 1}, update={"messages": ("human", "and hurry")}), CONFIG)
    seen = [first, graph.get_state(CONFIG).values, graph.invoke(Command(resume={"two": 2}), CONFIG)]
    assert len({ids_of(values)["and hurry"] for values in seen}) == 1


def test_nodes_of_the_low_level_api_write_messages_with_ids():
    speak = NodeBuilder().subscribe_only("go").do(lambda value: [("ai", value)]).write_to("messages")
    channels = {"messages": BinaryOperatorAggregate(list, add_messages)}
    graph = Pregel(nodes={"speak": speak}, channels=channels, input_channels=["go"], output_channels=["messages"])
    shown = dict(graph.stream({"go": "hello"}, stream_mode=["updates", "values"]))
    assert only_message(shown["updates"]["speak"]).id == ids_of(shown["values"])["hello"]


@pytest.mark.parametrize("form", FORMS)
def test_the_stream_of_messages_shows_it_however_it_was_written(form):
    def speak(state):
        return {"messages": FORMS[form]()}

    shown = list(graph_of(speak).stream({"messages": [QUESTION]}, stream_mode=["messages", "values"]))
    [message] = [payload[0] for mode, payload in shown if mode == "messages"]
    assert message.id == ids_of(shown[-1][1])["hello"]


def test_the_node_sees_the_id_on_its_own_message():
    made = AIMessage("hello")

    def speak(state):
        return {"messages": [made]}

    assert graph_of(speak).invoke({"messages": [QUESTION]})["messages"][-1].id == made.id


@pytest.mark.parametrize("written", [[object()], None, [("ai", "fine"), 3]])
def test_what_is_no_message_is_refused_where_it_is_merged_and_not_tried_again(written):
    tries = []

    def speak(state):
        tries.append(1)
        return {"messages": written}

    graph = StateGraph(MessagesState)
    graph.add_node(speak, error_handler=lambda state: {"messages": ["handled"]}).add_edge(START, "speak")
    with pytest.raises(InvalidUpdateError):
        graph.compile().invoke({"messages": [QUESTION]})
    assert tries == [1]


def test_an_overwrite_is_taken_as_it_is():
    def speak(state):
        return {"messages": Overwrite([AIMessage("alone")])}

    assert graph_of(speak).invoke({"messages": [QUESTION]})["messages"] == [AIMessage("alone")]


def test_a_format_still_applies():
    def speak(state):
        return {"messages": [("ai", "hello")]}

    result = graph_of(speak, state=Formatted).invoke({"messages": [QUESTION]})
    assert [message.text for message in result["messages"]] == ["what?", "hello"]
    with pytest.raises(InvalidMessage):
        add_messages(format="langchain-openai")([], [object()])
