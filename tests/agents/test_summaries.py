"""Long conversations become short ones: when, how much of them, and who writes the summary."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from signoff.agents import create_agent
from signoff.agents.middleware import SummarizationMiddleware, before_model
from signoff.errors import InvalidInput
from signoff.graph.message import REMOVE_ALL_MESSAGES

from .desk import call, calls, scripted

WORDS = "word " * 10
"""A message of some 15 tokens."""


def conversation(count: int) -> list[Any]:
    return [HumanMessage(f"{number}: {WORDS}") for number in range(count)]


def taking(tokens: int, *says: Any) -> Any:
    """A model that takes so many tokens."""
    model = scripted(*says)
    model.profile = {"max_input_tokens": tokens}
    return model


def summed_up(middleware: SummarizationMiddleware, count: int = 5) -> list[str]:
    agent = create_agent(scripted("done"), [], middleware=[middleware])
    return [message.text for message in agent.invoke({"messages": conversation(count)})["messages"]]


@pytest.mark.parametrize(
    ("trigger", "is_long"),
    [
        (("messages", 5), True),
        (("messages", 6), False),
        (("fraction", 0.5), True),
        (("fraction", 0.9), False),
        ({"messages": 5, "tokens": 50}, True),
        ({"messages": 5, "tokens": 5000}, False),
        ([{"messages": 5, "tokens": 5000}, ("messages", 3)], True),
        ([("tokens", 5000), {"messages": 9, "fraction": 0.1}], False),
    ],
)
def test_a_conversation_is_long_by_messages_tokens_or_a_part_of_what_the_model_takes(trigger, is_long):
    middleware = SummarizationMiddleware(taking(130), trigger=trigger, keep=("messages", 2))
    old, kept = middleware.parted(conversation(5))
    assert (len(old), len(kept)) == ((3, 2) if is_long else (0, 5))


def test_what_is_kept_can_be_a_part_of_what_the_model_takes():
    middleware = SummarizationMiddleware(taking(100), trigger=("messages", 5), keep=("fraction", 0.4))
    assert len(middleware.parted(conversation(5))[1]) == 2


@pytest.mark.parametrize("named", [{"trigger": ("fraction", 0.5)}, {"keep": ("fraction", 0.5)}])
def test_a_part_of_what_nobody_knows_is_refused(named):
    with pytest.raises(InvalidInput, match="max_input_tokens"):
        SummarizationMiddleware(scripted(), **named)


@pytest.mark.parametrize("size", [("fraction", 2), ("fraction", 0), ("messages", 0), ("messages", "many"), {}, "all"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(InvalidInput, match="is no size"):
        SummarizationMiddleware(taking(100), trigger=size)


def test_no_more_than_the_newest_of_what_is_old_is_read_if_that_is_said():
    def sum_up(messages: Any) -> Any:
        return AIMessage(f"heard {[number for number in range(3) if f'{number}: word' in messages[0].text]}")

    model = scripted(sum_up)
    middleware = SummarizationMiddleware(
        model, trigger=("messages", 5), keep=("messages", 2), trim_tokens_to_summarize=40
    )
    assert "heard [1, 2]" in summed_up(middleware)[0]


@pytest.mark.parametrize(
    "summarizer",
    [
        scripted("short"),
        lambda messages: f"short, of {len(messages)}",
        RunnableLambda(lambda messages: f"short, of {len(messages)}"),
    ],
    ids=["a model", "a function", "a runnable"],
)
def test_somebody_else_may_write_the_summary(summarizer):
    middleware = SummarizationMiddleware(
        scripted(), trigger=("messages", 5), summarizer=summarizer, keep=("messages", 2)
    )
    said = summed_up(middleware)
    assert "short" in said[0]
    assert len(said) == 4


def test_a_coroutine_function_may_write_the_summary():
    async def sum_up(messages: Any) -> str:
        return "short"

    middleware = SummarizationMiddleware(scripted(), trigger=("messages", 5), summarizer=sum_up, keep=("messages", 2))
    agent = create_agent(scripted("done"), [], middleware=[middleware])
    assert "short" in asyncio.run(agent.ainvoke({"messages": conversation(5)}))["messages"][0].text


def test_what_writes_no_summary_is_refused():
    with pytest.raises(InvalidInput, match="The summarizer is 5"):
        SummarizationMiddleware(scripted(), summarizer=5)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_what_was_said_while_a_call_waited_does_not_part_it_from_its_result(keep):
    said: Any = [
        HumanMessage("pay ana"),
        calls(call("pay", "c1"), call("pay", "c2")),
        HumanMessage("and hurry"),
        ToolMessage("paid", tool_call_id="c1"),
        ToolMessage("paid", tool_call_id="c2"),
    ]
    middleware = SummarizationMiddleware(scripted(), trigger=("messages", 4), keep=("messages", keep))
    old, kept = middleware.parted(said)
    whole = {"c1", "c2"}
    for part in (old, kept):
        wanted = {one["id"] for message in part if isinstance(message, AIMessage) for one in message.tool_calls}
        assert {message.tool_call_id for message in part if isinstance(message, ToolMessage)} == wanted
        whole -= wanted
    assert whole == set()


def test_a_summary_has_an_id_for_whoever_comes_next():
    seen = []

    @before_model
    def look(state: Any, runtime: Any) -> None:
        seen.append(state["messages"][0].id)

    middleware = SummarizationMiddleware(scripted("short"), trigger=("messages", 3), keep=("messages", 1))
    result = create_agent(scripted("done"), [], middleware=[middleware, look]).invoke({"messages": conversation(3)})
    assert seen == [result["messages"][0].id]


def test_a_summary_can_be_tried_outside_of_a_run():
    middleware = SummarizationMiddleware(scripted("short"), trigger=("messages", 3), keep=("messages", 1))
    update = middleware.before_model({"messages": conversation(3)}, None)
    removed, summary, *kept = update["messages"]
    assert (removed.id, summary.text.endswith("short"), len(kept)) == (REMOVE_ALL_MESSAGES, True, 1)
