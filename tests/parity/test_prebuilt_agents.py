"""Programs about create_react_agent."""

from typing import Annotated, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from pydantic import BaseModel

from prebuilt.models import scripted

from .harness import Library, Programs, thread, unordered
from .prebuilt import USER, agent, call, calls, name, questions, quietly, said, saved_agent

programs = Programs()


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TWO = calls(call("add", "c1", a=1, b=2), call("add", "c2", a=3, b=4), id="ai-1")
VERSIONS = ("v1", "v2")


class Answer(BaseModel):
    """An answer."""

    text: str


@programs
def a_turn_without_tools(lib: Library):
    app = agent(lib, scripted("hello"), [])
    yield said(app.invoke(USER)["messages"])
    yield said(app.stream(USER, mode="updates"))


@programs
def tools_are_called_until_the_model_is_done(lib: Library):
    script = (TWO, calls(call("add", "c3", a=3, b=7), id="ai-2"), "10")
    for version in VERSIONS:
        yield said(agent(lib, scripted(*script), [add], version=version).invoke(USER)["messages"])


@programs
def the_stream_of_a_run(lib: Library):
    for version in VERSIONS:
        app = agent(lib, scripted(TWO), [add], version=version)
        yield unordered([said(chunk) for chunk in app.stream(USER, mode="updates")])
        yield [said(chunk) for chunk in app.stream(USER, mode="values")]


@programs
def the_history_of_a_thread(lib: Library):
    app = saved_agent(lib, scripted(TWO), [add], version="v1")
    app.invoke(USER, thread())
    yield [(said(snapshot.values), snapshot.next) for snapshot in app.history(thread())]


@programs
def prompts_of_every_kind(lib: Library):
    for prompt in (
        "be brief",
        SystemMessage("be kind"),
        lambda state: [SystemMessage("a function"), *state["messages"]],
        lambda state, config: [SystemMessage(config["configurable"]["who"]), *state["messages"]],
        lambda state: SystemMessage("a sum, which is a template") + state["messages"],
        RunnableLambda(lambda state: [SystemMessage("a runnable"), *state["messages"]]),
        ChatPromptTemplate.from_messages([("system", "a template"), ("placeholder", "{messages}")]),
    ):
        model = scripted("ok")
        agent(lib, model, [add], prompt=prompt).invoke(USER, {"configurable": {"who": "ana"}})
        yield said(model.seen)


@programs.only_async
def an_async_prompt(lib: Library):
    async def prompt(state: Any) -> Any:
        return [SystemMessage("later"), *state["messages"]]

    model = scripted("ok")
    agent(lib, model, [], prompt=prompt).invoke(USER)
    yield said(model.seen)


@programs
def tools_are_bound_once(lib: Library):
    model = scripted("ok")
    agent(lib, model, [add, {"name": "search", "type": "server"}]).invoke(USER)
    yield model.bound
    bound = scripted("ok")
    agent(lib, bound.bind_tools([add]), [add]).invoke(USER)
    yield bound.bound


@programs
def the_name_of_the_agent_is_the_name_of_its_messages(lib: Library):
    yield said(agent(lib, scripted("ok"), [], name="bob").invoke(USER)["messages"])


@programs
def a_model_for_each_turn(lib: Library):
    def choose(state: Any, runtime: Any) -> Any:
        chosen = "big" if runtime.context == "big" else "small"
        return scripted(TWO, f"said by the {chosen} one").bind_tools([add])

    for context in ("big", "small"):
        yield said(agent(lib, choose, [add], context_schema=str).invoke(USER, context=context)["messages"])


@programs.only_async
def a_model_chosen_by_a_coroutine(lib: Library):
    async def choose(state: Any, runtime: Any) -> Any:
        return scripted(f"turn {len(state['messages'])}")

    yield said(agent(lib, choose, [add]).invoke(USER)["messages"])


@programs
def a_structured_response(lib: Library):
    model = scripted(TWO, structured=Answer(text="7"))
    app = agent(lib, model, [add], response_format=Answer)
    yield app.invoke(USER)["structured_response"].text
    yield [list(chunk) for chunk in app.stream(USER, mode="updates")][-1]
    asked = scripted("x", structured={"text": "8"})
    app = agent(lib, asked, [], response_format=("in short", {"title": "Answer", "type": "object"}))
    yield app.invoke(USER)["structured_response"]
    yield said(asked.seen[-1])


@programs
def a_hook_before_the_model(lib: Library):
    for prompt in (None, "be brief"):
        model = scripted("ok")
        app = agent(
            lib, model, [], prompt=prompt, pre_model_hook=lambda state: {"llm_input_messages": state["messages"][-1:]}
        )
        yield said(app.invoke({"messages": [("user", "one"), ("ai", "two"), ("user", "three")]})["messages"])
        yield said(model.seen)


@programs
def a_hook_that_rewrites_the_messages(lib: Library):
    def shorten(state: Any) -> Any:
        return {"messages": [RemoveMessage(id="__remove_all__"), HumanMessage("short", id="s")]}

    yield said(agent(lib, scripted("ok"), [add], pre_model_hook=shorten).invoke(USER)["messages"])


@programs
def a_hook_behind_the_model(lib: Library):
    def note(state: Any) -> Any:
        return {"seen": len(state["messages"])}

    class State(name(lib, "chat_agent_executor.AgentState")):  # type: ignore[misc]
        seen: int

    result = agent(lib, scripted(TWO), [add], post_model_hook=note, state_schema=State).invoke(USER)
    yield said(result["messages"]), result["seen"]


@programs
def a_hook_answers_a_call_in_place_of_its_tool(lib: Library):
    def answer(state: Any) -> Any:
        if isinstance(state["messages"][-1], AIMessage) and state["messages"][-1].tool_calls:
            return {"messages": [ToolMessage("denied", tool_call_id="c1")]}
        return {}

    app = agent(lib, scripted(TWO), [add], post_model_hook=answer)
    yield said(app.invoke(USER)["messages"])
    yield [list(chunk) for chunk in app.stream(USER, mode="updates")]


@programs
def a_hook_takes_back_all_calls(lib: Library):
    def instead(state: Any) -> Any:
        return {"messages": [AIMessage("no tools today", id=state["messages"][-1].id)]}

    yield said(agent(lib, scripted(TWO), [add], post_model_hook=instead).invoke(USER)["messages"])


@programs
def all_parts_together(lib: Library):
    app = agent(
        lib,
        scripted(TWO, structured=Answer(text="x")),
        [add],
        pre_model_hook=lambda state: {},
        post_model_hook=lambda state: {},
        response_format=Answer,
    )
    yield unordered([list(chunk) for chunk in app.stream(USER, mode="updates")])


@programs
def tools_whose_result_is_the_answer(lib: Library):
    @tool(return_direct=True)
    def final(x: int) -> str:
        """The end."""
        return f"final {x}"

    for version in VERSIONS:
        for wanted in (calls(call("final", "c1", x=1)), calls(call("final", "c1", x=1), call("add", "c2", a=1, b=2))):
            yield said(agent(lib, scripted(wanted), [final, add], version=version).invoke(USER)["messages"])


@programs
def errors_that_the_model_is_told(lib: Library):
    for wanted in (call("add", a="x", b=1), call("other", a=1)):
        yield said(agent(lib, scripted(calls(wanted), "I see"), [add]).invoke(USER)["messages"])


@programs
def errors_that_end_the_run(lib: Library):
    @tool
    def fail() -> str:
        """Fail."""
        raise ValueError("no")

    for version in VERSIONS:
        yield agent(lib, scripted(calls(call("fail"))), [fail], version=version).invoke(USER, fails=True)
        told = name(lib, "ToolNode")([fail], handle_tool_errors=True)
        yield said(agent(lib, scripted(calls(call("fail")), "oh"), told, version=version).invoke(USER)["messages"])


@programs
def an_incomplete_history_is_refused(lib: Library):
    history = [HumanMessage("x"), TWO, ToolMessage("3", tool_call_id="c1")]
    model = scripted("never said")
    yield agent(lib, model, [add]).invoke({"messages": history}, fails=True)
    yield model.seen


@programs
def too_few_steps(lib: Library):
    for version in VERSIONS:
        result = agent(lib, scripted(TWO, TWO), [add], version=version).invoke(USER, {"recursion_limit": 2})
        yield [message.type for message in result["messages"]], result["messages"][-1].tool_calls
    yield agent(lib, scripted(TWO, TWO, TWO), [add]).invoke(USER, {"recursion_limit": 3}, fails=True)


@programs
def refused_when_it_is_built(lib: Library):
    class Lacking(BaseModel):
        x: int

    def attempt(*args: Any, **options: Any) -> str:
        try:
            agent(lib, *args, **options)
        except ValueError:
            return "a ValueError"
        return "accepted"

    def other(x: int) -> int:
        """Other."""
        return x

    yield [
        attempt(scripted(), [add], version="v3"),
        attempt(scripted(), [add], prompt=3),
        attempt(scripted(), [add], state_schema=Lacking),
        attempt(scripted().bind_tools([add, other]), [add]),
        attempt(scripted().bind_tools([other]), [add]),
    ]


@programs
def the_state_has_more_keys(lib: Library):
    class State(name(lib, "chat_agent_executor.AgentState")):  # type: ignore[misc]
        user: str

    @tool
    def greet(user: Annotated[str, name(lib, "InjectedState")("user")]) -> str:
        """Greet."""
        return f"hello {user}"

    for version in VERSIONS:
        app = agent(lib, scripted(calls(call("greet"))), [greet], state_schema=State, version=version)
        yield said(app.invoke({**USER, "user": "ana"}))


@programs
def the_state_is_a_pydantic_model(lib: Library):
    with quietly():

        class State(name(lib, "chat_agent_executor.AgentStatePydantic")):  # type: ignore[misc]
            user: str = "nobody"

    @tool
    def greet(state: Annotated[Any, name(lib, "InjectedState")]) -> str:
        """Greet."""
        return f"hello {state.user}, {len(state.messages)}"

    for version in VERSIONS:
        app = agent(lib, scripted(calls(call("greet"))), [greet], state_schema=State, version=version)
        yield said(app.invoke({**USER, "user": "ana"})["messages"])


@programs
def tools_see_the_state_with_the_models_message(lib: Library):
    @tool
    def count(state: Annotated[dict, name(lib, "InjectedState")]) -> str:
        """Count."""
        return str([message.type for message in state["messages"]])

    wanted = calls(call("count", "c1"), call("count", "c2"))
    for version in VERSIONS:
        yield said(agent(lib, scripted(wanted), [count], version=version).invoke(USER)["messages"])


@programs
def tools_with_a_store(lib: Library):
    @tool
    def keep(text: str, store: Annotated[Any, name(lib, "InjectedStore")()]) -> str:
        """Keep."""
        store.put(("kept",), "last", {"text": text})
        return "kept"

    store = lib.InMemoryStore()
    app = agent(lib, scripted(calls(call("keep", text="this"))), [keep], store=store)
    yield said(app.invoke(USER)["messages"])
    yield store.get(("kept",), "last").value


@programs
def tools_that_steer_the_agent(lib: Library):
    @tool
    def rename(to: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Rename."""
        return lib.Command(update={"user": to, "messages": [ToolMessage("renamed", tool_call_id=tool_call_id)]})

    class State(name(lib, "chat_agent_executor.AgentState")):  # type: ignore[misc]
        user: str

    for version in VERSIONS:
        app = agent(lib, scripted(calls(call("rename", to="bo"))), [rename], state_schema=State, version=version)
        yield said(app.invoke({**USER, "user": "ana"}))


@programs
def breakpoints(lib: Library):
    for version in VERSIONS:
        app = saved_agent(lib, scripted(TWO), [add], interrupt_before=["tools"], version=version)
        app.invoke(USER, thread())
        yield app.get_state(thread()).next
        yield said(app.invoke(None, thread())["messages"])
        app = saved_agent(lib, scripted(TWO), [add], interrupt_after=["agent"], version=version)
        app.invoke(USER, thread())
        yield app.get_state(thread()).next


@programs
def a_tool_of_the_agent_asks(lib: Library):
    @tool
    def book(hotel: str) -> str:
        """Book."""
        return f"{hotel}: {lib.interrupt({'book': hotel})}"

    for version in VERSIONS:
        app = saved_agent(lib, scripted(calls(call("book", hotel="Ritz"))), [book], version=version)
        yield questions(app.invoke(USER, thread()))
        yield said(app.invoke(lib.Command(resume="yes"), thread())["messages"])


@programs
def two_tools_of_the_agent_ask(lib: Library):
    @tool
    def ask(what: str) -> str:
        """Ask."""
        return f"{what}: {lib.interrupt(what)}"

    wanted = calls(call("ask", "c1", what="a"), call("ask", "c2", what="b"))
    app = saved_agent(lib, scripted(wanted), [ask])
    asked = app.invoke(USER, thread())["__interrupt__"]
    yield sorted(question.value for question in asked)
    answers = {question.id: question.value.upper() for question in asked}
    yield said(app.invoke(lib.Command(resume=answers), thread())["messages"])


@programs
def a_conversation_over_several_runs(lib: Library):
    app = saved_agent(lib, scripted("one", TWO, "two", "three"), [add])
    for text in ("a", "b", "c"):
        result = app.invoke({"messages": [HumanMessage(text)]}, thread())
    yield said(result["messages"])


@programs
def an_agent_as_a_node(lib: Library):
    inner = agent(lib, scripted(TWO), [add], name="inner").graph
    app = lib.app(lib.graph(lib.MessagesState, edges="START>inner>END", inner=inner))
    yield said(app.invoke(USER)["messages"])
    yield unordered([said(chunk[1]) for chunk in app.stream(USER, mode="updates", subgraphs=True)])


@programs
def tokens_of_the_agent(lib: Library):
    app = agent(lib, scripted(TWO, "done now"), [add], version="v1")
    chunks = app.stream(USER, mode="messages")
    yield [(message.type, message.content, facts["langgraph_node"]) for message, facts in chunks]


@programs
def tokens_of_models_inside_of_tools(lib: Library):
    @tool
    def think(about: str) -> str:
        """Think."""
        return scripted(f"about {about}").invoke("hm").content

    for version in VERSIONS:
        wanted = calls(call("think", "c1", about="a"), call("think", "c2", about="b"))
        app = agent(lib, scripted(wanted), [think], version=version)
        chunks = app.stream(USER, mode="messages", subgraphs=True)
        yield unordered([(ns, m.type, m.content, facts["langgraph_node"]) for ns, (m, facts) in chunks])


@programs
def handlers_hear_of_models_and_tools(lib: Library):
    class Heard(BaseCallbackHandler):
        def __init__(self) -> None:
            self.tools: list[Any] = []
            self.models = 0
            self.names: dict[Any, Any] = {}

        def on_chain_start(self, *args: Any, run_id: Any, name: str | None = None, **kwargs: Any) -> None:
            self.names[run_id] = name

        def on_tool_start(self, serialized: Any, *args: Any, parent_run_id: Any = None, **kwargs: Any) -> None:
            self.tools.append((serialized["name"], self.names[parent_run_id]))

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            self.models += 1

    for version in VERSIONS:
        heard = Heard()
        agent(lib, scripted(TWO), [add], version=version).invoke(USER, {"callbacks": [heard]})
        yield heard.tools, heard.models


@programs
def an_agent_hands_over_to_its_parent(lib: Library):
    @tool
    def hand_over(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Hand over."""
        return lib.Command(
            graph=lib.Command.PARENT,
            goto="other",
            update={"messages": [ToolMessage("handed over", tool_call_id=tool_call_id)]},
        )

    for version in VERSIONS:
        inner = agent(lib, scripted(calls(call("hand_over"), id="m")), [hand_over], version=version).graph
        graph = lib.StateGraph(lib.MessagesState)
        graph.add_node("inner", inner, destinations=("other",))
        graph.add_node("other", lambda state: {"messages": [AIMessage("mine now", id="o")]})
        graph.add_edge(lib.START, "inner")
        yield said(lib.app(graph).invoke(USER)["messages"])


test_agents = programs.as_test()
