"""LangGraph's own savers under signoff: what its serializer makes of our words comes back as it was."""

import asyncio
import copy
import operator
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver as TheirMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer as TheirSerializer

from signoff.constants import MISSING
from signoff.graph import START, StateGraph
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
    serde = TheirSerializer()
    assert repr(serde.loads_typed(serde.dumps_typed(word))) == repr(word)  # its tuples are lists then


def test_a_command_that_answers_nothing_still_answers_nothing():
    serde = TheirSerializer()
    assert serde.loads_typed(serde.dumps_typed(Command())).resume is MISSING
    assert copy.deepcopy(MISSING) is MISSING


def test_a_send_comes_back_with_its_timeout():
    serde = TheirSerializer()
    assert serde.loads_typed(serde.dumps_typed(Send("b", 1, timeout=3))).timeout == TimeoutPolicy(run_timeout=3)


class Log(TypedDict):
    log: Annotated[list, operator.add]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("sent", [Send("ask", Command(update={"log": ["x"]})), Send("ask", "x", timeout=600)], ids=str)
def test_what_was_sent_to_a_node_is_there_again_when_it_is_answered(sent, durability):
    async def ask(given):
        return {"log": [repr(given), interrupt("ok?")]}

    graph = StateGraph(Log).add_node("ask", ask).add_conditional_edges(START, lambda _: [sent], ["ask"])
    app = graph.compile(checkpointer=TheirMemorySaver())

    async def call(given):
        return await app.ainvoke(given, CONFIG, durability=durability)

    asyncio.run(call({"log": []}))
    assert app.get_state(CONFIG).next == ("ask",)
    assert asyncio.run(call(Command(resume="yes"))) == {"log": [repr(sent.arg), "yes"]}
