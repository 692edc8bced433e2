"""Scenario 8: a chat shows its words as they come, and pauses to ask."""

import threading

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from signoff.graph import START, MessagesState, StateGraph
from signoff.types import Command, interrupt

HELLO = {"messages": [("human", "Find me a hotel.")]}
BOTH = {"stream_mode": ["messages", "updates"], "subgraphs": True}


def scripted(*sentences):
    return GenericFakeChatModel(messages=iter([AIMessage(sentence) for sentence in sentences]))


def chat_graph(model):
    """speak -> confirm -> book, where the last two nodes depend on what a person says."""

    def speak(state: MessagesState):
        return {"messages": [model.invoke(state["messages"])]}

    def confirm(state: MessagesState):
        return {"messages": [("human", interrupt("Shall I book it?"))]}

    def book(state: MessagesState):
        return {"messages": [model.invoke(state["messages"])]}

    return StateGraph(MessagesState).add_sequence([speak, confirm, book]).add_edge(START, "speak")


def nested(graph, depth):
    for level in range(depth):
        graph = StateGraph(MessagesState).add_node(f"level{level}", graph.compile()).add_edge(START, f"level{level}")
    return graph


def tokens(chunks, node):
    """The words that a node's model said, in order."""
    messages = [chunk for _, mode, chunk in chunks if mode == "messages"]
    return [token.content for token, metadata in messages if metadata["langgraph_node"] == node]


def questions(chunks):
    """The questions in a stream, and from how deep they came."""
    return [
        (len(ns), question.value)
        for ns, mode, chunk in chunks
        if mode == "updates"
        for question in chunk.get("__interrupt__", ())
    ]


@pytest.fixture(params=[0, 1, 2], ids=["flat", "nested", "nested-twice"])
def depth(request):
    return request.param


@pytest.fixture
def app(open_app, depth):
    return open_app(nested(chat_graph(scripted("I found a room.", "It is booked.")), depth))


def test_words_come_one_by_one_before_the_node_is_done(app, depth):
    chunks = app.stream(HELLO, **BOTH)
    assert tokens(chunks, "speak") == ["I", " ", "found", " ", "a", " ", "room."]
    done = [mode == "updates" and "speak" in chunk for _, mode, chunk in chunks].index(True)
    assert tokens(chunks[:done], "speak") == tokens(chunks, "speak")


def test_a_question_arrives_from_any_depth(app, depth):
    asked = questions(app.stream(HELLO, **BOTH))
    assert asked == [(level, "Shall I book it?") for level in range(depth, -1, -1)]


def test_the_answer_goes_on_and_says_nothing_twice(app, depth):
    app.stream(HELLO, **BOTH)
    chunks = app.stream(Command(resume="Yes."), **BOTH)
    assert tokens(chunks, "book") == ["It", " ", "is", " ", "booked."]
    assert tokens(chunks, "speak") == []
    said = [message.content for message in app.get_state().values["messages"]]
    assert said == ["Find me a hotel.", "I found a room.", "Yes.", "It is booked."]


def test_a_reader_may_leave_at_the_question(app, depth):
    chunks = app.stream(HELLO, until=lambda chunk: questions([chunk]), **BOTH)
    assert questions(chunks) == [(depth, "Shall I book it?")]
    chunks = app.stream(Command(resume="Yes."), **BOTH)
    assert "".join(tokens(chunks, "book")) == "It is booked."


class Halting(GenericFakeChatModel):
    """Says its second word when the first one was heard."""

    heard: threading.Event

    def _stream(self, *args, **kwargs):
        for count, chunk in enumerate(super()._stream(*args, **kwargs)):
            assert count == 0 or self.heard.wait(20), "nobody heard the first word"
            yield chunk

    model_config = {"arbitrary_types_allowed": True}


def test_a_word_is_heard_while_the_model_still_speaks(open_app):
    model = Halting(messages=iter([AIMessage("One two three.")]), heard=threading.Event())
    app = open_app(nested(chat_graph(model), 1))
    chunks = app.stream(HELLO, until=lambda chunk: model.heard.set(), **BOTH)
    assert "".join(tokens(chunks, "speak")) == "One two three."
