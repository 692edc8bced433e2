"""Streams that are read inside of a node, beside the stream of the run around it."""

from langchain_core.messages import AIMessage

from .harness import Programs, thread
from .test_stream_messages import _model

program = Programs()


def _texts(chunks):
    return [message.content for message, _ in chunks]


def _places(chunks):
    return [(len(ns), mode, getattr(chunk[0], "content", None)) for ns, mode, chunk in chunks]


def _speaking(lib, *answers):
    model = _model(*answers)

    def speak(state: lib.MessagesState):
        return {"messages": model.invoke("hi")}

    return lib.graph(lib.MessagesState, speak, edges="START>speak>END").compile()


def _answering(lib):
    def answer(state: lib.MessagesState):
        return {"messages": AIMessage("whole", id="1")}

    return lib.graph(lib.MessagesState, answer, edges="START>answer>END").compile()


def _pushing(lib):
    def push(state: lib.MessagesState):
        lib.push_message(AIMessage("pushed", id="2"), state_key=None)

    return lib.graph(lib.MessagesState, push, edges="START>push>END").compile()


def _reading(lib, inner, heard, config=None, **options):
    def read(state: lib.MessagesState):
        heard.append(_texts(inner.stream({"messages": []}, config, stream_mode="messages", **options)))

    return lib.app(lib.graph(lib.MessagesState, read, edges="START>read>END"))


@program
def messages_that_only_a_node_reads(lib):
    for inner in (_speaking(lib, "one two"), _answering(lib), _pushing(lib)):
        heard = []
        _reading(lib, inner, heard).invoke({"messages": []})
        yield heard


@program
def messages_that_a_node_reads_beside_the_caller(lib):
    for subgraphs in (False, True):
        for inner in (_speaking(lib, "one two"), _answering(lib), _pushing(lib)):
            heard = []
            app = _reading(lib, inner, heard)
            chunks = app.stream({"messages": []}, mode=["messages"], subgraphs=subgraphs)
            yield _places(chunks) if subgraphs else chunks
            yield heard


@program
def a_node_reads_twice(lib):
    inner, heard = _speaking(lib, "one two", "three four"), []

    def read(state: lib.MessagesState):
        heard.extend(_texts(inner.stream({"messages": []}, stream_mode="messages")) for _ in range(2))

    lib.app(lib.graph(lib.MessagesState, read, edges="START>read>END")).invoke({"messages": []})
    yield heard


@program
def a_run_on_a_thread_of_its_own_is_only_its_readers(lib):
    inner, heard = _speaking(lib, "one two", "three four"), []
    app = _reading(lib, inner, heard, thread("inner"))
    yield app.stream({"messages": []}, thread("outer"), mode="messages")
    yield app.stream({"messages": []}, thread("outer"), mode="messages", subgraphs=True)
    yield heard


@program
def a_run_on_a_thread_of_its_own_is_not_the_callers(lib):
    inner = _speaking(lib, "one two")

    def call(state: lib.MessagesState):
        inner.invoke({"messages": []}, thread("inner"))

    app = lib.app(lib.graph(lib.MessagesState, call, edges="START>call>END"))
    yield app.stream({"messages": []}, thread("outer"), mode="messages", subgraphs=True)


@program.only_sync
def messages_of_a_task_are_those_of_its_graph(lib):
    model = _model("one two", "three four", "five six", "seven eight")

    @lib.task
    def chat():
        model.invoke("hi")

    @lib.task
    def around():
        chat().result()

    for called in (chat, around):
        flow = lib.flow(lambda number, called=called: called().result())
        yield _texts(flow.stream(1, mode="messages"))
        yield _places(flow.stream(1, mode=["messages"], subgraphs=True))


test_same = program.as_test()
