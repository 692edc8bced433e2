"""The bridge to LangChain: tokens, callbacks, and graphs as runnables, without passing anything along."""

import asyncio
import subprocess
import sys
import threading
from itertools import cycle
from typing import Any, TypedDict

import pytest
from langchain_core._api import LangChainBetaWarning
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import Runnable, RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import BaseTool, tool

from signoff.callbacks import GraphCallbackHandler
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import GraphRecursionError, InvalidGraph
from signoff.func import task
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode
from signoff.types import Command, interrupt


def model(*texts):
    return GenericFakeChatModel(messages=iter([AIMessage(content=text) for text in texts]))


def chat(chat_model, **settings):
    def speak(state: MessagesState):
        return {"messages": [chat_model.invoke(state["messages"])]}

    return StateGraph(MessagesState).add_node(speak).add_edge(START, "speak").compile(**settings)


def achat(chat_model, **settings):
    async def speak(state: MessagesState):
        return {"messages": [await chat_model.ainvoke(state["messages"])]}

    return StateGraph(MessagesState).add_node(speak).add_edge(START, "speak").compile(**settings)


HELLO = {"messages": [HumanMessage("hello", id="h")]}


def test_tokens_arrive_while_a_model_speaks():
    chunks = list(chat(model("good morning you")).stream(HELLO, stream_mode="messages"))
    assert [message.content for message, _ in chunks] == ["good", " ", "morning", " ", "you"]
    assert all(isinstance(message, AIMessageChunk) for message, _ in chunks)
    assert {metadata["langgraph_node"] for _, metadata in chunks} == {"speak"}


def test_tokens_arrive_in_an_async_run():
    async def tokens():
        stream = achat(model("good morning")).astream(HELLO, stream_mode="messages")
        return [message.content async for message, _ in stream]

    assert asyncio.run(tokens()) == ["good", " ", "morning"]


def test_the_first_token_is_seen_before_the_node_ends():
    reader_has_it = threading.Event()

    def speak(state: MessagesState):
        answer = model("one two").invoke(state["messages"])
        assert reader_has_it.wait(10), "the token came only with the end of the node"
        return {"messages": [answer]}

    app = StateGraph(MessagesState).add_node(speak).add_edge(START, "speak").compile()
    stream = app.stream(HELLO, stream_mode=["messages", "updates"])
    mode, (message, _) = next(stream)
    reader_has_it.set()
    assert (mode, message.content) == ("messages", "one")
    assert [mode for mode, _ in stream] == ["messages", "messages", "updates"]


def test_a_tag_keeps_a_model_out_of_the_stream():
    silent = model("secret thoughts").with_config(tags=["nostream"])
    chunks = list(chat(silent).stream(HELLO, stream_mode="messages"))
    # Its tokens are not shown; the message that the node returns is the node's own word.
    assert [message.content for message, _ in chunks] == ["secret thoughts"]


def test_a_message_is_shown_once():
    given = AIMessage("again", id="x")

    def first(state: MessagesState):
        return {"messages": [given]}

    def second(state: MessagesState):
        return {"messages": [given]}

    app = StateGraph(MessagesState).add_sequence([first, second]).add_edge(START, "first").compile()
    assert [message.id for message, _ in app.stream(HELLO, stream_mode="messages")] == ["x"]


class Recorder(BaseCallbackHandler):
    def __init__(self):
        self.events = []

    def on_chain_start(self, serialized, inputs, *, name=None, parent_run_id=None, **kwargs):
        self.events.append(("start", name, "root" if parent_run_id is None else "inside"))

    def on_chain_end(self, outputs, **kwargs):
        self.events.append(("end", outputs))

    def on_chain_error(self, error, **kwargs):
        self.events.append(("error", repr(error)))

    def on_chat_model_start(self, serialized, messages, **kwargs):
        self.events.append(("model", len(messages[0])))


def test_handlers_see_the_run_its_nodes_and_what_they_call():
    recorder = Recorder()
    chat(model("hi"), name="desk").invoke(HELLO, {"callbacks": [recorder]})
    kinds = [event[:2] if event[0] == "start" else event[0] for event in recorder.events]
    assert kinds == [("start", "desk"), ("start", "speak"), "model", "end", "end"]


async def leave(app, config, begun):
    run = app.astream(HELLO, config)
    await anext(run)  # what the other node has returned
    await run.aclose()


async def cancel(app, config, begun):
    run = asyncio.create_task(app.ainvoke(HELLO, config))
    await asyncio.wait_for(begun.wait(), 10)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


async def fail(app, config, begun):
    with pytest.raises(ValueError, match="other"):
        await app.ainvoke(HELLO, config)


@pytest.mark.parametrize("call_off", [leave, cancel, fail])
def test_a_node_that_is_called_off_has_ended_for_handlers(call_off):
    recorder, begun = Recorder(), asyncio.Event()

    async def wait(state):
        begun.set()
        await asyncio.Event().wait()

    async def other(state):
        await asyncio.wait_for(begun.wait(), 10)
        if call_off is fail:
            raise ValueError("other")

    inner = StateGraph(MessagesState).add_node(wait).add_edge(START, "wait").compile()
    outer = StateGraph(MessagesState).add_node("inner", inner).add_node(other)
    app = outer.add_edge(START, "inner").add_edge(START, "other").compile()
    asyncio.run(call_off(app, {"callbacks": [recorder]}, begun))
    kinds = [event[0] for event in recorder.events]
    assert kinds.count("start") == kinds.count("end") + kinds.count("error")
    assert kinds[-1] == "error"


def test_an_async_handler_is_awaited():
    class Slow(AsyncCallbackHandler):
        heard = []

        async def on_chain_start(self, serialized, inputs, *, name=None, **kwargs):
            await asyncio.sleep(0)
            self.heard.append(name)

    asyncio.run(achat(model("hi"), name="desk").ainvoke(HELLO, {"callbacks": [Slow()]}))
    assert Slow.heard == ["desk", "speak"]


def test_a_pause_is_no_error_for_a_handler_and_no_key_of_the_output():
    def ask(state: MessagesState):
        return {"messages": [interrupt("sure?")]}

    recorder = Recorder()
    app = StateGraph(MessagesState).add_node(ask).add_edge(START, "ask").compile(InMemorySaver())
    app.invoke(HELLO, {"callbacks": [recorder], "configurable": {"thread_id": "1"}})
    assert not [event for event in recorder.events if event[0] == "error"]
    assert recorder.events[-1] == ("end", {"messages": HELLO["messages"]})


def test_a_failure_is_an_error_for_a_handler():
    def fail(state: MessagesState):
        raise ZeroDivisionError("no")

    recorder = Recorder()
    app = StateGraph(MessagesState).add_node(fail).add_edge(START, "fail").compile()
    with pytest.raises(ZeroDivisionError):
        app.invoke(HELLO, {"callbacks": [recorder]})
    assert [event for event in recorder.events if event[0] == "error"] == [("error", "ZeroDivisionError('no')")] * 2


class PauseRecorder(GraphCallbackHandler):
    def __init__(self):
        self.heard = []

    def on_interrupt(self, event):
        self.heard.append((event.status, [question.value for question in event.interrupts]))

    def on_resume(self, event):
        self.heard.append(("resume", event.checkpoint_ns))


def test_a_handler_hears_of_pauses_and_resumes():
    def ask(state: MessagesState):
        return {"messages": [interrupt("sure?")]}

    def last(state: MessagesState):
        return None

    heard = PauseRecorder()
    config = {"callbacks": [heard], "configurable": {"thread_id": "1"}}
    builder = StateGraph(MessagesState).add_sequence([ask, last]).add_edge(START, "ask")
    app = builder.compile(InMemorySaver(), interrupt_before=["last"])
    app.invoke(HELLO, config)
    app.invoke(Command(resume="yes"), config)
    app.invoke(None, config)
    assert heard.heard == [("pending", ["sure?"]), ("resume", ()), ("interrupt_before", []), ("resume", ())]


class Careless(GraphCallbackHandler):
    def on_interrupt(self, event):
        raise ZeroDivisionError("at a pause")

    def on_resume(self, event):
        raise ZeroDivisionError("at a resume")


class CarelessInALoop(Careless):
    async def on_interrupt(self, event):
        super().on_interrupt(event)

    async def on_resume(self, event):
        super().on_resume(event)


def asking_app():
    def ask(state: MessagesState):
        return {"messages": [interrupt("sure?")]}

    return StateGraph(MessagesState).add_node(ask).add_edge(START, "ask").compile(InMemorySaver())


@pytest.mark.parametrize("careless", [Careless, CarelessInALoop])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_a_handler_raises_at_a_pause_is_logged_and_the_others_hear_of_it(careless, is_async, caplog):
    heard, app = PauseRecorder(), asking_app()
    config = {"callbacks": [careless(), heard], "configurable": {"thread_id": "1"}}
    for input in (HELLO, Command(resume="yes")):
        asyncio.run(app.ainvoke(input, config)) if is_async else app.invoke(input, config)
    assert heard.heard == [("pending", ["sure?"]), ("resume", ())]
    assert "at a pause" in caplog.text
    assert "at a resume" in caplog.text


def test_a_handler_that_insists_stops_the_run():
    strict = Careless()
    strict.raise_error = True
    with pytest.raises(ZeroDivisionError, match="at a pause"):
        asking_app().invoke(HELLO, {"callbacks": [strict], "configurable": {"thread_id": "1"}})


class Number(TypedDict):
    x: int


def plus_one():
    return StateGraph(Number).add_node("add", lambda state: {"x": state["x"] + 1}).add_edge(START, "add").compile()


def test_a_graph_is_a_runnable_in_a_chain():
    app = plus_one()
    assert isinstance(app, Runnable)
    chain = RunnableLambda(lambda x: {"x": x}) | app | RunnableLambda(lambda state: state["x"])
    assert chain.invoke(1) == 2
    assert chain.batch([1, 2, 3]) == [2, 3, 4]
    assert asyncio.run(chain.ainvoke(5)) == 6
    assert (app | (lambda state: state["x"] * 10)).invoke({"x": 1}) == 20


COMPILED_FIRST = """
from typing import TypedDict

from signoff.graph import START, StateGraph


class Number(TypedDict):
    x: int


app = StateGraph(Number).add_node("add", lambda state: {"x": state["x"] + 1}).add_edge(START, "add").compile()

from langchain_core.runnables import RunnableLambda, RunnablePassthrough

chain = RunnableLambda(lambda x: {"x": x}) | app
print(chain.invoke(1), RunnablePassthrough.assign(more=app).invoke({"x": 1}))
"""


def test_a_graph_is_a_runnable_though_it_was_compiled_before_langchain_was_loaded():
    done = subprocess.run([sys.executable, "-c", COMPILED_FIRST], capture_output=True, text=True, check=True)
    assert done.stdout == "{'x': 2} {'x': 1, 'more': {'x': 2}}\n"


def test_a_runnable_is_a_node_and_knows_the_config():
    seen = {}

    def look(state, config):
        seen.update(config["metadata"])
        return {"x": state["x"] * 2}

    app = StateGraph(Number).add_node("double", RunnableLambda(look)).add_edge(START, "double").compile()
    assert app.invoke({"x": 4}, {"metadata": {"user": "ana"}}) == {"x": 8}
    assert seen["langgraph_node"] == "double"
    assert seen["user"] == "ana"


class Text(TypedDict):
    x: str


def ask_twice(state):
    return {"x": f"{interrupt('name?')} {interrupt('age?')}"}


@pytest.fixture(params=["sync, then async", "async, then sync"])
def turns(request):
    """How a run is made: the one way and the other, in turn."""
    ways = [lambda app, given, config: app.invoke(given, config), lambda app, *given: asyncio.run(app.ainvoke(*given))]
    return cycle(ways if request.param == "sync, then async" else ways[::-1])


def test_what_a_runnable_asks_in_a_sync_run_may_be_answered_in_an_async_one(turns):
    graph = StateGraph(Text).add_node("ask", RunnableLambda(ask_twice)).add_edge(START, "ask")
    app, config = graph.compile(InMemorySaver()), {"configurable": {"thread_id": "1"}}
    next(turns)(app, {"x": ""}, config)
    left = next(turns)(app, Command(resume="Ana"), config)["__interrupt__"]
    assert [question.value for question in left] == ["age?"]
    assert next(turns)(app, Command(resume=41), config) == {"x": "Ana 41"}


def test_what_runnables_side_by_side_ask_is_asked_together_and_each_has_its_answer(turns):
    asking = RunnableParallel(name=lambda state: interrupt("name?"), age=lambda state: interrupt("age?"))
    node = asking | (lambda said: {"x": f"{said['name']} {said['age']}"})
    app = StateGraph(Text).add_node("ask", node).add_edge(START, "ask").compile(InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    questions = next(turns)(app, {"x": ""}, config)["__interrupt__"]
    answers = {question.id: "Ana" if question.value == "name?" else 41 for question in questions}
    assert len(answers) == 2
    assert next(turns)(app, Command(resume=answers), config) == {"x": "Ana 41"}


def test_a_runnable_that_picks_another_awaits_that():
    async def answer(state):
        return {"x": "picked"}

    node = RunnableLambda(lambda state: RunnableLambda(answer))
    app = StateGraph(Text).add_node("pick", node).add_edge(START, "pick").compile()
    assert asyncio.run(app.ainvoke({"x": ""})) == {"x": "picked"}


def test_a_runnable_that_returns_itself_comes_to_an_end(turns):
    loop = RunnableLambda(lambda state: loop)
    app = StateGraph(Text).add_node("loop", loop).add_edge(START, "loop").compile()
    with pytest.raises(RecursionError):
        next(turns)(app, {"x": ""}, {})


class OnlySync(Runnable[Any, Any]):
    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        return input


class Named(RunnableLambda[Any, Any]):
    """A function by a name of the user's."""


@pytest.mark.parametrize(
    "runnable",
    [
        OnlySync(),
        Named(str),
        RunnablePassthrough() | OnlySync(),
        RunnablePassthrough() | Named(str),
        RunnablePassthrough().with_fallbacks([OnlySync()]),
        RunnableBranch((lambda state: True, OnlySync()), RunnablePassthrough()),
    ],
)
def test_a_runnable_that_an_async_run_calls_in_a_thread_can_have_no_timeout(runnable):
    with pytest.raises(InvalidGraph, match="a thread cannot be stopped"):
        StateGraph(Text).add_node("slow", runnable, timeout=1)


def test_a_runnable_that_is_awaited_can_have_a_timeout():
    async def look(state):
        return {"x": "seen"}

    app = StateGraph(Text).add_node("look", Named(look), timeout=60).add_edge(START, "look").compile()
    assert asyncio.run(app.ainvoke({"x": ""})) == {"x": "seen"}


class Double(BaseTool):
    name: str = "double"
    description: str = "Double."

    def _run(self, x: str, run_manager: Any = None) -> Any:
        return {"x": f"{x}{x} in {type(run_manager).__name__}"}


class Post(AsyncCallbackHandler):
    """Tells of tools by a queue, which belongs to the event loop of the run."""

    def __init__(self):
        self.heard, self.loops = [], set()

    async def on_tool_start(self, *args, **kwargs):
        self.heard.append("start")
        self.loops.add(asyncio.get_running_loop())

    async def on_tool_end(self, *args, **kwargs):
        self.heard.append("end")
        self.loops.add(asyncio.get_running_loop())


@pytest.mark.parametrize("node", [Double(), RunnablePassthrough() | Double(), RunnableParallel(x=Double())])
def test_a_sync_tool_of_any_class_tells_async_handlers_on_the_event_loop_of_the_run(node):
    post = Post()

    async def run():
        app = StateGraph(Text).add_node("double", node).add_edge(START, "double").compile()
        done = await app.ainvoke({"x": "ha"}, {"callbacks": [post]})
        return str(done), post.loops == {asyncio.get_running_loop()}

    done, is_told_here = asyncio.run(run())
    assert "haha in CallbackManagerForToolRun" in done
    assert post.heard == ["start", "end"]
    assert is_told_here


def test_a_tool_node_tells_async_handlers_of_a_sync_tool_on_the_event_loop_of_the_run():
    post = Post()

    async def run():
        app = StateGraph(MessagesState).add_node("tools", ToolNode([Double()])).add_edge(START, "tools").compile()
        wanted = {"name": "double", "args": {"x": "ha"}, "id": "1"}
        done = await app.ainvoke({"messages": [AIMessage("", tool_calls=[wanted])]}, {"callbacks": [post]})
        return done["messages"][-1].content, post.loops == {asyncio.get_running_loop()}

    done, is_told_here = asyncio.run(run())
    assert "haha in CallbackManagerForToolRun" in done
    assert post.heard == ["start", "end"]
    assert is_told_here


@task
def plus(x):
    return x + 1


@tool
def add_in_a_tool(x: int) -> int:
    """Add."""
    return plus(x).result()


async def in_a_coroutine(x):
    return plus(x).result()


async def call_a_sync_tool(state):
    return {"x": await add_in_a_tool.ainvoke({"x": state["x"]})}


def call_a_sync_runnable(state):
    return {"x": RunnableLambda(lambda x: plus(x).result()).invoke(state["x"])}


def call_an_async_runnable(state):
    return {"x": asyncio.run(RunnableLambda(in_a_coroutine).ainvoke(state["x"]))}


@pytest.mark.parametrize(
    ("node", "is_async"),
    [
        (call_a_sync_tool, True),
        (call_a_sync_runnable, True),
        (call_a_sync_runnable, False),
        (call_an_async_runnable, False),
    ],
)
def test_handlers_hear_of_a_task_that_is_called_inside_of_a_runnable_of_either_kind(node, is_async):
    recorder = Recorder()
    app = StateGraph(Number).add_node("node", node).add_edge(START, "node").compile()
    config = {"callbacks": [recorder]}
    done = asyncio.run(app.ainvoke({"x": 1}, config)) if is_async else app.invoke({"x": 1}, config)
    assert done == {"x": 2}
    assert ("start", "plus", "inside") in recorder.events
    assert ("end", 2) in recorder.events


def test_a_graph_called_inside_of_a_runnable_reports_to_its_handlers():
    recorder = Recorder()
    app = plus_one()
    chain = RunnableLambda(lambda state: app.invoke(state), name="outer")
    assert chain.invoke({"x": 1}, {"callbacks": [recorder]}) == {"x": 2}
    starts = [event[1:] for event in recorder.events if event[0] == "start"]
    assert starts == [("outer", "root"), ("LangGraph", "inside"), ("add", "inside")]


def test_events_of_a_graph():
    async def events():
        return [
            (event["event"], event["name"])
            async for event in achat(model("hi you"), name="desk").astream_events(HELLO, version="v2")
        ]

    assert asyncio.run(events()) == [
        ("on_chain_start", "desk"),
        ("on_chain_start", "speak"),
        ("on_chat_model_start", "GenericFakeChatModel"),
        ("on_chat_model_stream", "GenericFakeChatModel"),
        ("on_chat_model_stream", "GenericFakeChatModel"),
        ("on_chat_model_stream", "GenericFakeChatModel"),
        ("on_chat_model_end", "GenericFakeChatModel"),
        ("on_chain_stream", "speak"),
        ("on_chain_end", "speak"),
        ("on_chain_stream", "desk"),
        ("on_chain_end", "desk"),
    ]


def test_what_a_runnable_can_do_a_graph_can_do():
    app = plus_one()
    assert app.map().invoke([{"x": 1}, {"x": 2}]) == [{"x": 2}, {"x": 3}]
    assert app.pick("x").invoke({"x": 1}) == 2
    assert app.bind(output_keys="x").invoke({"x": 1}) == 2
    assert app.with_retry(stop_after_attempt=2).invoke({"x": 1}) == {"x": 2}
    assert app.with_config(tags=["t"], run_name="n").invoke({"x": 1}) == {"x": 2}


def test_a_graph_can_be_a_tool():
    with pytest.warns(LangChainBetaWarning):
        tool = plus_one().as_tool(name="plus_one", description="Adds one.")
    assert (tool.name, list(tool.args)) == ("plus_one", ["x"])
    assert tool.invoke({"x": 1}) == {"x": 2}


def test_results_can_be_taken_as_they_come():
    app = plus_one()
    assert sorted(app.batch_as_completed([{"x": 1}, {"x": 5}])) == [(0, {"x": 2}), (1, {"x": 6})]

    async def acompleted():
        return sorted([pair async for pair in app.abatch_as_completed([{"x": 1}, {"x": 5}])])

    assert asyncio.run(acompleted()) == [(0, {"x": 2}), (1, {"x": 6})]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_handler_with_methods_of_the_same_names_sees_no_output_twice(is_async):
    class Exporter(BaseCallbackHandler):
        def __init__(self):
            self.seen = []

        def on_chain_end(self, outputs, **facts):
            self.seen.append(outputs)

        def tap_output_iter(self, run_id, output):
            for one in output:
                self.seen.append(one)
                yield one

        async def tap_output_aiter(self, run_id, output):
            async for one in output:
                self.seen.append(one)
                yield one

    app = StateGraph(MessagesState).add_node("say", lambda state: {"messages": []}).add_edge(START, "say").compile()
    exporter = Exporter()
    given = {"messages": []}, {"callbacks": [exporter]}
    asyncio.run(app.ainvoke(*given)) if is_async else app.invoke(*given)
    assert exporter.seen == [{"messages": []}, {"messages": []}], "that of the node, and that of the graph"


def test_a_conditional_edge_that_asks_has_not_failed():
    heard = Recorder()

    def where(state):
        return "__end__" if interrupt("on?") == "no" else "add"

    graph = StateGraph(Number).add_node("add", lambda state: {"x": state["x"] + 1}).add_edge(START, "add")
    app = graph.add_conditional_edges("add", where).compile(InMemorySaver())
    config = {"callbacks": [heard], "configurable": {"thread_id": "1"}}
    app.invoke({"x": 1}, config)
    assert [event[0] for event in heard.events] == ["start", "start", "start", "end", "end", "end"]
    assert app.invoke(Command(resume="no"), config) == {"x": 2}
    assert "error" not in [event[0] for event in heard.events]


def test_a_runnable_that_returns_itself_for_ever_is_broken_off():
    def again(state):
        return RunnableLambda(again)

    app = StateGraph(Number).add_node("again", RunnableLambda(again)).add_edge(START, "again").compile()
    with pytest.raises(GraphRecursionError, match="a node with an edge to itself"):
        asyncio.run(app.ainvoke({"x": 1}))
