"""Programs about middleware that comes ready-made: limits, retries, and what the model is given."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from .agents import LOOK, MAIL, PAY, TOOLS, USER, agent, by_call, call, calls, name, said, saved_agent, scripted
from .harness import Library, Programs, thread

programs = Programs()


def kinds(result: Any) -> list[Any]:
    """What kinds of messages came, whose calls they are about, and how these came out: not the words."""
    return [(one.type, getattr(one, "tool_call_id", None), getattr(one, "status", None)) for one in result["messages"]]


def looks(turn: int, count: int) -> list[Any]:
    return [call("look", f"c{turn}{place}", name="eva") for place in range(count)]


def in_order(result: Any) -> list[Any]:
    """The messages by kind; what a turn's calls came to, in the order of their ids."""
    return sorted(kinds(result), key=lambda one: (one[1] or "", one[0]))


LIMITS: list[dict[str, Any]] = [
    {"run_limit": 1},
    {"thread_limit": 2},
    {"thread_limit": 3, "run_limit": 2},
    {"run_limit": 1, "tool_name": "look"},
    {"run_limit": 0, "tool_name": "look"},
]


@programs
def a_limit_to_the_calls_of_tools(lib: Library):
    limit = name(lib, "middleware.ToolCallLimitMiddleware")
    turns = [calls(*looks(1, 2), PAY, id="ai-1"), calls(*looks(2, 1), id="ai-2"), AIMessage("so far", id="ai-3")]
    more = [calls(*looks(4, 2), id="ai-4"), AIMessage("bye", id="ai-5"), AIMessage("bye", id="ai-6")]
    for limits in LIMITS:
        for behaviour in ("continue", "end"):
            middleware = limit(**limits, exit_behavior=behaviour)
            yield middleware.name
            app = saved_agent(lib, scripted(*turns, *more), TOOLS, middleware=[middleware])
            for _ in range(2):
                result = app.invoke(USER, thread())
                yield in_order(result), sorted(result)
            counts = app.get_state(thread()).values.get("thread_tool_call_count") or {}
            yield {name: count for name, count in counts.items() if count}


@programs
def limits_for_several_tools(lib: Library):
    limit = name(lib, "middleware.ToolCallLimitMiddleware")
    layers = [limit(run_limit=1, tool_name="look"), limit(run_limit=1, tool_name="mail"), limit(run_limit=3)]
    turns = [calls(*looks(1, 2), MAIL, PAY, id="ai-1"), calls(call("mail", "m2", to="bo"), *looks(2, 1), id="ai-2")]
    app = saved_agent(lib, scripted(*turns), TOOLS, middleware=layers)
    # Here, a call that two of them refuse has one tool message, as models want it.
    yield sorted(set(in_order(app.invoke(USER, thread()))), key=repr)
    yield app.get_state(thread()).values["thread_tool_call_count"]


def failing(times: int, error: type[Exception] = OSError) -> Any:
    """A tool that fails so often, and then succeeds."""
    tries: list[int] = []

    @tool
    def fetch(name: str) -> str:
        """Fetch something."""
        tries.append(1)
        if len(tries) <= times:
            raise error("no connection")
        return f"fetched {name} at try {len(tries)}"

    return fetch


FETCH = call("fetch", "f1", name="it")


@programs
def a_tool_is_tried_again(lib: Library):
    retry = name(lib, "middleware.ToolRetryMiddleware")
    ways: list[tuple[int, dict[str, Any]]] = [
        (1, {}),
        (2, {"retry_on": (OSError,)}),
        (1, {"tools": ["fetch"]}),
        (1, {"retry_on": lambda error: "connection" in str(error)}),
        (9, {"on_failure": lambda error: f"sorry: {error}"}),
        (9, {"max_retries": 0, "on_failure": lambda error: "never again"}),
    ]
    for times, options in ways:
        middleware = retry(**{"initial_delay": 0, "jitter": False, **options})
        app = agent(lib, scripted(calls(FETCH, id="ai-1")), [failing(times)], middleware=[middleware])
        yield by_call(app.invoke(USER))
    middleware = retry(initial_delay=0)
    yield kinds(agent(lib, scripted(calls(FETCH, id="ai-1")), [failing(9)], middleware=[middleware]).invoke(USER))


@programs
def a_tool_that_is_not_tried_again_fails(lib: Library):
    retry = name(lib, "middleware.ToolRetryMiddleware")
    for options in ({"on_failure": "error"}, {"retry_on": (ValueError,)}, {"tools": ["look"]}):
        middleware = retry(**{"initial_delay": 0, **options})
        app = agent(lib, scripted(calls(FETCH, id="ai-1")), [failing(9), *TOOLS], middleware=[middleware])
        yield app.invoke(USER, fails=True)


@programs
def the_model_is_tried_again(lib: Library):
    retry = name(lib, "middleware.ModelRetryMiddleware")

    def failing_model(times: int) -> Any:
        tries: list[int] = []

        def reply(messages: Any) -> AIMessage:
            tries.append(1)
            if len(tries) <= times:
                raise OSError("no connection")
            return AIMessage(f"try {len(tries)}", id="ai-1")

        return scripted(reply)

    for times, options in ((2, {}), (9, {"on_failure": lambda error: f"sorry: {error}"})):
        middleware = retry(**{"initial_delay": 0, **options})
        result = agent(lib, failing_model(times), middleware=[middleware]).invoke(USER)
        yield [message.content for message in result["messages"]]
    yield kinds(agent(lib, failing_model(9), middleware=[retry(initial_delay=0)]).invoke(USER))
    for options in ({"on_failure": "error"}, {"retry_on": (ValueError,)}):
        app = agent(lib, failing_model(9), middleware=[retry(**{"initial_delay": 0, **options})])
        yield app.invoke(USER, fails=True)


@programs
def errors_of_tools_are_told_to_the_model(lib: Library):
    telling = name(lib, "middleware.ToolErrorMiddleware")

    def tell(error: Exception, request: Any) -> Any:
        if isinstance(error, OSError):
            return f"{request.tool_call['name']} is away"
        return None

    async def atell(error: Exception, request: Any) -> Any:
        return tell(error, request)

    for middleware in (telling(tell), telling(tell, aon_error=atell), telling(tell, tools=["fetch"])):
        app = agent(lib, scripted(calls(FETCH, id="ai-1")), [failing(9)], middleware=[middleware])
        yield by_call(app.invoke(USER))
    for middleware in (telling(tell, tools=["look"]), telling(lambda error, request: None)):
        app = agent(lib, scripted(calls(FETCH, id="ai-1")), [failing(9), *TOOLS], middleware=[middleware])
        yield app.invoke(USER, fails=True)


@programs
def retries_inside_of_errors_that_are_told(lib: Library):
    telling = name(lib, "middleware.ToolErrorMiddleware")(lambda error, request: "gave up")
    retry = name(lib, "middleware.ToolRetryMiddleware")(on_failure="error", initial_delay=0, max_retries=1)
    for times in (1, 2):
        app = agent(lib, scripted(calls(FETCH, id="ai-1")), [failing(times)], middleware=[telling, retry])
        yield by_call(app.invoke(USER))


def _given(lib: Library, edit: dict[str, Any]) -> Any:
    """What the model is given in its last turn, with an edit in between."""
    edits = [name(lib, "middleware.ClearToolUsesEdit")(**edit)]
    middleware = name(lib, "middleware.ContextEditingMiddleware")(edits=edits)
    model = scripted(
        calls(LOOK, PAY, id="ai-1"), calls(MAIL, id="ai-2"), calls(call("look", "c9", name="bo"), id="ai-3")
    )
    result = agent(lib, model, TOOLS, middleware=[middleware]).invoke(USER)
    given = [(one.type, one.content, [one["args"] for one in getattr(one, "tool_calls", ())]) for one in model.seen[-1]]
    return sorted(given[:4], key=repr) + given[4:], [len(message.content) > 9 for message in result["messages"]].count(
        1
    )


@programs
def old_results_are_left_out(lib: Library):
    for edit in (
        {"trigger": 10_000},
        {"trigger": 1, "keep": 1},
        {"trigger": 1, "keep": 0},
        {"trigger": 1, "keep": 1, "exclude_tools": ["pay"]},
        {"trigger": 1, "keep": 1, "clear_tool_inputs": True, "placeholder": "..."},
    ):
        yield _given(lib, edit)


TEXTS = {
    "email": "write to john.doe@example.co.uk or a@b.io now",
    "credit_card": "4111-1111-1111-1111, 4111 1111 1111 1111, 4111111111111112",
    "ip": "from 192.168.0.12, not 999.1.1.1",
    "mac_address": "00:1A:2B:3C:4D:5E and 00-1A-2B-3C-4D-5E",
    "url": "see https://x.com/a?b=1 and www.foo.org/bar and foo.com/x",
}


@programs
def a_summary_in_the_stream_of_updates(lib: Library):
    model = scripted("short", AIMessage("ok", id="ai-2"))
    summary = name(lib, "middleware.SummarizationMiddleware")(model, trigger=("messages", 3), keep=("messages", 1))
    talk = [HumanMessage("a", id="h1"), AIMessage("b", id="ai-1"), HumanMessage("c", id="h2")]
    for chunk in agent(lib, model, middleware=[summary]).stream({"messages": talk}, mode="updates"):
        yield [(node, [message.type for message in update["messages"]]) for node, update in chunk.items()]


@programs
def personal_data_is_taken_out(lib: Library):
    pii = name(lib, "middleware.PIIMiddleware")
    for kind, text in TEXTS.items():
        for strategy in ("redact", "mask", "hash"):
            model = scripted(AIMessage("ok", id="ai-1"))
            app = agent(lib, model, middleware=[pii(kind, strategy=strategy)])
            result = app.invoke({"messages": [HumanMessage(text, id="h1")]})
            yield [message.content for message in result["messages"]], [one.content for one in model.seen[0]]


@programs
def personal_data_of_ones_own_kind(lib: Library):
    pii = name(lib, "middleware.PIIMiddleware")

    def find(text: str) -> Any:
        at = text.find("Ana")
        return [{"type": "name", "value": "Ana", "start": at, "end": at + 3}] if at >= 0 else []

    for middleware in (pii("name", detector=find), pii("key", detector=r"sk-[a-z0-9]+", strategy="mask")):
        yield middleware.name
        app = agent(lib, scripted(AIMessage("ok", id="ai-1")), middleware=[middleware])
        blocks = [{"type": "text", "text": "Ana has sk-abcdef1234"}]
        for content in ("Ana has sk-abcdef1234", blocks):
            yield said(app.invoke({"messages": [HumanMessage(content, id="h1")]})["messages"])


@programs
def personal_data_in_what_the_model_and_the_tools_say(lib: Library):
    pii = name(lib, "middleware.PIIMiddleware")

    @tool
    def ask(name: str) -> str:
        """Ask for an address."""
        return f"{name}@x.org"

    turns = [
        calls(call("ask", "a1", name="ana"), text="from me@x.org", id="ai-1"),
        AIMessage("it is me@x.org", id="ai-2"),
    ]
    for where in ({}, {"apply_to_output": True}, {"apply_to_tool_results": True}, {"apply_to_input": False}):
        app = agent(lib, scripted(*turns), [ask], middleware=[pii("email", **where)])
        result = app.invoke({"messages": [HumanMessage("I am u@x.org", id="h1")]})
        yield [message.content for message in result["messages"]]


@programs
def personal_data_ends_the_run(lib: Library):
    app = agent(lib, scripted("ok"), middleware=[name(lib, "middleware.PIIMiddleware")("email", strategy="block")])
    yield app.invoke({"messages": [HumanMessage("I am u@x.org", id="h1")]}, fails=True)


@programs
def a_model_chooses_the_tools(lib: Library):
    select = name(lib, "middleware.LLMToolSelectorMiddleware")
    ways: list[tuple[Any, dict[str, Any]]] = [
        ({"tools": ["mail"]}, {}),
        ({"tools": ["mail", "pay", "look"]}, {"max_tools": 2}),
        ({"tools": []}, {"always_include": ["look"]}),
        ({"tools": ["mail"]}, {"max_tools": 1, "always_include": ["look", "pay"]}),
        ({}, {"on_parsing_failure": "all"}),
        ({}, {"on_parsing_failure": ["pay"]}),
        ({}, {"on_parsing_failure": lambda answer: ["look"]}),
    ]
    for chosen, options in ways:
        model = scripted(AIMessage("ok", id="ai-1"))
        app = agent(lib, model, TOOLS, middleware=[select(model=scripted(structured=chosen), **options)])
        app.invoke(USER)
        yield sorted(model.bound[-1]["tools"])


@programs
def results_are_made_up(lib: Library):
    emulate = name(lib, "middleware.LLMToolEmulator")
    for options in ({}, {"tools": ["look"]}, {"tools": [TOOLS[2]]}, {"tools": []}):
        middleware = emulate(model=scripted("made up"), **options)
        result = agent(lib, scripted(calls(LOOK, PAY, id="ai-1")), TOOLS, middleware=[middleware]).invoke(USER)
        yield {one.tool_call_id: one.content for one in result["messages"] if isinstance(one, ToolMessage)}


test_ready_made_middleware = programs.as_test()
