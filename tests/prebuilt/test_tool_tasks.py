"""In a tool step each call is a task of its own, whether all are made in one node or one is sent to each."""

import asyncio
import gc
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool

from signoff.checkpoint.memory import InMemorySaver
from signoff.drivers.calls.aio_futures import CallFuture
from signoff.errors import InvalidAnswer
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode, create_react_agent
from signoff.prebuilt.tool_calls import adone
from signoff.types import Command, RetryPolicy, interrupt

from .models import call, calls, scripted

USER = {"messages": [("user", "hi")]}
CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Desk:
    """Tools that note when they run."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.broken = True

    @property
    def tools(self) -> list[Any]:
        @tool
        def charge(amount: int) -> str:
            """Charge."""
            self.ran.append(f"charge {amount}")
            return f"charged {amount}"

        @tool
        def ask(what: str) -> str:
            """Ask."""
            answer = interrupt(f"{what}?")
            self.ran.append(f"{what} {answer}")
            return f"{what}: {answer}"

        @tool
        def mark(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
            """Mark."""
            self.ran.append("mark")
            return Command(update={"messages": [ToolMessage("marked", tool_call_id=tool_call_id)]})

        @tool
        def mend() -> str:
            """Fails until it is mended."""
            if self.broken:
                raise ValueError("broken")
            return "mended"

        return [charge, ask, mark, mend]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def open_desk(open_agent, desk, version):
    def open_desk(*wanted: Any) -> Any:
        script = calls(*wanted, id="ai-1")
        return open_agent(
            lambda saver: create_react_agent(scripted(script), desk.tools, checkpointer=saver, version=version)
        )

    return open_desk


def contents(result: Any) -> list[Any]:
    return [message.content for message in result["messages"] if isinstance(message, ToolMessage)]


def test_two_tools_that_ask_are_two_questions(open_desk):
    app = open_desk(call("ask", "c1", what="age"), call("ask", "c2", what="city"))
    asked = app.invoke(USER)["__interrupt__"]
    assert [question.value for question in asked] == ["age?", "city?"]
    assert len({question.id for question in asked}) == 2
    result = app.invoke(Command(resume={asked[0].id: 30, asked[1].id: "Rome"}))
    assert contents(result) == ["age: 30", "city: Rome"]


def test_an_answer_without_an_id_is_refused_while_two_are_open(open_desk, desk):
    app = open_desk(call("ask", "c1", what="age"), call("ask", "c2", what="city"))
    app.invoke(USER)
    with pytest.raises(InvalidAnswer, match="2 questions are open"):
        app.invoke(Command(resume="30"))
    assert app.questions() == ["age?", "city?"]


def test_questions_are_answered_one_today_and_one_tomorrow(open_desk, desk):
    app = open_desk(call("ask", "c1", what="age"), call("ask", "c2", what="city"))
    asked = app.invoke(USER)["__interrupt__"]
    still = app.invoke(Command(resume={asked[1].id: "Rome"}))["__interrupt__"]
    assert [question.id for question in still] == [asked[0].id]
    assert desk.ran == ["city Rome"]
    assert contents(app.invoke(Command(resume=30))) == ["age: 30", "city: Rome"]
    assert desk.ran == ["city Rome", "age 30"]


def test_a_tool_that_waits_does_not_start_again_when_its_neighbour_is_answered(open_agent, version):
    begun = []

    @tool
    def ask(what: str) -> str:
        """Ask."""
        begun.append(what)
        return str(interrupt(what))

    wanted = calls(call("ask", "c1", what="age"), call("ask", "c2", what="city"))
    app = open_agent(lambda saver: create_react_agent(scripted(wanted), [ask], checkpointer=saver, version=version))
    _, city = app.invoke(USER)["__interrupt__"]
    begun.clear()
    app.invoke(Command(resume={city.id: "Rome"}))
    assert begun == ["city"]


def test_a_tool_that_finished_is_not_run_again_when_its_neighbour_asks(open_desk, desk):
    app = open_desk(call("charge", "c1", amount=5), call("ask", "c2", what="age"), call("mark", "c3"))
    app.invoke(USER)
    result = app.invoke(Command(resume=30))
    assert sorted(desk.ran) == ["age 30", "charge 5", "mark"]
    assert contents(result) == ["charged 5", "age: 30", "marked"]


def test_a_tool_that_finished_is_not_run_again_when_its_neighbour_fails(open_desk, desk):
    app = open_desk(call("charge", "c1", amount=5), call("mend", "c2"))
    with pytest.raises(ValueError, match="broken"):
        app.invoke(USER)
    desk.broken = False
    assert contents(app.invoke(None)) == ["charged 5", "mended"]
    assert desk.ran == ["charge 5"]


@pytest.mark.parametrize("is_mended_first", [True, False])
def test_what_a_tool_asks_beside_one_that_fails_can_be_answered(open_desk, desk, is_mended_first):
    app = open_desk(call("charge", "c1", amount=5), call("ask", "c2", what="age"), call("mend", "c3"))
    with pytest.raises(ValueError, match="broken"):
        app.invoke(USER)
    assert [question.value for question in app.get_state().interrupts] == ["age?"]
    if not is_mended_first:
        with pytest.raises(ValueError, match="broken"):
            app.invoke(Command(resume=30))
    desk.broken = False
    result = app.invoke(Command(resume=30) if is_mended_first else None)
    assert contents(result) == ["charged 5", "age: 30", "mended"]
    assert desk.ran == ["charge 5", "age 30"]


def test_every_call_has_exactly_one_tool_message_in_the_order_of_the_calls(open_desk):
    app = open_desk(call("ask", "c1", what="a"), call("charge", "c2", amount=1), call("ask", "c3", what="b"))
    first, second = app.invoke(USER)["__interrupt__"]
    app.invoke(Command(resume={second.id: 2}))
    messages = app.invoke(Command(resume={first.id: 1}))["messages"]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    assert answered == ["c1", "c2", "c3"]


def test_the_same_call_twice_is_two_calls(open_desk, desk):
    app = open_desk(call("charge", "c1", amount=5), call("charge", "c2", amount=5), call("ask", "c3", what="ok"))
    app.invoke(USER)
    app.invoke(Command(resume=True))
    assert sorted(desk.ran) == ["charge 5", "charge 5", "ok True"]


def test_calls_of_one_id_have_results_of_their_own_though_a_wrapper_asks_when_they_were_made(desk):
    def asking(request: Any, execute: Any) -> Any:
        result = execute(request)
        return interrupt(request.tool_call["args"]["amount"]) and result

    node = ToolNode(desk.tools, wrap_tool_call=asking)
    app = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile(InMemorySaver())
    twice = calls(call("charge", "c1", amount=5), call("charge", "c1", amount=7))
    asked = app.invoke({"messages": [twice]}, CONFIG)["__interrupt__"]
    result = app.invoke(Command(resume={question.id: True for question in asked}), CONFIG)
    assert contents(result) == ["charged 5", "charged 7"]
    assert sorted(desk.ran) == ["charge 5", "charge 7"]


def test_a_call_that_is_under_way_is_not_made_again_by_a_caller_who_goes_to_the_tools(open_desk, desk):
    app = open_desk(call("charge", "c1", amount=5), call("ask", "c2", what="ok"))
    (asked,) = app.invoke(USER)["__interrupt__"]
    assert [question.id for question in app.invoke(Command(goto="tools"))["__interrupt__"]] == [asked.id]
    result = app.invoke(Command(resume=True))
    assert desk.ran == ["charge 5", "ok True"]
    assert contents(result) == ["charged 5", "ok: True"]


def test_streams_show_one_update_for_the_node_and_none_for_its_calls(desk):
    two = calls(call("charge", "c1", amount=1), call("charge", "c2", amount=2))
    app = create_react_agent(scripted(two), desk.tools, version="v1")
    assert [list(chunk) for chunk in app.stream(USER, stream_mode="updates")] == [["agent"], ["tools"], ["agent"]]
    names = [chunk["name"] for chunk in app.stream(USER, stream_mode="tasks")]
    assert names == ["agent", "agent", "tools", "tools", "agent", "agent"]


def test_a_retry_of_the_node_does_not_repeat_what_finished(desk):
    graph = StateGraph(MessagesState)
    tries = []

    @tool
    def flaky() -> str:
        """Fails the first time."""
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("lost")
        return "there"

    policy = RetryPolicy(initial_interval=0.0, jitter=False)
    graph.add_node("tools", ToolNode([*desk.tools, flaky]), retry_policy=policy)
    graph.add_edge(START, "tools")
    wanted = calls(call("charge", "c1", amount=5), call("flaky", "c2"))
    result = graph.compile().invoke({"messages": [wanted]})
    assert contents(result) == ["charged 5", "there"]
    assert (desk.ran, len(tries)) == (["charge 5"], 2)


def test_a_node_that_calls_tools_and_then_asks_runs_them_once(desk):
    def work(state: Any) -> Any:
        done = ToolNode(desk.tools).invoke({"messages": [calls(call("charge", "c1", amount=5))]})
        interrupt("all right?")
        return done

    graph = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work")
    app = graph.compile(InMemorySaver())
    app.invoke({"messages": []}, CONFIG)
    assert contents(app.invoke(Command(resume=True), CONFIG)) == ["charged 5"]
    assert desk.ran == ["charge 5"]


def test_a_result_is_never_given_to_another_call(desk):
    """A model inside of the node may say something else when the node starts over."""
    amounts = iter([5, 7])

    def work(state: Any) -> Any:
        wanted = calls(call("charge", "c1", amount=next(amounts)), call("ask", "c2", what="ok"))
        return ToolNode(desk.tools).invoke({"messages": [wanted]})

    graph = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work")
    app = graph.compile(InMemorySaver())
    app.invoke({"messages": []}, CONFIG)
    assert contents(app.invoke(Command(resume=True), CONFIG)) == ["charged 7", "ok: True"]


def test_a_question_is_not_taken_for_an_error(open_agent, desk, version):
    node = ToolNode(desk.tools, handle_tool_errors=True)
    wanted = calls(call("ask", "c1", what="age"), call("mend", "c2"))
    app = open_agent(lambda saver: create_react_agent(scripted(wanted), node, checkpointer=saver, version=version))
    app.invoke(USER)
    assert app.questions() == ["age?"]
    first, second = app.invoke(Command(resume=30))["messages"][2:4]
    assert (first.content, second.status) == ("age: 30", "error")


def test_a_sync_node_of_an_async_run_may_call_tools(desk):
    def work(state: Any) -> Any:
        return ToolNode(desk.tools).invoke({"messages": [calls(call("charge", "c1", amount=1), call("mark", "c2"))]})

    app = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile()
    assert contents(asyncio.run(app.ainvoke({"messages": []}))) == ["charged 1", "marked"]


def test_a_sync_node_may_call_tools_on_a_loop_of_its_own(desk):
    def work(state: Any) -> Any:
        wanted = calls(call("charge", "c1", amount=1), call("mark", "c2"))
        return asyncio.run(ToolNode(desk.tools).ainvoke({"messages": [wanted]}))

    app = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile()
    assert contents(app.invoke({"messages": []})) == ["charged 1", "marked"]


def test_a_call_that_somebody_answered_is_not_made(desk):
    wanted = calls(call("charge", "c1", amount=5), call("charge", "c2", amount=6))
    result = ToolNode(desk.tools).invoke({"messages": [wanted, ToolMessage("no", tool_call_id="c1")]})
    assert contents(result) == ["charged 6"]
    assert desk.ran == ["charge 6"]


def test_a_call_that_the_caller_answers_with_a_message_is_not_made_though_it_is_approved(open_desk, desk):
    app = open_desk(call("ask", "c1", what="age"))
    app.invoke(USER)
    by_hand = {"messages": [ToolMessage("is 30", tool_call_id="c1")]}
    assert contents(app.invoke(Command(resume=30, update=by_hand))) == ["is 30"]
    assert desk.ran == []


def test_of_two_calls_that_wait_only_the_one_is_made_that_the_caller_does_not_answer_with_a_message(open_desk, desk):
    app = open_desk(call("ask", "c1", what="age"), call("ask", "c2", what="city"))
    asked = app.invoke(USER)["__interrupt__"]
    by_hand = {"messages": [ToolMessage("is 30", tool_call_id="c1")]}
    result = app.invoke(Command(resume={one.id: "Rome" for one in asked}, update=by_hand))
    assert sorted(contents(result)) == ["city: Rome", "is 30"]
    assert desk.ran == ["city Rome"]


def test_a_graph_that_a_tool_calls_asks_through_it(open_agent, version):
    class Inner(MessagesState):
        reply: str

    def review(state: Any) -> Any:
        return {"reply": interrupt("review?")}

    inner = StateGraph(Inner).add_node("review", review).add_edge(START, "review").compile()

    @tool
    def delegate(job: str) -> str:
        """Delegate."""
        return f"{job}: {inner.invoke({'messages': []})['reply']}"

    wanted = calls(call("delegate", "c1", job="a"), call("delegate", "c2", job="b"))
    app = open_agent(
        lambda saver: create_react_agent(scripted(wanted), [delegate], checkpointer=saver, version=version)
    )
    first, second = app.invoke(USER)["__interrupt__"]
    assert first.id != second.id
    assert contents(app.invoke(Command(resume={first.id: "A", second.id: "B"}))) == ["a: A", "b: B"]


@pytest.mark.parametrize("count", [1, 2])
def test_an_answer_that_a_graph_has_taken_counts_though_the_tool_around_it_failed_then(open_agent, caplog, count):
    inner = StateGraph(MessagesState).add_node("review", lambda state: interrupt("review?") and None)
    graph, failures = inner.add_edge(START, "review").compile(), [ConnectionError("once")]

    @tool
    def delegate() -> str:
        """Delegate."""
        graph.invoke({"messages": []})
        if failures:
            raise failures.pop()
        return "done"

    tools = ToolNode([delegate], wrap_tool_call=lambda request, execute: execute(request))
    app = open_agent(
        lambda saver: StateGraph(MessagesState).add_node("tools", tools).add_edge(START, "tools").compile(saver)
    )
    asked = app.invoke({"messages": [calls(*(call("delegate", f"c{n}") for n in range(count)))]})["__interrupt__"]
    with pytest.raises(ConnectionError, match="once"):
        app.invoke(Command(resume={question.id: "yes" for question in asked}))
    assert contents(app.invoke(None)) == ["done"] * count
    assert caplog.messages == []
    assert not any("unread_answers" in snapshot.metadata for snapshot in app.history())


def test_what_is_sent_to_the_tools_is_the_call_and_not_the_conversation(desk):
    """It is stored once for each call: with the conversation in it, a thread would grow ever faster."""
    wanted = calls(call("charge", "c1", amount=1), call("charge", "c2", amount=2))
    app = create_react_agent(scripted(wanted), desk.tools)
    starts = [chunk for chunk in app.stream(USER, stream_mode="tasks") if "input" in chunk and chunk["name"] == "tools"]
    assert [chunk["input"] for chunk in starts] == [[one] for one in wanted.tool_calls]


def test_a_call_that_fails_while_its_run_is_being_stopped_is_nothing_to_warn_of():
    told: list[str] = []

    class Late(CallFuture):
        def cancel(self, msg: Any = None) -> bool:
            return True  # and it fails a moment later

    class Scope:
        def call(self, node: Any, given: Any) -> Any:
            self.future = Late()
            return self.future

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["message"]))
        scope = Scope()
        waiting = asyncio.create_task(adone(None, scope))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        scope.future.set_exception(OSError("no connection"))
        await asyncio.wait([waiting])
        del scope.future
        gc.collect()

    asyncio.run(main())
    assert told == []


WAITING = AIMessage("I have asked.", id="waiting")


def talkative_tools(ran: list[str]) -> list[Any]:
    @tool
    def ask(what: str) -> str:
        """Ask a person, and say so."""
        answer = interrupt(what, update={"messages": [WAITING]})
        ran.append(f"ask {what}")
        return str(answer)

    @tool
    def look(what: str) -> str:
        """Look."""
        ran.append(f"look {what}")
        return "found"

    return [ask, look]


@pytest.mark.parametrize("nested", [False, True], ids=["alone", "nested"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_tool_may_tell_the_conversation_that_it_waits(open_agent, version, count, nested):
    ran: list[str] = []
    turn = calls(*[call("ask", "c1", what="sure?"), call("look", "c2", what="it")][:count])

    def make(saver: Any) -> Any:
        agent = create_react_agent(
            scripted(turn), talkative_tools(ran), version=version, checkpointer=None if nested else saver
        )
        if not nested:
            return agent
        return StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=saver)

    app = open_agent(make)
    app.invoke(USER)
    messages = app.invoke(Command(resume="yes"))["messages"]
    assert [message.text for message in messages[2:]] == ["I have asked.", *["yes", "found"][:count], "done"]
    assert sorted(ran) == ["ask sure?", "look it"][:count]


@pytest.mark.parametrize(
    ("told", "ran", "said"),
    [
        (
            calls(call("charge", "c1", amount=6), call("ask", "c2", what="a"), id="ai-1"),
            ["a yes"],
            ["charged 5", "a: yes"],
        ),
        (("user", "wait"), ["a yes"], ["charged 5", "a: yes"]),
        (ToolMessage("by hand", tool_call_id="c2"), [], ["by hand", "charged 5"]),
    ],
    ids=["a call that was made is changed", "something is said", "a call is answered"],
)
def test_calls_that_wait_go_on_after_an_update_and_what_was_made_is_not_made_again(
    open_agent, desk, version, told, ran, said
):
    model = scripted(calls(call("charge", "c1", amount=5), call("ask", "c2", what="a"), id="ai-1"))
    app = open_agent(lambda saver: create_react_agent(model, desk.tools, checkpointer=saver, version=version))
    app.invoke(USER)
    app.update_state({"messages": [told]})
    result = app.invoke(None)
    if ran:
        result = app.invoke(Command(resume="yes"))
    assert desk.ran == ["charge 5", *ran]
    assert sorted(contents(result)) == sorted(said)
    assert result["messages"][-1].content == "done"
    assert sorted(contents({"messages": model.seen[-1]})) == sorted(said)
