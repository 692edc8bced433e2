"""Runs that are followed with stream_events(version="v3"): the same events, projections and outcomes."""

import asyncio
import operator
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from prebuilt.models import call, calls, scripted

from .agents import agent
from .harness import Boom, Programs, thread
from .states import Log, a, b

program = Programs()


def read(lib, source):
    """All that a projection, or a run, has."""
    if not lib.is_async:
        return list(source)

    async def drained():
        return [item async for item in source]

    return lib.runner.run(drained())


def told(run, name, lib):
    """A value of a run: an attribute, or what a coroutine returns."""
    value = getattr(run, name)
    return lib.runner.run(value()) if lib.is_async else value


def outcome(lib, run):
    return told(run, "output", lib), told(run, "interrupted", lib), told(run, "interrupts", lib)


def events(lib, run):
    return [(event["seq"], event["method"], event["params"]["namespace"], event["params"]["data"],
             event["params"].get("interrupts")) for event in read(lib, run)]  # fmt: skip


def asking(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    return ask


def nested(lib, *, inside):
    inner = lib.graph(Log, a, edges="START>a", last=inside).add_edge("a", "last").compile()
    return lib.saved(lib.graph(Log, b, edges="START>inner>b", inner=inner))


@program
def a_run_from_its_question_to_its_end(lib):
    app = lib.saved(lib.graph(Log, a, b, edges="START>a>ask>b", ask=asking(lib)))
    yield outcome(lib, app.followed({"log": ["in"]}, thread()))
    yield outcome(lib, app.followed(lib.Command(resume="yes"), thread()))
    yield events(lib, app.followed({"log": ["in"]}, thread("2")))
    yield events(lib, app.followed(lib.Command(resume="yes"), thread("2")))


@program
def states_by_themselves(lib):
    app = lib.app(lib.graph(Log, a, b, edges="START>a>b"))
    run = app.followed({"log": ["in"]})
    yield read(lib, run.values)
    yield outcome(lib, run)


@program
def messages_that_nodes_return(lib):
    def say(state):
        said = [AIMessage("one", id="1"), ToolMessage("two", tool_call_id="c", id="2"), HumanMessage("three", id="3")]
        return {"messages": said}

    def push(state):
        lib.push_message(ToolMessage("four", tool_call_id="c", id="4"))

    app = lib.app(lib.graph(lib.MessagesState, say, push, edges="START>say>push"))
    seen = events(lib, app.followed({"messages": [HumanMessage("in", id="0")]}))
    yield [(method, data[0] if method == "messages" else None) for _, method, _, data, _ in seen]


@program
def the_events_and_life_of_nested_graphs(lib):
    app = nested(lib, inside=b)
    yield events(lib, app.followed({"log": ["in"]}, thread()))
    yield read(lib, app.followed({"log": ["in"]}, thread("2")).lifecycle)


@program
def a_nested_graph_that_asks(lib):
    app = nested(lib, inside=asking(lib))
    run = app.followed({"log": ["in"]}, thread())
    yield read(lib, run.lifecycle)
    yield outcome(lib, run)
    yield read(lib, app.followed(lib.Command(resume="yes"), thread()).lifecycle)


def fail(state):
    raise Boom("no")


@program
def a_nested_graph_that_fails(lib):
    run = nested(lib, inside=fail).followed({"log": ["in"]}, thread())
    seen = []
    try:
        seen += read(lib, run.values)
        yield "did not fail"
    except Boom as error:
        yield error
    try:
        yield told(run, "output", lib)
    except Boom as error:
        yield error


@program
def each_nested_graph_has_a_run_of_its_own(lib):
    run = nested(lib, inside=b).followed({"log": ["in"]}, thread())
    if lib.is_async:

        async def inside():
            return [
                (one.graph_name, one.path, one.status, [value async for value in one.values], one.status, one.error)
                async for one in run.subgraphs
            ]

        yield lib.runner.run(inside())
    else:
        yield [(one.graph_name, one.path, one.status, list(one.values), one.status, one.error) for one in run.subgraphs]
    yield outcome(lib, run)


def custom(lib):
    def tell(state):
        lib.get_stream_writer()("here")
        return {"log": ["told"]}

    return lib.graph(Log, a, edges="START>a>tell", tell=tell)


@program
def projections_for_the_other_stream_modes(lib):
    kinds = [lib.UpdatesTransformer, lib.CustomTransformer, lib.CheckpointsTransformer, lib.TasksTransformer]
    app = lib.saved(custom(lib), transformers=kinds)
    for name in ("updates", "custom", "checkpoints", "tasks"):
        yield name, read(lib, getattr(app.followed({"log": []}, thread(name)), name))
    once = app.followed({"log": []}, thread("debug"), transformers=[lib.DebugTransformer])
    yield [one["type"] for one in read(lib, once.debug)]


@program
def a_transformer_of_ones_own(lib):
    class Counting(lib.StreamTransformer):
        required_stream_modes = ("updates",)

        def __init__(self, scope=()):
            super().__init__(scope)
            self.seen = lib.StreamChannel("seen")
            self.count = 0

        def init(self):
            return {"seen": self.seen, "here": self.scope}

        def process(self, event):
            if event["method"] == "updates":
                self.count += 1
                self.seen.push(self.count)
                return False
            return True

    app = lib.app(lib.graph(Log, a, b, edges="START>a>b"), transformers=[Counting])
    run = app.followed({"log": []})
    yield read(lib, run.extensions["seen"]), run.extensions["here"], hasattr(run, "seen"), hasattr(run, "values")
    yield events(lib, app.followed({"log": []}))


@program
def one_that_changes_what_all_others_see(lib):
    class Blackened(lib.StreamTransformer):
        before_builtins = True
        required_stream_modes = ("values",)

        def init(self):
            return {}

        def process(self, event):
            if event["method"] == "values":
                event["params"]["data"] = {"log": ["..." for _ in event["params"]["data"]["log"]]}
            return True

    run = lib.app(lib.graph(Log, a, b, edges="START>a>b"), transformers=[Blackened]).followed({"log": ["secret"]})
    yield read(lib, run.values)


class Chat(TypedDict):
    messages: Annotated[list, operator.add]


def saying(*texts):
    """A node that says something, word by word."""
    model = GenericFakeChatModel(messages=iter([AIMessage(text, id=f"m{i}") for i, text in enumerate(texts)]))

    def say(state):
        return {"messages": [model.invoke("go on")]}

    return say


def written(lib, run):
    """The messages of a run, read word by word."""
    if not lib.is_async:
        return [(one.node, list(one.text), one.output.text) for one in run.messages]

    async def messages():
        return [(one.node, [word async for word in one.text], (await one.output).text) async for one in run.messages]

    return lib.runner.run(messages())


@program
def messages_word_by_word(lib):
    say = saying("one two", "three")
    app = lib.app(lib.graph(Chat, edges="START>say>again", say=say, again=say))
    yield written(lib, app.followed({"messages": []}))


@program.only_sync
def tokens_of_a_graph_that_a_node_follows_while_somebody_streams_all_of_it(lib):
    inner = lib.graph(Chat, edges="START>say", say=saying("one two")).compile()

    def node(state):
        run = inner.stream_events({"messages": []}, version="v3")
        return {"messages": [AIMessage(" ".join(one.output.text for one in run.messages), id="whole")]}

    app = lib.app(lib.graph(Chat, edges="START>node", node=node))
    yield [token.text for _, (token, _) in app.stream({"messages": []}, None, "messages", subgraphs=True)]


@program
def messages_that_nobody_has_read_while_they_were_written(lib):
    def canned(state):
        return {"messages": [AIMessage("as always", id="m")]}

    yield written(lib, lib.app(lib.graph(Chat, edges="START>canned", canned=canned)).followed({"messages": []}))


@program
def messages_of_a_nested_graph_are_its_own(lib):
    inner = lib.graph(Chat, edges="START>say", say=saying("from inside")).compile()
    app = lib.app(lib.graph(Chat, edges="START>inner>out", inner=inner, out=saying("from outside")))
    yield written(lib, app.followed({"messages": []}))


def look(name: str) -> str:
    """Look somebody up."""
    return f"found {name}"


@program
def the_tools_of_an_agent(lib):
    model = scripted(calls(call("look", name="ana")), AIMessage("there"))
    run = agent(lib, model, [look]).followed({"messages": [("user", "where?")]})
    seen = [(one.tool_call_id, one.tool_name, one.input) for one in read(lib, run.tool_calls)]
    yield seen
    yield [message.text for message in told(run, "output", lib)["messages"]]


@program.only_async
def several_who_read_one_run(lib):
    say = saying("one two", "three")
    app = lib.app(lib.graph(Chat, edges="START>say>again", say=say, again=say))
    run = app.followed({"messages": []})

    async def all_of(source: Any) -> list[Any]:
        return [item async for item in source]

    async def at_once():
        return await asyncio.gather(all_of(run.values), all_of(run.messages), all_of(run.lifecycle))

    values, messages, life = lib.runner.run(at_once())
    yield len(values), len(messages), life


test_same = program.as_test()
