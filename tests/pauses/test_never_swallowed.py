"""Promise 1: a pause is never swallowed."""

import asyncio
import contextlib
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from signoff.errors import GraphBubbleUp, GraphInterrupt, SwallowedPause
from signoff.func import entrypoint, task
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, asking, beside

AT_ONCE = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=Exception)


def goes_on(app, answer="yes", log=None):
    """The program asks, and goes on with the answer."""
    assert app.ask(NEW) == ["sure?"]
    assert app.invoke(Command(resume=answer))["log"] == (log or [answer])


def test_suppressing_exceptions_does_not_suppress_a_pause(open_app):
    def ask(state):
        with contextlib.suppress(Exception):
            return {"log": [interrupt("sure?")]}

    goes_on(open_app(beside(ask=ask)))


def test_cleaning_up_on_the_way_out_is_fine(open_app):
    cleaned = []

    def ask(state):
        try:
            return {"log": [interrupt("sure?")]}
        finally:
            cleaned.append(1)

    goes_on(open_app(beside(ask=ask)))
    assert cleaned == [1, 1]


def test_a_pause_that_is_raised_again_pauses(open_app):
    def ask(state):
        try:
            return {"log": [interrupt("sure?")]}
        except GraphBubbleUp:
            raise
        except BaseException:
            return {"log": ["failed"]}

    goes_on(open_app(beside(ask=ask)))


@pytest.mark.parametrize("caught", [BaseException, GraphInterrupt])
def test_a_pause_that_a_node_eats_fails_the_run_and_names_the_node(open_app, caught):
    def careless(state):
        try:
            return {"log": [interrupt("sure?")]}
        except caught:
            return {"log": ["swallowed"]}

    app = open_app(beside(careless=careless))
    with pytest.raises(SwallowedPause, match="Node 'careless' asked 'sure\\?'"):
        app.invoke(NEW)
    assert app.get_state().values == {"log": []}
    assert app.get_state().next == ("careless",)


@task
def sure():
    return interrupt("sure?")


SURE = {
    "the node": lambda: interrupt("sure?"),
    "a call": lambda: sure().result(),
    "a graph": lambda: beside(ask=asking()).compile().invoke(NEW)["log"][0],
}


@pytest.mark.parametrize("by", SURE)
def test_what_is_asked_while_a_pause_is_on_its_way_waits_for_its_answer(open_app, by):
    @contextlib.contextmanager
    def room():
        try:
            yield
        finally:
            left.append(interrupt("tidied up?"))

    def tidy(state):
        left.clear()
        with room():
            answer = SURE[by]()
        return {"log": [answer, *left]}

    left = []
    app = open_app(beside(tidy=tidy))
    assert app.ask(NEW) == ["sure?"]
    assert app.ask(Command(resume="yes")) == ["tidied up?"]
    assert app.invoke(Command(resume="so it is"))["log"] == ["yes", "so it is"]


@pytest.mark.parametrize("by", ["the node", "a graph"])
def test_nothing_more_is_asked_behind_a_pause_that_a_node_eats(open_app, by):
    def careless(state):
        with contextlib.suppress(BaseException):
            first = SURE[by]()
        return {"log": [interrupt("again?"), first]}

    app = open_app(beside(careless=careless))
    assert app.ask(NEW) == ["sure?"]
    assert app.ask(Command(resume="yes")) == ["again?"]
    assert app.invoke(Command(resume="no"))["log"] == ["no", "yes"]


def test_a_pause_of_a_call_pauses_even_if_the_node_eats_it(open_app):
    @task
    def confirm():
        return interrupt("sure?")

    def careless(state):
        try:
            return {"log": [confirm().result()]}
        except:  # noqa: E722
            return {"log": ["swallowed"]}

    goes_on(open_app(beside(careless=careless)))


def test_a_pause_of_a_nested_graph_passes_except_exception(open_app):
    inner = beside(ask=asking()).compile()

    def careful(state):
        try:
            return inner.invoke(NEW)
        except Exception:
            return {"log": ["swallowed"]}

    goes_on(open_app(beside(careful=careful)))


def test_a_pause_of_a_call_passes_except_exception(open_app):
    @task
    def confirm():
        try:
            return interrupt("sure?")
        except Exception:
            return "swallowed"

    def careful(state):
        try:
            return {"log": [confirm().result()]}
        except Exception:
            return {"log": ["swallowed"]}

    goes_on(open_app(beside(careful=careful)))


def test_a_pause_in_an_entrypoint_passes_except_exception(open_app):
    def program(saver):
        @entrypoint(checkpointer=saver)
        def flow(text):
            try:
                return {"log": [interrupt("sure?")]}
            except Exception:
                return {"log": ["swallowed"]}

        return flow

    goes_on(open_app(program))


# Groups of exceptions


def test_a_pause_in_a_task_group_pauses(open_async_app):
    async def ask(state):
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(_confirm("sure?"))
        return {"log": [answer.result()]}

    goes_on(open_async_app(beside(ask=ask)))


def test_two_pauses_in_a_task_group_are_two_questions(open_async_app):
    async def ask(state):
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(_confirm(name, key=name)) for name in ("one", "two")]
        return {"log": [answer.result() for answer in answers]}

    app = open_async_app(beside(ask=ask))
    assert app.ask(NEW) == ["one", "two"]
    assert app.ask(Command(resume={"two": 2})) == ["one"]
    assert app.invoke(Command(resume={"one": 1})) == {"log": [1, 2]}


def test_a_pause_in_nested_task_groups_passes_except_exception(open_async_app):
    async def ask(state):
        try:
            async with asyncio.TaskGroup() as outer:
                answer = outer.create_task(_in_a_group())
            return {"log": [answer.result()]}
        except Exception:
            return {"log": ["swallowed"]}

    goes_on(open_async_app(beside(ask=ask)))


async def _in_a_group():
    async with asyncio.TaskGroup() as group:
        answer = group.create_task(_confirm("sure?"))
    return answer.result()


async def _confirm(question, **settings):
    return interrupt(question, **settings)


def test_a_pause_in_a_task_group_of_anyio_pauses(open_async_app):
    async def ask(state):
        answers = []

        async def confirm():
            answers.append(interrupt("sure?"))

        async with anyio.create_task_group() as group:
            group.start_soon(confirm)
        return {"log": answers}

    goes_on(open_async_app(beside(ask=ask)))


def test_a_failure_beside_a_pause_in_a_task_group_is_the_failure(open_async_app):
    async def ask(state):
        async with asyncio.TaskGroup() as group:
            group.create_task(_confirm("sure?"))
            group.create_task(_fail())

    with pytest.raises(BaseExceptionGroup) as caught:
        open_async_app(beside(ask=ask)).invoke(NEW)
    assert caught.value.subgroup(LookupError)


async def _fail():
    raise LookupError("broken")


def test_a_pause_in_gathered_coroutines_pauses(open_async_app):
    async def ask(state):
        return {"log": await asyncio.gather(_confirm("sure?"))}

    goes_on(open_async_app(beside(ask=ask)))


# Threads that a node starts


def test_a_pause_in_a_thread_of_a_pool_pauses(open_app):
    def ask(state):
        with ThreadPoolExecutor(1) as pool:
            return {"log": [pool.submit(contextvars.copy_context().run, interrupt, "sure?").result()]}

    goes_on(open_app(beside(ask=ask)))


def test_a_pause_in_a_thread_of_asyncio_pauses(open_async_app):
    async def ask(state):
        return {"log": [await asyncio.to_thread(interrupt, "sure?")]}

    goes_on(open_async_app(beside(ask=ask)))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_of_its_pause_fails_the_run(open_app):
    def careless(state):
        worker = threading.Thread(target=contextvars.copy_context().run, args=(interrupt, "sure?"))
        worker.start()
        worker.join()
        return {"log": ["nobody noticed"]}

    app = open_app(beside(careless=careless))
    with pytest.raises(SwallowedPause, match="Node 'careless' asked 'sure\\?'"):
        app.invoke(NEW)
    assert app.get_state().values == {"log": []}
