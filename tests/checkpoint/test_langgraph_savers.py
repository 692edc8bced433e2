"""LangGraph's own savers under signoff: what its serializer makes of our words comes back as it was."""

import asyncio
import copy
import operator
from dataclasses import dataclass
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver as TheirMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer as TheirEncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer as TheirSerializer

from signoff.constants import MISSING
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox, NoQuestionIndex, scanning
from signoff.types import Command, Interrupt, Overwrite, Send, TimeoutPolicy, interrupt

pytestmark = pytest.mark.filterwarnings("ignore::signoff.errors.LimitedSaver")

CONFIG = {"configurable": {"thread_id": "1"}}

WORDS = [
    Command(),
    Command(resume=None),
    Command(update={"log": ["x"]}, by="ana"),
    Command(graph=Command.PARENT, goto=["a", Send("b", Command(goto="c"))]),
    Send("b", Command(update={"log": ["x"]})),
    Overwrite(["x"]),
    Interrupt(value="ok?", id="1"),
    TimeoutPolicy(idle_timeout=3),
]


@pytest.mark.parametrize("word", WORDS, ids=str)
def test_our_words_come_back_from_their_serializer_as_they_were(word):
    serde = TheirSerializer(allowed_msgpack_modules=True)
    assert repr(serde.loads_typed(serde.dumps_typed(word))) == repr(word)  # its tuples are lists then


def test_a_command_that_answers_nothing_still_answers_nothing():
    serde = TheirSerializer(allowed_msgpack_modules=True)
    assert serde.loads_typed(serde.dumps_typed(Command())).resume is MISSING
    assert copy.deepcopy(MISSING) is MISSING


def test_a_send_comes_back_with_its_timeout():
    serde = TheirSerializer(allowed_msgpack_modules=True)
    assert serde.loads_typed(serde.dumps_typed(Send("b", 1, timeout=3))).timeout == TimeoutPolicy(run_timeout=3)


class Log(TypedDict):
    log: Annotated[list, operator.add]


def strict():
    """One that makes only what it is told of, as LangGraph's do with LANGGRAPH_STRICT_MSGPACK."""
    return TheirMemorySaver(serde=TheirSerializer(allowed_msgpack_modules=None))


def encrypting():
    serde = TheirEncryptedSerializer(Plain(), TheirSerializer(allowed_msgpack_modules=None))
    return TheirMemorySaver(serde=serde)


class Plain:
    """Encrypts nothing."""

    def encrypt(self, plaintext):
        return "plain", plaintext

    def decrypt(self, ciphername, ciphertext):
        return ciphertext


@pytest.mark.parametrize("saver", [TheirMemorySaver, strict, encrypting])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("sent", [Send("ask", Command(update={"log": ["x"]})), Send("ask", "x", timeout=600)], ids=str)
def test_what_was_sent_to_a_node_is_there_again_when_it_is_answered(sent, durability, saver):
    async def ask(given):
        return {"log": [repr(given), interrupt("ok?")]}

    graph = StateGraph(Log).add_node("ask", ask).add_conditional_edges(START, lambda _: [sent], ["ask"])
    app = graph.compile(checkpointer=saver())

    async def call(given):
        return await app.ainvoke(given, CONFIG, durability=durability)

    asyncio.run(call({"log": []}))
    assert app.get_state(CONFIG).next == ("ask",)
    assert asyncio.run(call(Command(resume="yes"))) == {"log": [repr(sent.arg), "yes"]}


@dataclass
class Order:
    """A class of the program's own."""

    amount: int


class Orders(TypedDict):
    order: Order


def test_a_saver_that_makes_only_what_it_is_told_of_knows_the_classes_of_the_program():
    def pay(state):
        assert interrupt(f"Pay {state['order'].amount}?")

    saver = strict()
    app = StateGraph(Orders).add_node(pay).add_edge(START, "pay").compile(checkpointer=saver)
    app.invoke({"order": Order(5)}, CONFIG)
    assert app.get_state(CONFIG).values == {"order": Order(5)}
    assert app.invoke(Command(resume=True), CONFIG) == {"order": Order(5)}


def test_the_inbox_reads_such_a_saver_by_itself(monkeypatch):
    monkeypatch.setattr(scanning, "_told", set())
    saver = strict()
    app = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt("ok?")]}).add_edge(START, "ask")
    app.compile(checkpointer=saver).invoke({"log": []}, CONFIG)
    saver.serde = strict().serde  # as in another process
    with pytest.warns(NoQuestionIndex):
        assert [question.value for question in Inbox(saver).open()] == ["ok?"]
