"""The messages of runs that are followed: whoever writes one, and whatever becomes of it."""

import asyncio
import contextlib
import threading

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from signoff.errors import MessageFailed
from signoff.graph import START, MessagesState, StateGraph


class Writer(BaseChatModel):
    """Writes a message of some words; one of them may be an error."""

    words: list = ["Dear ", "Ana ", "and ", "Bo"]
    is_eager: bool = False
    """Whether it tells callbacks of each word before it hands the word out, as some models do."""

    @property
    def _llm_type(self):
        return "writer"

    def _generate(self, *args, **kwargs):
        raise NotImplementedError("it writes word by word")

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for word in self.words:
            if isinstance(word, Exception):
                raise word
            chunk = ChatGenerationChunk(message=AIMessageChunk(word))
            if self.is_eager and run_manager is not None:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


EAGER = pytest.mark.parametrize("is_eager", [False, True], ids=["handing out", "telling first"])
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def app_of(write, awrite, is_async):
    node = awrite if is_async else write
    return StateGraph(MessagesState).add_node("write", node).add_edge(START, "write").compile()


def read(app, is_async):
    """The words of each message, and what it is in the end."""
    return asyncio.run(aread(app)) if is_async else sread(app)


def sread(app):
    found = []
    for message in app.stream_events({"messages": []}, version="v3").messages:
        words = []
        try:
            words += message.text
            found.append((words, message.output.text))
        except RuntimeError as error:
            found.append((words, error))
    return found


async def aread(app):
    found = []
    async for message in (await app.astream_events({"messages": []}, version="v3")).messages:
        words = []
        try:
            async for word in message.text:
                words += [word]
            found.append((words, (await message).text))
        except RuntimeError as error:
            found.append((words, error))
    return found


@WAYS
@EAGER
def test_a_message_that_a_node_streams_is_followed_word_by_word(is_eager, is_async):
    model = Writer(is_eager=is_eager)

    def write(state):
        whole = None
        for chunk in model.stream("Write!"):
            whole = chunk if whole is None else whole + chunk
        return {"messages": [whole]}

    async def awrite(state):
        whole = None
        async for chunk in model.astream("Write!"):
            whole = chunk if whole is None else whole + chunk
        return {"messages": [whole]}

    assert read(app_of(write, awrite, is_async), is_async) == [(model.words, "Dear Ana and Bo")]


@EAGER
def test_a_message_that_is_read_while_a_node_streams_it_does_not_wait_for_its_end(is_eager):
    model, is_read = Writer(is_eager=is_eager), threading.Event()

    def write(state):
        for chunk in model.stream("Write!"):
            assert chunk.text != "and " or is_read.wait(30)

    run = app_of(write, None, False).stream_events({"messages": []}, version="v3")
    words = iter(next(iter(run.messages)).text)
    assert next(words) == "Dear "
    is_read.set()
    assert [*words] == model.words[1:]


@WAYS
@EAGER
def test_a_message_that_a_node_has_a_model_write_is_followed_once(is_eager, is_async):
    model = Writer(is_eager=is_eager)

    def write(state):
        return {"messages": [model.invoke("Write!")]}

    async def awrite(state):
        return {"messages": [await model.ainvoke("Write!")]}

    assert read(app_of(write, awrite, is_async), is_async) == [(model.words, "Dear Ana and Bo")]


def test_what_a_stream_shows_inside_of_a_run_that_is_followed_is_followed_too():
    model, shown = Writer(), []

    def write(state):
        return {"messages": [model.invoke("Write!")]}

    inner = app_of(write, None, False)

    def call(state):
        shown.extend(chunk.text for chunk, _ in inner.stream({"messages": []}, stream_mode="messages"))

    run = app_of(call, None, False).stream_events({"messages": []}, version="v3")
    assert [[*message.text] for nested in run.subgraphs for message in nested.messages] == [model.words]
    assert shown == [*model.words, ""]


@WAYS
def test_a_message_that_a_node_has_put_together_itself_is_followed_too(is_async):
    def write(state):
        return {"messages": [AIMessageChunk("Dear ", id="1") + AIMessageChunk("Ana", id="1")]}

    async def awrite(state):
        return write(state)

    assert read(app_of(write, awrite, is_async), is_async) == [(["Dear Ana"], "Dear Ana")]


@WAYS
@EAGER
@pytest.mark.parametrize("is_streamed", [False, True], ids=["invoked", "streamed"])
def test_a_message_whose_model_fails_says_so_while_the_run_goes_on(is_streamed, is_eager, is_async):
    broken = Writer(words=["Dear ", "Ana ", ValueError("no words left")], is_eager=is_eager)
    whole = Writer(is_eager=is_eager)

    def write(state):
        try:
            list(broken.stream("Write!")) if is_streamed else broken.invoke("Write!")
        except ValueError:
            return {"messages": [whole.invoke("Write!")]}

    async def awrite(state):
        try:
            [chunk async for chunk in broken.astream("Write!")] if is_streamed else await broken.ainvoke("Write!")
        except ValueError:
            return {"messages": [await whole.ainvoke("Write!")]}

    (words, error), written = read(app_of(write, awrite, is_async), is_async)
    assert words == ["Dear ", "Ana "]
    assert type(error) is MessageFailed
    assert "no words left" in str(error)
    assert written == (whole.words, "Dear Ana and Bo")


@WAYS
def test_so_does_one_whose_node_reads_no_further(is_async):
    model = Writer()

    def write(state):
        for _ in model.stream("Write!"):
            break

    async def awrite(state):
        chunks = model.astream("Write!")
        async for _ in chunks:
            break
        await chunks.aclose()

    ((words, error),) = read(app_of(write, awrite, is_async), is_async)
    assert words == ["Dear "]
    assert type(error) is MessageFailed


def test_a_message_that_was_written_to_its_end_stays_though_the_run_fails_after_it():
    def fail(state):
        raise ValueError("no")

    graph = StateGraph(MessagesState).add_node("write", lambda state: {"messages": [Writer().invoke("Write!")]})
    app = graph.add_node("fail", fail).add_edge(START, "write").add_edge("write", "fail").compile()
    run = app.stream_events({"messages": []}, version="v3")
    message = next(iter(run.messages))
    with pytest.raises(ValueError, match="no"):
        _ = run.output
    assert message.output.text == "Dear Ana and Bo"


def test_a_failed_message_ends_in_the_events_of_the_run():
    def write(state):
        with contextlib.suppress(ValueError):
            Writer(words=["Dear ", ValueError("no words left")]).invoke("Write!")

    run = app_of(write, None, False).stream_events({"messages": []}, version="v3")
    told = [event["params"]["data"][0] for event in run if event["method"] == "messages"]
    assert told[-1] == {"event": "error", "message": "no words left"}


def test_a_model_that_fails_before_its_first_word_has_written_no_message():
    def write(state):
        with contextlib.suppress(ValueError):
            Writer(words=[ValueError("no words left")]).invoke("Write!")

    assert read(app_of(write, None, False), is_async=False) == []


def test_a_message_whose_rest_nobody_wants_troubles_no_event_loop():
    held, troubles = [], []

    async def write(state):
        held.append(Writer().astream("Write!"))
        await anext(held[0])
        await anext(held[0])

    async def program():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: troubles.append(context))
        await (await app_of(None, write, True).astream_events({"messages": []}, version="v3")).output()

    asyncio.run(program())
    assert troubles == []
