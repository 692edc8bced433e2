"""Programs about create_agent and its middleware."""

from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool, tool
from pydantic import BaseModel

from .agents import LOOK, MAIL, PAY, TOOLS, USER, agent, by_call, call, calls, hook, name, said, saved_agent, scripted
from .harness import Library, Programs, thread, unordered

programs = Programs()

TWO = calls(PAY, LOOK, id="ai-1")
KINDS = ("before_agent", "before_model", "after_model", "after_agent")


class Answer(BaseModel):
    """An answer."""

    text: str


def noting(lib: Library, log: list[Any], label: str) -> Any:
    """Middleware that notes when its hooks run."""
    base = name(lib, "middleware.AgentMiddleware")

    class Noting(base):
        name = label

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            log.append((label, "wrap_model_call", len(request.messages), [one.name for one in request.tools]))
            return handler(request)

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            log.append((label, "wrap_model_call", len(request.messages), [one.name for one in request.tools]))
            return await handler(request)

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            log.append((label, "wrap_tool_call", request.tool_call["id"], request.tool.name))
            return handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            log.append((label, "wrap_tool_call", request.tool_call["id"], request.tool.name))
            return await handler(request)

    for kind in KINDS:
        setattr(Noting, kind, _note(log, label, kind))
    return Noting()


def _note(log: list[Any], label: str, kind: str) -> Any:
    def note(self: Any, state: Any, runtime: Any) -> None:
        log.append((label, kind, len(state["messages"])))

    return note


@programs
def a_turn_without_tools(lib: Library):
    app = agent(lib, scripted("hello"))
    yield said(app.invoke(USER)["messages"])
    yield said(app.stream(USER, mode="updates"))


@programs
def tools_are_called_until_the_model_is_done(lib: Library):
    app = agent(lib, scripted(TWO, calls(MAIL, id="ai-2"), "bye"), TOOLS, system_prompt="be brief")
    yield said(app.invoke(USER)["messages"])
    yield unordered([said(chunk) for chunk in app.stream(USER, mode="updates")])


@programs
def the_history_of_a_thread(lib: Library):
    app = saved_agent(lib, scripted(calls(LOOK, id="ai-1")), TOOLS)
    app.invoke(USER, thread())
    yield [(said(snapshot.values), snapshot.next) for snapshot in app.history(thread())]


@programs
def hooks_run_in_this_order(lib: Library):
    log: list[Any] = []
    layers = [noting(lib, log, "a"), noting(lib, log, "b")]
    app = agent(lib, scripted(calls(LOOK, id="ai-1")), TOOLS, middleware=layers)
    yield said(app.invoke(USER)["messages"])
    yield log


@programs
def hooks_are_nodes_of_the_graph(lib: Library):
    app = agent(lib, scripted(calls(LOOK, id="ai-1")), TOOLS, middleware=[noting(lib, [], "a"), noting(lib, [], "b")])
    yield [list(chunk) for chunk in app.stream(USER, mode="updates")]


@programs
def a_hook_may_leave_out_the_runtime(lib: Library):
    log: list[Any] = []

    class Noting(name(lib, "middleware.AgentMiddleware")):
        def before_model(self, state: Any) -> None:
            log.append(len(state["messages"]))

        def after_model(self, state: Any, *, runtime: Any) -> None:
            log.append(runtime is not None)

    yield said(agent(lib, scripted("one"), middleware=[Noting()]).invoke(USER)["messages"])
    yield log


def _jumps(lib: Library, kind: str, target: str) -> Any:
    done: list[int] = []

    def jump(state: Any, runtime: Any) -> Any:
        done.append(1)
        if len(done) > 1:
            return None
        wanted = [call("look", "j", name="j")] if target == "tools" else []
        return {"jump_to": target, "messages": [AIMessage("jumped", id="j1", tool_calls=wanted)]}

    middleware = hook(lib, kind, jump, can_jump_to=[target])
    return said(agent(lib, scripted("one", "two", "three"), TOOLS, middleware=[middleware]).invoke(USER)["messages"])


@programs
def hooks_jump_to_the_end(lib: Library):
    for kind in KINDS:
        yield _jumps(lib, kind, "end")


@programs
def hooks_jump_to_the_tools(lib: Library):
    for kind in KINDS:
        yield _jumps(lib, kind, "tools")


@programs
def hooks_jump_to_the_model(lib: Library):
    for kind in ("before_agent", "after_model", "after_agent"):
        yield _jumps(lib, kind, "model")


@programs
def a_hook_changes_the_state(lib: Library):
    state: Any = name(lib, "AgentState")

    class Counting(state):
        count: NotRequired[int]

    middleware = hook(
        lib, "before_model", lambda s, runtime: {"count": s.get("count", 0) + 1}, state_schema=Counting, name="counting"
    )
    app = agent(lib, scripted(calls(LOOK)), TOOLS, middleware=[middleware])
    yield app.invoke({**USER, "count": 4})["count"]


@programs
def a_private_key_is_not_shown(lib: Library):
    state, private = name(lib, "AgentState"), name(lib, "middleware.types.PrivateStateAttr")

    class Secret(state):
        secret: NotRequired[Annotated[int, private]]
        shown: NotRequired[int]

    def write(state: Any, runtime: Any) -> Any:
        return {"secret": 1, "shown": 2}

    middleware = hook(lib, "before_model", write, state_schema=Secret)
    yield sorted(agent(lib, scripted("hi"), middleware=[middleware]).invoke(USER))


@programs
def a_schema_of_the_agent_itself(lib: Library):
    state: Any = name(lib, "AgentState")

    class Mine(state):
        user: str

    result = agent(lib, scripted("hi"), state_schema=Mine).invoke({**USER, "user": "ana"})
    yield result["user"]


@programs
def middleware_brings_tools(lib: Library):
    @tool
    def extra() -> str:
        """Extra."""
        return "extra"

    middleware = hook(lib, "before_model", lambda state, runtime: None, tools=[extra], name="bringing")
    model = scripted(calls(call("extra"), id="ai-1"))
    yield said(agent(lib, model, TOOLS, middleware=[middleware]).invoke(USER)["messages"])
    yield model.bound[0]["tools"]


@programs.only_sync
def a_wrapper_changes_what_the_model_sees(lib: Library):
    def wrap(request: Any, handler: Any) -> Any:
        return handler(
            request.override(
                system_message=SystemMessage("other"), messages=[HumanMessage("other")], tools=request.tools[:1]
            )
        )

    model = scripted("ok")
    agent(lib, model, TOOLS, system_prompt="mine", middleware=[hook(lib, "wrap_model_call", wrap)]).invoke(USER)
    yield said(model.seen), [bound["tools"] for bound in model.bound]


@programs.only_sync
def a_wrapper_answers_in_place_of_the_model(lib: Library):
    middleware = hook(lib, "wrap_model_call", lambda request, handler: AIMessage("short"), name="short")
    model = scripted("long")
    yield said(agent(lib, model, middleware=[middleware]).invoke(USER)["messages"]), len(model.seen)


@programs.only_sync
def a_wrapper_tries_again(lib: Library):
    def speak(messages: Any) -> AIMessage:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("no connection")
        return AIMessage("at last")

    def retry(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except OSError:
            return handler(request)

    tries: list[int] = []
    app = agent(lib, scripted(speak), middleware=[hook(lib, "wrap_model_call", retry)])
    yield said(app.invoke(USER)["messages"])


@programs.only_sync
def a_wrapper_adds_to_the_state(lib: Library):
    state: Any = name(lib, "AgentState")
    extended = name(lib, "middleware.ExtendedModelResponse")

    class Noted(state):
        note: NotRequired[str]

    def wrap(request: Any, handler: Any) -> Any:
        return extended(model_response=handler(request), command=lib.Command(update={"note": "kept"}))

    app = agent(lib, scripted("hi"), middleware=[hook(lib, "wrap_model_call", wrap, state_schema=Noted)])
    yield app.invoke(USER)["note"]


@programs.only_sync
def wrappers_around_tools(lib: Library):
    def wrap(request: Any, handler: Any) -> Any:
        if request.tool_call["name"] == "mail":
            return ToolMessage("not sent", tool_call_id=request.tool_call["id"], name="mail")
        changed = {**request.tool_call, "args": {**request.tool_call["args"], "amount": 7}}
        return handler(request.override(tool_call=changed))

    app = agent(lib, scripted(calls(PAY, MAIL, id="ai-1")), TOOLS, middleware=[hook(lib, "wrap_tool_call", wrap)])
    yield said(app.invoke(USER)["messages"])


@programs.only_async
def async_hooks_and_wrappers(lib: Library):
    async def before(state: Any, runtime: Any) -> Any:
        return {"messages": [HumanMessage("noted", id="n")]} if len(state["messages"]) == 1 else None

    async def around(request: Any, handler: Any) -> Any:
        return await handler(request.override(system_message=SystemMessage("async")))

    async def tools(request: Any, handler: Any) -> Any:
        result = await handler(request)
        return ToolMessage(f"<{result.content}>", tool_call_id=result.tool_call_id, name=result.name)

    layers = [
        hook(lib, "before_model", before),
        hook(lib, "wrap_model_call", around),
        hook(lib, "wrap_tool_call", tools),
    ]
    model = scripted(calls(LOOK, id="ai-1"))
    yield said(agent(lib, model, TOOLS, middleware=layers).invoke(USER)["messages"])
    yield said(model.seen)


@programs
def a_prompt_that_depends_on_the_request(lib: Library):
    model = scripted("ok")
    prompt = hook(lib, "dynamic_prompt", lambda request: f"{request.system_prompt} {len(request.messages)}")
    if lib.is_async:

        async def aprompt(request: Any) -> str:
            return f"{request.system_prompt} {len(request.messages)}"

        prompt = hook(lib, "dynamic_prompt", aprompt)
    agent(lib, model, system_prompt="mine", middleware=[prompt]).invoke(USER)
    yield said(model.seen)


@programs
def an_answer_in_a_given_form(lib: Library):
    strategy = name(lib, "structured_output.ToolStrategy")
    for form in (Answer, strategy(Answer), strategy(Answer, tool_message_content="there")):
        model = scripted(calls(call("Answer", "c1", text="yes"), id="ai-1"))
        result = agent(lib, model, TOOLS, response_format=form).invoke(USER)
        yield result["structured_response"], [message.type for message in result["messages"]], model.bound
    yield result["messages"][-1].content


@programs
def an_answer_of_the_wrong_form_is_asked_for_again(lib: Library):
    model = scripted(
        calls(call("Answer", "c1", txt="?"), id="ai-1"), calls(call("Answer", "c2", text="yes"), id="ai-2")
    )
    result = agent(lib, model, TOOLS, response_format=Answer).invoke(USER)
    yield result["structured_response"], [message.type for message in result["messages"]]
    yield by_call(result, hides=["c1", "c2"])


@programs
def an_agent_is_called_as_its_maker_says(lib: Library):
    for given in (None, "clerk"):
        app = name(lib, "create_agent")(scripted("ok"), TOOLS, name=given)
        yield app.name, [message.name for message in app.invoke(USER)["messages"]]


@programs
def a_call_where_there_are_no_tools(lib: Library):
    result = agent(lib, scripted(calls(PAY, id="ai-1")), []).invoke(USER)
    yield [message.type for message in result["messages"]]


@programs
def a_tool_that_writes_the_answer_of_an_agent_that_gives_none(lib: Library):
    def answer(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Answer."""
        said = ToolMessage("there", tool_call_id=tool_call_id)
        return lib.Command(update={"structured_response": "yes", "messages": [said]})

    result = agent(lib, scripted(calls(call("answer", "c1"), id="ai-1")), [answer]).invoke(USER)
    yield [message.type for message in result["messages"]], result.get("structured_response")


@programs
def a_picture_of_an_agent(lib: Library):
    direct = StructuredTool.from_function(lambda: "x", name="end", description="End.", return_direct=True)
    for options in ({}, {"response_format": Answer}):
        for tools in ([], TOOLS, [*TOOLS, direct]):
            yield name(lib, "create_agent")(scripted("ok"), tools, **options).get_graph().draw_mermaid()


@programs
def an_answer_beside_other_calls(lib: Library):
    model = scripted(calls(call("Answer", "c9", text="yes"), LOOK, id="ai-1"))
    result = agent(lib, model, TOOLS, response_format=Answer).invoke(USER)
    yield result["structured_response"], [message.type for message in result["messages"]]


@programs
def an_answer_by_the_provider(lib: Library):
    model = scripted('{"text": "yes"}')
    result = agent(lib, model, TOOLS, response_format=name(lib, "structured_output.ProviderStrategy")(Answer)).invoke(
        USER
    )
    yield result["structured_response"], said(result["messages"]), model.bound


@programs
def a_direct_tool_ends_the_run(lib: Library):
    @tool(return_direct=True)
    def tell() -> str:
        """Tell."""
        return "told"

    for wanted in ([call("tell", "c1")], [call("tell", "c1"), call("tell", "c8")], [call("tell", "c1"), LOOK]):
        yield said(agent(lib, scripted(calls(*wanted, id="ai-1")), [tell, *TOOLS]).invoke(USER)["messages"])


@programs
def wrong_calls_are_told_to_the_model(lib: Library):
    wanted = calls(call("pay", "c1", amount="much", to="x"), call("steal", "c2"), id="ai-1")
    yield said(agent(lib, scripted(wanted), TOOLS).invoke(USER)["messages"])


@programs
def the_name_of_an_agent_is_told_with_its_messages(lib: Library):
    inner = agent(lib, scripted(calls(LOOK, id="ai-1"), "inside"), TOOLS, name="inner").graph

    @tool
    def ask(what: str) -> str:
        """Ask another agent."""
        return str(inner.invoke({"messages": [("user", what)]})["messages"][-1].content)

    model = scripted(calls(call("ask", "c1", what="where?"), id="ai-2"))
    for called in ("outer", None):
        app = agent(lib, model, [ask], name=called)
        for _, (message, facts) in app.stream(USER, mode="messages", subgraphs=True):
            yield message.content, facts.get("lc_agent_name")


@programs
def the_name_of_an_agent_is_on_its_messages(lib: Library):
    app = agent(lib, scripted("hi"), name="bob")
    yield said(app.invoke(USER)["messages"]), app.graph.name


@programs
def a_todo_list(lib: Library):
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]
    model = scripted(calls(call("write_todos", "c1", todos=todos), id="ai-1"))
    app = agent(lib, model, middleware=[name(lib, "middleware.TodoListMiddleware")()])
    result = app.invoke(USER)
    yield result["todos"], [message.type for message in result["messages"]]


@programs
def a_limit_to_the_calls_of_the_model(lib: Library):
    limit = name(lib, "middleware.ModelCallLimitMiddleware")
    turns = [calls(LOOK, id=f"ai-{i}") for i in range(5)]
    for limits in ({"run_limit": 2}, {"thread_limit": 3}, {"thread_limit": 3, "run_limit": 2}):
        app = saved_agent(lib, scripted(*turns), TOOLS, middleware=[limit(**limits)])
        for _ in range(2):
            result = app.invoke(USER, thread())
            yield [message.type for message in result["messages"]], sorted(result)
    app = agent(lib, scripted(*turns), TOOLS, middleware=[limit(run_limit=1, exit_behavior="error")])
    yield app.invoke(USER, fails=True)


@programs
def another_model_when_one_fails(lib: Library):
    def fail(messages: Any) -> Any:
        raise OSError("no connection")

    fallback = name(lib, "middleware.ModelFallbackMiddleware")(scripted(fail), scripted("at last"))
    yield said(agent(lib, scripted(fail), TOOLS, middleware=[fallback]).invoke(USER)["messages"])
    none = name(lib, "middleware.ModelFallbackMiddleware")(scripted(fail))
    yield agent(lib, scripted(fail), middleware=[none]).invoke(USER, fails=True)


test_middleware = programs.as_test()
