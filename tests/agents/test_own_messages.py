"""What middleware adds: for the model alone, or for the thread, where each saying is a message of its own."""

from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.messages import AIMessage, HumanMessage

from signoff.agents import create_agent
from signoff.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelResponse,
    after_agent,
    after_model,
    before_agent,
    before_model,
)
from signoff.types import Command, Overwrite

from .desk import PAY, USER, Desk, call, calls, scripted

HOOKS = [before_agent, before_model, after_model, after_agent]


class Wrapping(AgentMiddleware):
    """Says something in the place of the model, or behind it."""

    def __init__(self, say: Any) -> None:
        self.say = say

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return self.say(request, handler(request))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return self.say(request, await handler(request))


class Hinting(AgentMiddleware):
    """Tells the model something in the list of the request itself."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages.append(HumanMessage("a hint"))
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages.append(HumanMessage("a hint"))
        return await handler(request)


def texts(state: Any) -> list[str]:
    return [message.text for message in state["messages"]]


def test_what_a_wrapper_adds_to_the_messages_of_the_request_is_for_the_model_alone(open_in_all_ways, desk: Desk):
    model = scripted(calls(call("look", name="ana")))
    app = open_in_all_ways(lambda saver: create_agent(model, desk.tools, middleware=[Hinting()], checkpointer=saver))
    done = app.invoke(USER)
    assert [texts({"messages": seen})[-1] for seen in model.seen] == ["a hint", "a hint"]
    assert texts(done) == texts(app.get_state().values) == ["hi", "", "found ana", "done"]


def test_nor_does_the_state_of_the_request_have_it():
    seen = []

    class Looking(Hinting):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            said = super().wrap_model_call(request, handler)
            seen.append(texts(request.state))
            return said

    create_agent(scripted(), middleware=[Looking()]).invoke(USER)
    assert seen == [["hi"]]


@pytest.mark.parametrize("kind", HOOKS)
@pytest.mark.parametrize(
    "put",
    [
        lambda one, state: {"messages": one},
        lambda one, state: {"messages": [one]},
        lambda one, state: {"messages": Overwrite([*state["messages"], one])},
        lambda one, state: Command(update={"messages": [one]}),
        lambda one, state: [Command(update={"messages": [one]})],
    ],
)
def test_what_a_hook_says_again_is_said_again(open_agent, kind, put):
    reminder = HumanMessage("remember")
    hook = kind(lambda state, runtime: put(reminder, state))
    app = open_agent(lambda saver: create_agent(scripted(), middleware=[hook], checkpointer=saver))
    app.invoke(USER)
    app.invoke(USER)
    assert texts(app.get_state().values).count("remember") == 2
    assert reminder.id is None


SORRY = AIMessage("sorry")


@pytest.mark.parametrize(
    "say",
    [
        lambda request, said: SORRY,
        lambda request, said: ModelResponse([SORRY]),
        lambda request, said: ModelResponse(SORRY),  # type: ignore[arg-type]
        lambda request, said: ExtendedModelResponse(ModelResponse([SORRY])),
        lambda request, said: ExtendedModelResponse(said, Command(update={"messages": [SORRY]})),
    ],
)
def test_what_a_wrapper_says_again_is_said_again(open_in_all_ways, say):
    app = open_in_all_ways(lambda saver: create_agent(scripted(), middleware=[Wrapping(say)], checkpointer=saver))
    app.invoke(USER)
    app.invoke(USER)
    assert texts(app.get_state().values).count("sorry") == 2
    assert texts(app.get_state().values)[-1] == "sorry"
    assert SORRY.id is None


def test_what_a_wrapper_has_kept_is_said_again(open_in_all_ways):
    kept: list[Any] = []

    def say(request: Any, said: Any) -> Any:
        kept.append(said)
        return kept[0]

    app = open_in_all_ways(lambda saver: create_agent(scripted("one"), middleware=[Wrapping(say)], checkpointer=saver))
    app.invoke(USER)
    app.invoke(USER)
    assert texts(app.get_state().values) == ["hi", "one", "hi", "one"]


def test_a_wrapper_may_still_put_another_message_in_the_place_of_one_that_is_there(open_agent):
    def say(request: Any, said: Any) -> Any:
        return ModelResponse([HumanMessage("***", id=request.messages[0].id), *said.result])

    app = open_agent(lambda saver: create_agent(scripted("one"), middleware=[Wrapping(say)], checkpointer=saver))
    assert texts(app.invoke(USER)) == ["***", "one"]


def raising(state: Any, runtime: Any) -> None:
    """A guard that changes the calls, and the words, of the model in place."""
    said = state["messages"][-1]
    said.content = f"{said.text}!"
    for wanted in said.tool_calls:
        wanted["args"]["amount"] += 1


def test_what_a_hook_changes_in_place_a_cache_does_not_say_to_others(open_in_all_ways, desk: Desk):
    model = scripted(calls(PAY, text="I pay"), cache=InMemoryCache())
    app = open_in_all_ways(
        lambda saver: create_agent(model, desk.tools, middleware=[after_model(raising)], checkpointer=saver)
    )
    said = [app.invoke(USER, {"configurable": {"thread_id": thread}})["messages"][1].text for thread in "abc"]
    assert said == ["I pay!"] * 3
    assert desk.ran == ["pay 6 ana"] * 3


def test_nor_does_a_wrapper_that_has_kept_it(open_in_all_ways, desk: Desk):
    kept = ModelResponse([calls(PAY, text="I pay")])
    layers = [Wrapping(lambda request, said: said if len(request.messages) > 1 else kept), after_model(raising)]
    app = open_in_all_ways(lambda saver: create_agent(scripted(), desk.tools, middleware=layers, checkpointer=saver))
    for thread in "abc":
        app.invoke(USER, {"configurable": {"thread_id": thread}})
    assert desk.ran == ["pay 6 ana"] * 3
