"""The messages stream: tokens of models and whole messages of nodes."""

import threading
from typing import Any

from langchain_core.runnables import RunnableConfig

from .harness import Programs, thread

program = Programs()


def _said(chunks: list[Any]) -> list[Any]:
    return [(message.type, message.content, facts["langgraph_node"]) for message, facts in chunks]


def _model(*answers: str):
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    return GenericFakeChatModel(messages=iter([AIMessage(answer, id=f"answer {answer}") for answer in answers]))


@program
def p52_tokens_of_a_model(lib):
    model = _model("hello big world", "and again")

    def chat(state: lib.MessagesState):
        return {"messages": model.invoke(state["messages"])}

    app = lib.app(lib.graph(lib.MessagesState, chat, edges="START>chat>END"))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))
    chunks = app.stream({"messages": [("user", "hi")]}, mode=["messages", "updates"])
    yield [mode for mode, _ in chunks]


@program.only_async
def p52_tokens_of_a_model_called_async(lib):
    model = _model("hello big world")

    async def chat(state: lib.MessagesState):
        return {"messages": await model.ainvoke(state["messages"])}

    app = lib.app(lib.graph(lib.MessagesState, chat, edges="START>chat>END"))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))


@program
def p52_whole_messages_that_nodes_return_count_once(lib):
    from langchain_core.messages import AIMessage

    def one(state: lib.MessagesState):
        return {"messages": AIMessage("one", id="1")}

    def two(state: lib.MessagesState):
        return {"messages": [*state["messages"], AIMessage("two", id="2")]}

    app = lib.saved(lib.graph(lib.MessagesState, one, two, edges="START>one>two>END"))
    yield _said(app.stream({"messages": [("user", "hi")]}, thread(), mode="messages"))
    yield _said(app.stream({"messages": [("user", "again")]}, thread(), mode="messages"))


@program
def p52_messages_of_a_nested_graph_name_the_innermost_node(lib):
    from langchain_core.messages import AIMessage

    def inside(state: lib.MessagesState):
        return {"messages": AIMessage("inside", id="1")}

    inner = lib.graph(lib.MessagesState, inside, edges="START>inside>END").compile()
    app = lib.app(lib.graph(lib.MessagesState, edges="START>outer>END", outer=inner))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))
    chunks = app.stream({"messages": [("user", "hi")]}, mode="messages", subgraphs=True)
    yield [(len(ns), *_said([chunk])) for ns, chunk in chunks]


@program
def messages_that_only_hidden_nodes_have_seen_are_news(lib):
    from langchain_core.messages import AIMessage

    def first(state: lib.MessagesState):
        return {"messages": AIMessage("first", id="1")}

    def second(state: lib.MessagesState):
        return {"messages": AIMessage("second", id="2")}

    inner = lib.graph(lib.MessagesState, first, second, edges="START>first>second>END").compile()
    app = lib.saved(lib.graph(lib.MessagesState, edges="START>outer>END", outer=inner))
    yield _said(app.stream({"messages": [("user", "hi")]}, thread(), mode="messages"))
    yield _said(app.stream({"messages": [("user", "again")]}, thread(), mode="messages"))


@program
def p52_a_model_with_the_nostream_tag_is_silent(lib):
    model = _model("hidden", "shown words").with_config(tags=["nostream"])

    def chat(state: lib.MessagesState):
        return {"messages": model.invoke(state["messages"])}

    app = lib.app(lib.graph(lib.MessagesState, chat, edges="START>chat>END"))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))


@program
def the_tags_of_a_model_are_those_it_was_given(lib):
    from langchain_core.runnables import RunnableLambda

    ask = RunnableLambda(lambda state: state["messages"])
    tagged, plain = ask | _model("a joke").with_config(tags=["joke"]), ask | _model("a poem")

    def chat(state: lib.MessagesState):
        return {"messages": [tagged.invoke(state), plain.invoke(state)]}

    app = lib.app(lib.graph(lib.MessagesState, chat, edges="START>chat>END"))
    chunks = app.stream({"messages": [("user", "hi")]}, mode="messages")
    yield [(message.content, facts.get("tags")) for message, facts in chunks]


@program
def p52_a_pushed_message_is_shown_and_kept(lib):
    from langchain_core.messages import AIMessage

    def push(state: lib.MessagesState):
        lib.push_message(AIMessage("pushed", id="1"))
        lib.push_message(AIMessage("only shown", id="2"), state_key=None)
        return {"messages": [AIMessage("returned", id="3")]}

    app = lib.app(lib.graph(lib.MessagesState, push, edges="START>push>END"))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))
    yield [message.content for message in app.invoke({"messages": [("user", "hi")]})["messages"]]


@program
def the_facts_beside_a_message(lib):
    from langchain_core.messages import AIMessage

    def say(state: lib.MessagesState):
        return {"messages": AIMessage("said", id="1")}

    graph = lib.StateGraph(lib.MessagesState)
    graph.add_node("say", say, metadata={"mine": 1})
    app = lib.saved(lib.connect(graph, "START>say>END"))
    config = {**thread(), "metadata": {"asked": True}, "tags": ["tag"]}
    ((_, facts),) = app.stream({"messages": [("user", "hi")]}, config, mode="messages")
    names = (
        "langgraph_node",
        "langgraph_step",
        "langgraph_checkpoint_ns",
        "thread_id",
        "mine",
        "asked",
        "langgraph_path",
    )
    yield {name: facts.get(name) for name in names}


@program
def p52_tokens_of_a_model_in_a_nested_graph(lib):
    model = _model("one two", "three four", "five")

    def chat(state: lib.MessagesState):
        return {"messages": model.invoke(state["messages"])}

    inner = lib.graph(lib.MessagesState, chat, edges="START>chat>END").compile()
    app = lib.app(lib.graph(lib.MessagesState, edges="START>outer>END", outer=inner))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))
    chunks = app.stream({"messages": [("user", "hi")]}, mode="messages", subgraphs=True)
    yield [(len(ns), *_said([chunk])) for ns, chunk in chunks]


@program
def tokens_of_a_model_that_a_conditional_edge_calls(lib):
    model = _model("to a", "and on")

    def route(state: lib.MessagesState):
        model.invoke(state["messages"])
        return "a"

    def after(state: lib.MessagesState):
        model.invoke(state["messages"])
        return lib.END

    graph = lib.graph(lib.MessagesState, edges="a>END", a=lambda state: None)
    app = lib.app(graph.add_conditional_edges(lib.START, route).add_conditional_edges("a", after))
    yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))


@program.only_async
def tokens_of_a_model_that_an_async_conditional_edge_calls(lib):
    from langchain_core.messages import HumanMessage

    model = _model("to a")

    async def route(state: lib.MessagesState):
        await model.ainvoke(state["messages"])
        return "a"

    app = lib.app(
        lib.graph(lib.MessagesState, edges="a>END", a=lambda state: None).add_conditional_edges(lib.START, route)
    )
    yield _said(app.stream({"messages": [HumanMessage("no news")]}, mode="messages"))


@program
def p52_messages_are_not_shown_again_after_a_resume(lib):
    from langchain_core.messages import AIMessage

    def say(state: lib.MessagesState):
        return {"messages": AIMessage("said", id="1")}

    def ask(state: lib.MessagesState):
        return {"messages": AIMessage(lib.interrupt("what?"), id="2")}

    app = lib.saved(lib.graph(lib.MessagesState, say, ask, edges="START>say>ask>END"))
    yield _said(app.stream({"messages": [("user", "hi")]}, thread(), mode="messages"))
    yield _said(app.stream(lib.Command(resume="answer"), thread(), mode="messages"))


@program
def p52_messages_beside_other_modes(lib):
    from langchain_core.messages import AIMessage

    def say(state: lib.MessagesState):
        lib.get_stream_writer()("word")
        return {"messages": AIMessage("said", id="1")}

    app = lib.app(lib.graph(lib.MessagesState, say, edges="START>say>END"))
    chunks = app.stream({"messages": [("user", "hi")]}, mode=["messages", "custom", "updates", "values"])
    yield [mode for mode, _ in chunks]


@program
def p52_tokens_of_a_model_in_a_thread_that_a_call_starts(lib):
    from langchain_core.messages import AIMessage

    @lib.task
    def ask(question, config: RunnableConfig):
        model = _model("one two")
        asking = threading.Thread(target=lambda: model.invoke(question, config))
        asking.start()
        asking.join()
        return "asked"

    @lib.task
    def around(question):
        return ask(question).result()

    def node(state: lib.MessagesState):
        return {"messages": AIMessage(around("hi").result(), id="1")}

    inner = lib.graph(lib.MessagesState, node, edges="START>node>END")
    outer = lib.graph(lib.MessagesState, edges="START>outer>END", outer=inner.compile())
    for app in (lib.app(inner), lib.app(outer)):
        yield _said(app.stream({"messages": [("user", "hi")]}, mode="messages"))
        chunks = app.stream({"messages": [("user", "hi")]}, mode="messages", subgraphs=True)
        yield [(len(ns), *_said([chunk])) for ns, chunk in chunks]


test_same = program.as_test()
