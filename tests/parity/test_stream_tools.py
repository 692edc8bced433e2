"""The tools stream: when tools begin, show a part of their result, end and fail."""

from importlib import import_module
from typing import Annotated, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool

from .harness import Programs, thread, unordered
from .states import Log

program = Programs()


@tool
def double(text: str) -> str:
    """Say it twice."""
    return text * 2


@tool
def fail(text: str) -> str:
    """Never works."""
    raise LookupError(text)


def _calling(*names):
    calls = [{"name": name, "args": {"text": name}, "id": f"call {name}"} for name in names]
    return lambda state: {"messages": [AIMessage("", id="calls", tool_calls=calls)]}


def _with_tools(lib, *tools, called=None, **options):
    node = import_module(f"{lib.root}.prebuilt").ToolNode(tools, **options)
    names = called or [one.name for one in tools]
    return lib.graph(lib.MessagesState, edges="START>call>tools>END", call=_calling(*names), tools=node)


def _events(chunks):
    """Events without the text of what came out, and with where they come from if that is said."""
    shown = [(chunk[0], chunk[-1]) if isinstance(chunk, tuple) else ((), chunk) for chunk in chunks]
    return [(ns, {**event, "output": getattr(event.get("output"), "content", None)}) for ns, event in shown]


@program
def a_tool_that_a_model_asks_for(lib):
    app = lib.app(_with_tools(lib, double))
    yield _events(app.stream({"messages": []}, mode="tools"))


@program
def several_tools_and_one_that_fails(lib):
    app = lib.app(_with_tools(lib, double, fail, handle_tool_errors=True))
    yield unordered(_events(app.stream({"messages": []}, mode="tools")))


@program
def a_tool_that_stops_the_run(lib):
    app = lib.app(_with_tools(lib, fail, handle_tool_errors=False))
    yield _events(app.stream({"messages": []}, mode="tools", fails=True)[:2])


@program
def a_tool_that_returns_a_command(lib):
    @tool
    def note(text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Note something."""
        return lib.Command(update={"messages": [ToolMessage(text, tool_call_id=tool_call_id)]})

    @tool
    def notes(text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Note several things."""
        return [lib.Command(update={}), ToolMessage(text, tool_call_id=tool_call_id)]

    class Listening(BaseCallbackHandler):
        def on_tool_end(self, output, **_):
            heard.append(output)

    heard: list[Any] = []
    for one in (note, notes):
        app = lib.app(_with_tools(lib, one))
        shown = app.stream({"messages": []}, mode="tools", config={"callbacks": [Listening()]})
        for output in (shown[-1]["output"], heard.pop()):
            told = output if isinstance(output, list) else [output]
            yield isinstance(output, list), [isinstance(each, lib.Command) for each in told]


@program.only_sync
def a_tool_that_a_node_calls_itself(lib):
    def call(state):
        return {"log": [double.invoke({"text": "hi"})]}

    app = lib.app(lib.graph(Log, call, edges="START>call>END"))
    yield app.stream({"log": []}, mode="tools")


@program
def tools_of_a_nested_graph(lib):
    inner = _with_tools(lib, double).compile()
    app = lib.app(lib.graph(lib.MessagesState, edges="START>inner>END", inner=inner))
    yield _events(app.stream({"messages": []}, mode="tools"))
    yield _events(app.stream({"messages": []}, mode="tools", subgraphs=True))


@program
def parts_of_a_result(lib):
    def spell(text: str, runtime) -> str:
        """Say it letter by letter."""
        for letter in "abc":
            runtime.emit_output_delta(letter)
        return text

    spell.__annotations__["runtime"] = import_module(f"{lib.root}.prebuilt").ToolRuntime
    app = lib.app(_with_tools(lib, tool(spell)))
    yield _events(app.stream({"messages": []}, mode="tools"))
    yield app.invoke({"messages": []})["messages"][-1].content


@program
def a_tool_that_asks_has_not_failed(lib):
    @tool
    def ask(text: str) -> str:
        """Ask a person."""
        return lib.interrupt(text)

    app = lib.saved(_with_tools(lib, ask))
    yield _events(app.stream({"messages": []}, thread(), mode="tools"))
    yield _events(app.stream(lib.Command(resume="yes"), thread(), mode="tools"))


class Ends(BaseCallbackHandler):
    """Notes how tools begin and end."""

    def __init__(self):
        self.heard = []

    def on_tool_start(self, serialized, input_str, **facts):
        self.heard.append("begins")

    def on_tool_end(self, output, **facts):
        self.heard.append("ends")

    def on_tool_error(self, error, **facts):
        self.heard.append(type(error).__name__)


@program
def a_tool_that_asks_has_ended_for_handlers(lib):
    @tool
    def ask(text: str) -> str:
        """Ask a person."""
        return lib.interrupt(text)

    app, ends = lib.saved(_with_tools(lib, ask)), Ends()
    app.invoke({"messages": []}, {**thread(), "callbacks": [ends]})
    yield ends.heard
    app.invoke(lib.Command(resume="yes"), {**thread(), "callbacks": [ends]})
    yield ends.heard


@program.only_sync
def a_tool_that_hands_over_has_ended(lib):
    def leave(state):
        return lib.Command(graph=lib.Command.PARENT, goto="after")

    inner = lib.graph(lib.MessagesState, leave, edges="START>leave").compile()

    @tool
    def hand_over(text: str) -> str:
        """Hand over."""
        return str(inner.invoke({"messages": []}))

    graph = lib.connect(_with_tools(lib, hand_over).add_node("after", lambda state: None), "after>END")
    app, ends = lib.app(graph), Ends()
    events = app.stream({"messages": []}, {"callbacks": [ends]}, mode="tools")
    yield [event["event"] for event in events], ends.heard


test_same = program.as_test()
