"""Programs about ToolNode, outside of graphs and inside."""

from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolArg, InjectedToolCallId, tool
from pydantic import BaseModel

from .harness import Library, Programs, thread
from .plain import Boom
from .prebuilt import Node, call, calls, name, quietly, said

programs = Programs()


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


ONE = calls(call("add", a=1, b=2))
FAILING = calls(call("fail", text="no"))
MISFIT = calls(call("add", a="x"))


def returning(make: Any) -> Any:
    """A tool that returns what a function makes of its call's id."""

    @tool("give")
    def give(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Give it."""
        return make(tool_call_id)

    return give


GIVE = calls(call("give"))


def done(id: str, text: str = "ok", **more: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=id, **more)


# Called with


@programs
def a_state_gives_a_state(lib: Library):
    yield Node(lib, [add])({"messages": [ONE]})


@programs
def messages_give_messages(lib: Library):
    yield Node(lib, [add])([HumanMessage("x"), ONE])


@programs
def bare_calls_give_a_state(lib: Library):
    yield Node(lib, [add])([call("add", a=1, b=2)])


@programs
def several_calls_keep_their_order(lib: Library):
    yield Node(lib, [add])({"messages": [calls(*(call("add", f"c{n}", a=n, b=n) for n in range(6)))]})


@programs
def another_messages_key(lib: Library):
    yield Node(lib, [add], messages_key="talk")({"talk": [ONE]})


@programs
def a_pydantic_state(lib: Library):
    class State(BaseModel):
        messages: list[Any]

    yield Node(lib, [add])(State(messages=[ONE]))


@programs
def the_calls_of_the_last_message_of_the_model(lib: Library):
    yield Node(lib, [add])({"messages": [ONE, HumanMessage("and?")]})


@programs
def no_calls_no_messages(lib: Library):
    yield Node(lib, [add])({"messages": [AIMessage("just words")]})


@programs
def inputs_without_a_message_of_the_model(lib: Library):
    node = Node(lib, [add])
    yield [node.fails(input) for input in ({"messages": []}, {"messages": [HumanMessage("x")]}, {"x": 1}, "text")]


@programs
def plain_functions_are_tools(lib: Library):
    def double(x: int) -> int:
        """Double it."""
        return 2 * x

    yield Node(lib, [double])([calls(call("double", x=4))])


@programs.only_async
def async_tools(lib: Library):
    async def double(x: int) -> int:
        """Double it."""
        return 2 * x

    yield Node(lib, [double])([calls(call("double", "c1", x=4), call("double", "c2", x=5))])


# Errors


@programs
def an_unknown_tool_is_told_to_the_model(lib: Library):
    yield [Node(lib, [add], handle_tool_errors=how)([calls(call("other"))]) for how in (True, False)]


@programs
def by_default_misfits_are_told_and_errors_raised(lib: Library):
    node = Node(lib, [add, fail])
    yield node([MISFIT])
    yield node.fails([FAILING])


@programs
def every_error_is_told_or_none(lib: Library):
    everything, nothing = (Node(lib, [add, fail], handle_tool_errors=how) for how in (True, False))
    yield [everything([FAILING]), everything([MISFIT]), nothing.fails([FAILING]), nothing.fails([MISFIT])]


@programs
def a_fixed_text_for_every_error(lib: Library):
    node = Node(lib, [add, fail], handle_tool_errors="sorry")
    yield [node([FAILING]), node([MISFIT])]


@programs
def only_some_types_of_errors(lib: Library):
    yield Node(lib, [fail], handle_tool_errors=ValueError)([FAILING])
    yield Node(lib, [fail], handle_tool_errors=(KeyError, ValueError))([FAILING])
    yield Node(lib, [fail], handle_tool_errors=(KeyError, TypeError)).fails([FAILING])


@programs
def a_handler_says_which_errors_it_takes(lib: Library):
    def of_values(error: ValueError) -> str:
        return f"value: {error}"

    def of_keys(error: KeyError) -> str:
        return "key"

    def of_both(error: KeyError | ValueError) -> str:
        return "both"

    yield [Node(lib, [fail], handle_tool_errors=how)([FAILING]) for how in (of_values, of_both, lambda error: "any")]
    yield Node(lib, [fail], handle_tool_errors=of_keys).fails([FAILING])


# Results


@programs
def results_of_many_kinds(lib: Library):
    for result in ("text", None, 3, {"a": 1, "ä": "ö"}, [1, 2], [{"type": "text", "text": "hi"}], {3}, True):
        yield Node(lib, [returning(lambda id, result=result: result)])([GIVE])


@programs
def content_and_artifact(lib: Library):
    @tool(response_format="content_and_artifact")
    def both(x: int) -> Any:
        """Both."""
        return "content", {"x": x}

    node = name(lib, "ToolNode")([both])
    config = {"configurable": {"__pregel_runtime": lib.Runtime()}}
    result = lib.call(node.ainvoke if lib.is_async else node.invoke, [calls(call("both", x=1))], config)
    yield said(result)
    yield result[0].artifact


@programs
def a_tool_message_of_ones_own(lib: Library):
    yield Node(lib, [returning(lambda id: done(id, "mine", name="me"))])([GIVE])


@programs
def commands_update_the_state(lib: Library):
    command = returning(lambda id: lib.Command(update={"messages": [done(id)], "x": 1}, goto="there"))
    yield Node(lib, [command])({"messages": [GIVE]})


@programs
def commands_beside_plain_results(lib: Library):
    tools = [add, returning(lambda id: lib.Command(update={"messages": [done(id)]}))]
    several = calls(call("add", "c0", a=1, b=1), call("give"), call("add", "c2", a=2, b=2))
    yield Node(lib, tools)({"messages": [several]})


@programs
def commands_for_a_list_of_messages(lib: Library):
    yield Node(lib, [returning(lambda id: lib.Command(update=[done(id)]))])([GIVE])
    yield Node(lib, [returning(lambda id: lib.Command(update={"messages": [done(id)]}))]).fails([GIVE])
    yield Node(lib, [returning(lambda id: lib.Command(update=[done(id)]))]).fails({"messages": [GIVE]})


@programs
def a_command_has_to_answer_its_call(lib: Library):
    for update in ({"x": 1}, {"messages": [done("other")]}):
        tool = returning(lambda id, update=update: lib.Command(update=update))
        yield Node(lib, [tool]).fails({"messages": [GIVE]})


@programs
def a_command_that_only_goes_or_clears_need_not_answer(lib: Library):
    yield Node(lib, [returning(lambda id: lib.Command(goto="there"))])({"messages": [GIVE]})
    clears = returning(lambda id: lib.Command(update={"messages": [RemoveMessage(id="__remove_all__")]}))
    yield Node(lib, [clears])({"messages": [GIVE]})


@programs
def commands_for_the_parent_are_joined(lib: Library):
    away = returning(lambda id: lib.Command(graph=lib.Command.PARENT, goto=[lib.Send("a", {"id": id})]))
    several = calls(call("give", "c1"), call("give", "c2"), call("add", "c3", a=1, b=1))
    yield Node(lib, [away, add])({"messages": [several]})


@programs
def lists_of_messages_and_commands(lib: Library):
    for make in (
        lambda id: [lib.Command(update={"messages": [done(id)]}), lib.Command(update={"x": 2})],
        lambda id: [done(id), lib.Command(update={"x": 2})],
    ):
        yield Node(lib, [returning(make)])({"messages": [GIVE]})
    for make in (lambda id: [lib.Command(update={"x": 2})], lambda id: [done(id), done(id)]):
        yield Node(lib, [returning(make)]).fails({"messages": [GIVE]})


# Injected


@programs
def the_state_is_injected(lib: Library):
    injected_state = name(lib, "InjectedState")

    @tool
    def look(x: int, state: Annotated[dict, injected_state], talk: Annotated[list, injected_state("messages")]) -> str:
        """Look."""
        return f"{x} {sorted(state)} {len(talk)}"

    node, wanted = Node(lib, [look]), calls(call("look", x=1))
    yield node({"messages": [wanted], "more": 1})
    yield node([wanted])
    yield node({"messages": [calls(call("look", x=1, state={"evil": 1}))]})
    yield sorted(look.tool_call_schema.model_json_schema()["properties"])


@programs
def a_state_of_messages_is_injected(lib: Library):
    @tool
    def look(state: Annotated[lib.MessagesState, name(lib, "InjectedState")]) -> str:  # type: ignore[name-defined]
        """Look."""
        return f"{len(state['messages'])} {state['messages'][0].content}"

    yield Node(lib, [look])({"messages": [HumanMessage("hi"), calls(call("look"))]})
    yield look.tool_call_schema.model_json_schema()["properties"]


@programs
def a_key_that_the_state_does_not_have(lib: Library):
    @tool
    def look(x: Annotated[int, name(lib, "InjectedState")("x")]) -> str:
        """Look."""
        return str(x)

    yield Node(lib, [look])({"messages": [calls(call("look"))], "x": 5})
    yield Node(lib, [look]).fails({"messages": [calls(call("look"))]}) in ("KeyError", "ValueError")


@programs
def the_store_is_injected(lib: Library):
    @tool
    def recall(key: str, store: Annotated[Any, name(lib, "InjectedStore")()]) -> str:
        """Recall."""
        return store.get(("facts",), key).value["text"]

    store = lib.InMemoryStore()
    store.put(("facts",), "sky", {"text": "blue"})
    yield Node(lib, [recall])([calls(call("recall", key="sky"))], store=store)
    yield Node(lib, [recall]).fails([calls(call("recall", key="sky"))])


@programs
def the_runtime_is_injected(lib: Library):
    tool_runtime = name(lib, "ToolRuntime")

    @tool
    def look(x: int, runtime: tool_runtime[Any, Any]) -> str:  # type: ignore[valid-type]
        """Look."""
        names = [tool.name for tool in runtime.tools]
        return f"{runtime.tool_call_id} {runtime.context} {sorted(runtime.state)} {runtime.store} {names}"

    node = Node(lib, [look, add])
    yield node({"messages": [calls(call("look", x=1))]}, context={"user": "ana"})
    yield node({"messages": [calls(call("look", x=1, runtime="evil"))]})
    yield sorted(look.tool_call_schema.model_json_schema()["properties"])


# Wrapped


@programs.only_sync
def a_wrapper_sees_the_request(lib: Library):
    seen = []

    def wrapper(request: Any, execute: Any) -> Any:
        seen.append((request.tool_call, request.tool and request.tool.name, quietly, said(request.state)))
        return execute(request)

    node = Node(lib, [add], wrap_tool_call=wrapper)
    yield node({"messages": [ONE]})
    yield node({"messages": [calls(call("other"))]})
    yield seen


@programs.only_sync
def a_wrapper_changes_calls_skips_them_or_tries_again(lib: Library):
    def change(request: Any, execute: Any) -> Any:
        return execute(request.override(tool_call={**request.tool_call, "args": {"a": 5, "b": 5}}))

    def skip(request: Any, execute: Any) -> Any:
        return done(request.tool_call["id"], "skipped")

    def again(request: Any, execute: Any) -> Any:
        execute(request)
        return execute(request)

    def other(request: Any, execute: Any) -> Any:
        changed = {**request.tool_call, "name": "add", "args": {"a": 1, "b": 1}}
        return execute(request.override(tool=add, tool_call=changed))

    yield [Node(lib, [add], wrap_tool_call=how)([ONE]) for how in (change, skip, again)]
    yield Node(lib, [fail], wrap_tool_call=other)([FAILING])


@programs.only_sync
def a_wrapper_and_errors(lib: Library):
    def catch(request: Any, execute: Any) -> Any:
        try:
            return execute(request)
        except ValueError as error:
            return done(request.tool_call["id"], f"caught {error}")

    def boom(request: Any, execute: Any) -> Any:
        raise Boom("wrapper")

    yield Node(lib, [fail], wrap_tool_call=catch)([FAILING])
    yield Node(lib, [fail], wrap_tool_call=catch, handle_tool_errors=True)([FAILING])
    yield Node(lib, [add], wrap_tool_call=boom, handle_tool_errors=True)([ONE])
    yield Node(lib, [add], wrap_tool_call=boom).fails([ONE])


@programs.only_async
def async_wrappers(lib: Library):
    async def loud(request: Any, execute: Any) -> Any:
        message = await execute(request)
        return done(request.tool_call["id"], f"{message.content}!")

    def quiet(request: Any, execute: Any) -> Any:
        return done(request.tool_call["id"], f"{execute(request).content}...")

    yield Node(lib, [add], awrap_tool_call=loud)([ONE])
    yield Node(lib, [add], awrap_tool_call=loud, wrap_tool_call=quiet)([ONE])
    yield Node(lib, [add], wrap_tool_call=quiet)([ONE])


# In a graph


def in_graph(lib: Library, *tools: Any, state: Any = None, **options: Any) -> Any:
    graph = lib.StateGraph(state or lib.MessagesState)
    graph.add_node("tools", name(lib, "ToolNode")(list(tools), **options))
    return graph.add_edge(lib.START, "tools")


@programs
def a_node_of_a_graph(lib: Library):
    app = lib.app(in_graph(lib, add))
    several = calls(call("add", "c1", a=1, b=1), call("add", "c2", a=2, b=2))
    yield said(app.invoke({"messages": [several]})["messages"])
    yield said(app.stream({"messages": [several]}, mode="updates"))
    yield [said(chunk) for chunk in app.stream({"messages": [several]}, mode="values")]


@programs
def sends_to_a_node_of_tools(lib: Library):
    graph = lib.StateGraph(lib.MessagesState)
    graph.add_node("plan", lambda state: {})
    graph.add_node("tools", name(lib, "ToolNode")([add]))
    graph.add_edge(lib.START, "plan")
    graph.add_conditional_edges(
        "plan", lambda state: [lib.Send("tools", [one]) for one in state["messages"][-1].tool_calls], ["tools"]
    )
    several = calls(call("add", "c1", a=1, b=1), call("add", "c2", a=2, b=2))
    yield said(lib.app(graph).invoke({"messages": [several]})["messages"])


@programs
def commands_of_tools_change_the_graph(lib: Library):
    class State(lib.MessagesState):  # type: ignore[name-defined,misc]
        user: str

    go = returning(lambda id: lib.Command(update={"messages": [done(id)], "user": "ana"}, goto="after"))
    graph = in_graph(lib, go, state=State)
    graph.add_node("after", lambda state: {"messages": [AIMessage(f"hello {state['user']}", id="m")]})
    result = lib.app(graph).invoke({"messages": [GIVE]})
    yield said(result["messages"]), result["user"]


@programs
def a_tool_that_asks(lib: Library):
    @tool
    def ask(what: str) -> str:
        """Ask."""
        return f"{what}: {lib.interrupt(what)}"

    app = lib.saved(in_graph(lib, ask))
    yield app.invoke({"messages": [calls(call("ask", what="age"), id="m")]}, thread())["__interrupt__"]
    yield said(app.invoke(lib.Command(resume="30"), thread())["messages"])


@programs
def tools_write_to_the_custom_stream(lib: Library):
    @tool
    def speak(runtime: name(lib, "ToolRuntime")[Any, Any]) -> str:  # type: ignore[valid-type]
        """Speak."""
        runtime.stream_writer("from the runtime")
        lib.get_stream_writer()("from the config")
        return "spoken"

    yield lib.app(in_graph(lib, speak)).stream({"messages": [calls(call("speak"))]}, mode="custom")


@programs
def the_way_to_the_tools(lib: Library):
    condition = name(lib, "tools_condition")
    yield [condition({"messages": [ONE]}), condition([AIMessage("x")]), condition([HumanMessage("x")])]
    yield condition({"talk": [ONE]}, messages_key="talk")


@programs
def checking_calls_without_running_them(lib: Library):
    class Person(BaseModel):
        name: str
        age: int

    with quietly():
        node = name(lib, "ValidationNode")([Person, add], format_error=lambda error, call, schema: schema.__name__)
    people = calls(call("Person", "1", name="ana", age="3"), call("Person", "2", name="bo"), call("add", "3", a=1, b=2))
    result = lib.call(node.ainvoke if lib.is_async else node.invoke, {"messages": [people]})
    yield [(message.name, message.content, message.additional_kwargs) for message in result["messages"]]


@programs
def context_reaches_the_tools(lib: Library):
    @tool
    def who(runtime: name(lib, "ToolRuntime")[Any, Any]) -> str:  # type: ignore[valid-type]
        """Who."""
        return f"{runtime.context['user']} {runtime.state['messages'][0].tool_calls[0]['name']}"

    graph = lib.StateGraph(lib.MessagesState, context_schema=dict)
    graph.add_node("tools", name(lib, "ToolNode")([who]))
    graph.add_edge(lib.START, "tools")
    yield said(lib.app(graph).invoke({"messages": [calls(call("who"))]}, context={"user": "ana"})["messages"][-1])


@programs
def what_the_model_says_about_a_hidden_parameter_is_dropped(lib: Library):
    class InjectedAuth(InjectedToolArg):
        """A marker of the user's own."""

    @tool
    def read(query: str, auth: Annotated[dict[str, str], InjectedToolArg] = {"role": "guest"}) -> str:  # noqa: B006
        """Read it."""
        return auth["role"]

    @tool
    def read_marked(query: str, auth: Annotated[dict[str, str], InjectedAuth()]) -> str:
        """Read it."""
        return auth["role"]

    node = Node(lib, [read, read_marked], handle_tool_errors=lambda error: type(error).__name__)
    for reader in ("read", "read_marked"):
        yield node([calls(call(reader, query="q", auth={"role": "admin"}))])


@programs
def lists_of_texts_are_json(lib: Library):
    block = {"type": "text", "text": "x"}
    for result in (["a", "ü"], ["a", block], [block], [], [1], ("a",), {"type": "text"}):
        yield Node(lib, [returning(lambda id, result=result: result)])([GIVE])
    yield Node(lib, [returning(lambda id: ToolMessage(["a"], tool_call_id=id))])([GIVE])


@programs
def results_that_do_not_answer_the_call_are_told_as_errors(lib: Library):
    twice = [done("c1"), done("c1")]
    for result in (lib.Command(update={"x": 1}), [lib.Command(update={"x": 1})], twice):
        give = returning(lambda id, result=result: result)
        yield Node(lib, [give], handle_tool_errors="sorry")({"messages": [GIVE]})
        yield Node(lib, [give], handle_tool_errors=False).fails({"messages": [GIVE]})


@programs
def no_setting_keeps_a_signal_from_its_graph(lib: Library):
    @tool
    def ask() -> str:
        """Ask."""
        return str(lib.interrupt("sure?"))

    signal = lib.GraphBubbleUp
    for setting in (True, signal, (signal,), "text"):
        graph = lib.StateGraph(lib.MessagesState)
        graph.add_node("tools", name(lib, "ToolNode")([ask], handle_tool_errors=setting)).add_edge(lib.START, "tools")
        found = lib.saved(graph).invoke({"messages": [calls(call("ask"))]}, thread())
        yield [question.value for question in found["__interrupt__"]]


test_tools = programs.as_test()
