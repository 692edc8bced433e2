"""Long conversations become short ones: when, how much of them, and who writes the summary."""

import asyncio
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from signoff.agents import create_agent
from signoff.agents.middleware import SummarizationMiddleware, before_model
from signoff.errors import InvalidGraph, InvalidInput
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


def test_what_is_kept_is_found_with_few_counts():
    counted: list[int] = []

    def count(messages: Any) -> int:
        counted.append(len(messages))
        return len(messages)

    middleware = SummarizationMiddleware(scripted(), trigger=("messages", 1), keep=("tokens", 100), token_counter=count)
    old, kept = middleware.parted(conversation(5000))
    assert (len(old), len(kept)) == (4900, 100)
    assert len(counted) < 20


@pytest.mark.parametrize(("tokens", "left"), [(1, 1), (4, 1), (5, 1), (9, 1), (10, 2), (24, 4), (25, 5), (1000, 5)])
def test_as_much_is_kept_as_fits_and_the_last_message_anyway(tokens, left):
    middleware = SummarizationMiddleware(
        scripted(), trigger=("messages", 1), keep=("tokens", tokens), token_counter=lambda messages: 5 * len(messages)
    )
    assert len(middleware.parted(conversation(5))[1]) == left


@pytest.mark.parametrize("named", [{"trigger": ("fraction", 0.5)}, {"keep": ("fraction", 0.5)}])
def test_a_part_of_what_nobody_knows_is_refused(named):
    with pytest.raises(InvalidInput, match="max_input_tokens"):
        SummarizationMiddleware(scripted(), **named)


@pytest.mark.parametrize(
    "size",
    [
        *(("fraction", 2), ("fraction", 0), ("fraction", True), ("messages", 0), ("messages", "many"), ("tokens", 9.5)),
        *({}, {"messages": True}, {"tokens": 100.5}, "all"),
    ],
)
def test_what_is_no_size_is_refused(size):
    with pytest.raises(InvalidInput, match="is no size"):
        SummarizationMiddleware(taking(100), trigger=size)


@pytest.mark.parametrize(
    ("keyword", "instead"), [("max_tokens_before_summary", "trigger"), ("messages_to_keep", "keep")]
)
def test_an_older_keyword_is_refused_with_what_to_write(keyword, instead):
    with pytest.raises(InvalidGraph, match=rf"has no keyword {keyword}=\. Write {instead}="):
        SummarizationMiddleware(scripted(), **{keyword: 5})


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


def reporting(tokens: int, provider: str = "scriptedmodel") -> list[Any]:
    """A short conversation, of which a provider has said how many tokens it has read and written."""
    usage: Any = {"input_tokens": tokens - 5, "output_tokens": 5, "total_tokens": tokens}
    said = AIMessage("Hello.", usage_metadata=usage, response_metadata={"model_provider": provider})
    return [HumanMessage("Hi"), said, HumanMessage("Go on")]


@pytest.mark.parametrize(
    ("said", "is_long"),
    [
        (reporting(5000), True),
        (reporting(500), False),
        (reporting(5000, "another"), False),
        ([*reporting(5000), *reporting(500)], False),
    ],
    ids=["long", "short", "another provider", "shorter since"],
)
def test_a_conversation_is_as_long_as_its_provider_has_reported(said, is_long):
    # What counts is what the model was given: its instructions and tools are not among the messages.
    middleware = SummarizationMiddleware(scripted(), trigger=("tokens", 1000), keep=("messages", 1))
    assert bool(middleware.parted(said)[0]) == is_long


def test_what_is_counted_is_fitted_to_what_the_provider_has_reported():
    said = [*reporting(40)[:2], *conversation(20)]
    counted = SummarizationMiddleware(scripted(), trigger=("tokens", 450), keep=("messages", 1))
    assert len(counted.parted(said)[0]) == 21
    by_hand = SummarizationMiddleware(scripted(), trigger=("tokens", 450), token_counter=len, keep=("messages", 1))
    assert by_hand.parted(said)[0] == []


def failing(*errors: Exception) -> tuple[Any, list[str]]:
    """A model that fails with these before it writes a summary, and what it was asked."""
    left, asked = list(errors), []

    def sum_up(messages: Any) -> AIMessage:
        asked.append(messages[0].text)
        if left:
            raise left.pop(0)
        return AIMessage("short")

    return scripted(sum_up), asked


def test_a_summary_that_fails_is_tried_again_in_sync_and_async():
    for summed in (summed_up, lambda middleware: asyncio.run(asummed_up(middleware))):
        model, asked = failing(ConnectionError("gone"), TimeoutError("late"))
        middleware = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 2))
        middleware.retrying.initial_delay = 0
        assert "short" in summed(middleware)[0]
        assert len(asked) == 3


async def asummed_up(middleware: SummarizationMiddleware) -> list[str]:
    agent = create_agent(scripted("done"), [], middleware=[middleware])
    return [message.text for message in (await agent.ainvoke({"messages": conversation(5)}))["messages"]]


def test_a_summary_that_never_succeeds_fails_the_run_and_the_conversation_is_kept():
    model, asked = failing(*[ConnectionError("gone")] * 3)
    middleware = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 2))
    middleware.retrying.initial_delay = 0
    with pytest.raises(ConnectionError):
        summed_up(middleware)
    assert len(asked) == 3


def test_a_summary_of_too_much_is_written_of_its_beginning_and_its_end():
    model, asked = failing(ContextOverflowError("too long"))
    middleware = SummarizationMiddleware(model, trigger=("messages", 50), keep=("messages", 2))
    assert "short" in summed_up(middleware, 50)[0]
    whole, part = asked
    assert len(part) < 0.7 * len(whole)
    assert [number for number in (0, 25, 47) if f"{number}: word" in part] == [0, 47]


def test_a_summary_that_is_too_much_even_then_fails():
    model, asked = failing(*[ContextOverflowError("too long")] * 2)
    with pytest.raises(ContextOverflowError):
        summed_up(SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 2)))
    assert len(asked) == 2


def test_whoever_writes_a_summary_is_told_of_pictures():
    seen: Any = HumanMessage([{"type": "text", "text": "Look"}, {"type": "image", "url": "https://example.com/a.png"}])
    model, asked = failing()
    middleware = SummarizationMiddleware(model, trigger=("messages", 3), keep=("messages", 1))
    middleware.before_model({"messages": [seen, *conversation(2)]}, None)
    assert "https://example.com/a.png" in asked[0]


def test_a_summary_that_is_no_text_is_refused():
    middleware = SummarizationMiddleware(scripted(), trigger=("messages", 5), summarizer=lambda messages: 5)
    with pytest.raises(InvalidInput, match="The summarizer returned 5"):
        summed_up(middleware, 30)
