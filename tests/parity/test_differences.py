"""Where signoff differs from LangGraph on purpose: what each of them does, side by side."""

import asyncio
import multiprocessing
import operator
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any

import pytest
import requests
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from pydantic import BaseModel
from typing_extensions import TypeAliasType, TypedDict

from prebuilt.models import ScriptedModel, call, calls, scripted
from signoff.errors import SignoffError
from signoff.graph import routing

from .harness import Boom, Library, observe, thread
from .prebuilt import agent, name
from .states import Counted, Log, Plain, a, b, c, noting

pytestmark = pytest.mark.parity

WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def both(program: Callable[[Library], Any], is_async: bool) -> tuple[list[Any], list[Any]]:
    """What LangGraph shows, and what signoff shows."""
    return tuple(observe(program, root, is_async=is_async) for root in ("langgraph", "signoff"))


@WAYS
@pytest.mark.parametrize("how", ["goto", "path", "send"])
def test_an_unknown_target_is_an_error(how, is_async):
    """LangGraph writes a line to its log and goes on."""

    def program(lib):
        def go(state):
            return lib.Command(
                update={"log": ["go"]}, goto={"goto": "nowhere", "send": lib.Send("nowhere", 1)}.get(how, ())
            )

        graph = lib.graph(Log, go, b, edges="START>go, b>END")
        if how == "path":
            graph.add_conditional_edges("go", lambda state: "nowhere")
        yield lib.app(graph).invoke({"log": []}, fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["go"]}]
    assert ours == ["fails: an invalid update"]


@WAYS
def test_a_node_that_goes_to_one_node_by_its_command_and_to_another_by_an_edge_runs_both_and_the_log_says_so(
    is_async, caplog
):
    """LangGraph runs both without a word."""
    routing._warn_of_both.cache_clear()

    def program(lib):
        def review(state):
            return lib.Command(goto="b")

        yield lib.app(lib.graph(Log, review, b, c, edges="START>review>c>END, b>END")).invoke({"log": []})

    theirs, ours = both(program, is_async)
    assert theirs == ours == [{"log": ["b", "c"]}]
    assert "to 'b' by its Command, and to 'c' by its edge" in caplog.text


@WAYS
def test_an_input_without_a_known_key_is_refused(is_async):
    """LangGraph runs without it."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
        yield app.invoke({"lgo": ["typo"]}, thread(), fails="maybe")
        yield len(app.history(thread()))

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["a"]}, 3]
    assert ours == ["fails: ValueError", 0]


@WAYS
def test_an_empty_input_returns_the_state(is_async):
    """LangGraph returns None when no step writes anything."""

    def program(lib):
        def silent(state):
            return None

        yield lib.app(lib.graph(Log, silent, edges="START>silent>END")).invoke({}, fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs == [None]
    assert ours == [{"log": []}]


@WAYS
def test_a_command_update_on_an_unborn_thread_applies_once(is_async):
    """LangGraph applies it twice."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
        yield app.invoke(lib.Command(update={"log": ["told"]}, goto="a"), thread())

    theirs, ours = both(program, is_async)
    assert theirs[0]["log"].count("told") == 2
    assert ours[0]["log"].count("told") == 1


@WAYS
def test_an_update_as_a_failed_node_keeps_what_its_siblings_finished(is_async):
    """LangGraph drops what the siblings wrote, and does not follow their edges."""

    def program(lib):
        def fail(state):
            raise Boom("broken")

        graph = lib.graph(Log, b, c, fail, edges="START>done>b>END, START>fail>c>END", done=noting("done"))
        app = lib.saved(graph)
        app.invoke({"log": ["in"]}, {**thread(), "max_concurrency": 1}, fails=True)
        app.update_state(thread(), {"log": ["told"]}, as_node="fail")
        state = app.get_state(thread())
        yield sorted(state.values["log"]), sorted(state.next)

    theirs, ours = both(program, is_async)
    assert theirs == [(["in", "told"], ["c"])]
    assert ours == [(["done", "in", "told"], ["b", "c"])]


@WAYS
def test_a_goto_of_the_caller_shows_in_the_next_nodes(is_async):
    """LangGraph shows no next node at the checkpoint, although one ran from there."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, b, edges="START>a>END, b>END"))
        app.invoke({"log": []}, thread())
        app.invoke(lib.Command(goto="b"), thread())
        yield [snapshot.next for snapshot in app.history(thread())]

    theirs, ours = both(program, is_async)
    assert theirs == [[(), (), ("a",), ("__start__",)]]
    assert ours == [[(), ("b",), ("a",), ("__start__",)]]


@WAYS
def test_a_deferred_node_waits_for_sends(is_async):
    """LangGraph runs it beside them."""

    def program(lib):
        def plan(state):
            return lib.Command(goto=[lib.Send("work", number) for number in (1, 2)])

        def work(number):
            return {"log": [f"work {number}"]}

        graph = lib.graph(Log, plan, work, edges="START>plan, work>END")
        graph.add_node("late", noting("late"), defer=True)
        yield lib.app(lib.connect(graph, "plan>late>END")).stream({"log": []}, mode="values")

    theirs, ours = both(program, is_async)
    assert [state["log"] for state in theirs[0]] == [[], ["late", "work 1", "work 2"]]
    assert [state["log"] for state in ours[0]] == [[], ["work 1", "work 2"], ["work 1", "work 2", "late"]]


@WAYS
def test_new_input_drops_a_deferred_node_that_an_unfinished_turn_has_led_to(is_async):
    """In LangGraph it runs at the end of the new turn."""

    def program(lib):
        def stop(state):
            if state["log"][-1] != "two":
                raise LookupError("stop")

        graph = lib.graph(Log, a, b, stop, edges="b>stop>END")
        graph.add_node("late", noting("late"), defer=True)
        graph.add_conditional_edges(lib.START, lambda state: ["a", "b"] if state["log"] == ["one"] else lib.END)
        app = lib.saved(lib.connect(graph, "a>late>END"))
        yield app.invoke({"log": ["one"]}, thread(), fails=True)
        yield app.invoke({"log": ["two"]}, thread())

    theirs, ours = both(program, is_async)
    assert theirs == ["fails: LookupError", {"log": ["one", "a", "b", "two", "late"]}]
    assert ours == ["fails: LookupError", {"log": ["one", "a", "b", "two"]}]


@WAYS
def test_reading_without_a_thread_id_is_a_value_error(is_async):
    """LangGraph raises a KeyError."""

    def program(lib):
        yield lib.saved(lib.graph(Log, a, edges="START>a>END")).get_state({"configurable": {}}, fails=True)

    theirs, ours = both(program, is_async)
    assert theirs == ["fails: KeyError"]
    assert ours == ["fails: ValueError"]


@WAYS
def test_a_thread_with_colliding_writes_can_be_read(is_async):
    """LangGraph stores the writes that collide, and then every get_state fails."""

    def program(lib):
        def one(state):
            return {"x": 1}

        def two(state):
            return {"x": 2}

        app = lib.saved(lib.graph(Plain, one, two, edges="START>one>END, START>two>END"))
        yield app.invoke({"x": 0}, thread(), fails=True)
        state = app.get_state(thread(), fails="maybe")
        yield "can be read" if hasattr(state, "values") else state

    theirs, ours = both(program, is_async)
    assert theirs == ["fails: an invalid update"] * 2
    assert ours == ["fails: an invalid update", "can be read"]


@WAYS
def test_a_node_whose_conditional_edge_failed_is_run_again(is_async):
    """LangGraph keeps the node's update and loses its way: nothing runs after it."""

    def program(lib):
        broken = [True]

        def route(state):
            if broken:
                raise Boom("nowhere")
            return "b"

        graph = lib.graph(Log, a, b, edges="START>a, b>END")
        graph.add_conditional_edges("a", route)
        app = lib.saved(graph)
        app.invoke({"log": []}, thread(), fails=True)
        yield app.get_state(thread()).next
        broken.clear()
        yield app.invoke(None, thread())

    theirs, ours = both(program, is_async)
    assert theirs == [(), {"log": ["a"]}]
    assert ours == [("a",), {"log": ["a", "b"]}]


@WAYS
def test_a_pause_passes_except_exception(is_async):
    """In LangGraph the node swallows its own pause and goes on with what it caught."""

    def program(lib):
        def ask(state):
            try:
                return {"log": [lib.interrupt("sure?")]}
            except Exception:
                return {"log": ["swallowed"]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        yield app.invoke({"log": []}, thread())

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["swallowed"]}]
    assert [question["value"] for question in ours[0]["__interrupt__"]] == ["sure?"]


@WAYS
def test_an_unknown_question_id_is_refused(is_async):
    """LangGraph ignores it and asks again."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        result = app.invoke(lib.Command(resume={"0" * 32: "yes"}), thread(), fails="maybe")
        yield "asks again" if isinstance(result, dict) else result
        yield app.invoke(lib.Command(resume="yes"), thread())

    theirs, ours = both(program, is_async)
    assert theirs == ["asks again", {"log": ["yes"]}]
    assert ours == ["fails: RuntimeError", {"log": ["yes"]}]


@WAYS
@pytest.mark.parametrize("answer", [None, False, 0, "", {}, []], ids=repr)
def test_an_empty_answer_is_an_answer(answer, is_async):
    """LangGraph takes None for no answer and asks again."""

    def program(lib):
        def ask(state):
            return {"log": [repr(lib.interrupt("sure?"))]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        result = app.invoke(lib.Command(resume=answer), thread(), fails="maybe")
        yield "asks again" if isinstance(result, dict) and "__interrupt__" in result else result

    theirs, ours = both(program, is_async)
    assert ours == [{"log": [repr(answer)]}]
    if answer is None:
        assert theirs != ours


@WAYS
def test_an_unanswered_sibling_is_not_run_again(is_async):
    """LangGraph runs every asking task again, up to its question, for each answer."""

    def program(lib):
        calls = []

        def asking(name):
            def ask(state):
                calls.append(name)
                return {"log": [lib.interrupt(name)]}

            return ask

        app = lib.saved(lib.graph(Log, edges="START>one>END, START>two>END", one=asking("one"), two=asking("two")))
        app.invoke({"log": []}, thread())
        ids = {question.value: question.id for question in app.get_state(thread()).interrupts}
        app.invoke(lib.Command(resume={ids["one"]: "first"}), thread())
        app.invoke(lib.Command(resume={ids["two"]: "second"}), thread())
        yield sorted(calls)

    theirs, ours = both(program, is_async)
    assert theirs == [["one", "one", "two", "two", "two"]]
    assert ours == [["one", "one", "two", "two"]]


@WAYS
def test_a_stored_value_comes_back_equal(is_async):
    """LangGraph gives a tuple inside of a dict back as a list."""

    def program(lib):
        seen = []

        def look(state):
            seen.append(state["x"])

        app = lib.saved(lib.graph(Plain, look, edges="START>look>END"))
        app.invoke({"x": {"pair": ("a", 1)}}, thread())
        app.invoke({"y": 1}, thread())
        yield seen

    theirs, ours = both(program, is_async)
    assert theirs == [[{"pair": ("a", 1)}, {"pair": ["a", 1]}]]
    assert ours == [[{"pair": ("a", 1)}, {"pair": ("a", 1)}]]


@WAYS
def test_all_questions_of_parallel_tasks_are_reported(is_async):
    """LangGraph reports the one whose future the entrypoint waited for."""

    def program(lib):
        @lib.task
        def ask(number):
            return f"{number}: {lib.interrupt(number)}"

        def flow(numbers):
            futures = [ask(number) for number in numbers]
            return [future.result() for future in futures]

        app = lib.watch(lib.entrypoint(checkpointer=lib.saver())(flow))
        app.invoke([1, 2, 3], thread())
        ids = {question.value: question.id for question in app.get_state(thread()).interrupts}
        yield sorted(ids)
        result = app.invoke(lib.Command(resume={ids[number]: "yes" for number in ids}), thread())
        yield "asks again" if isinstance(result, dict) else result

    theirs, ours = both(program, is_async)
    assert theirs[1] == "asks again"
    assert ours == [[1, 2, 3], ["1: yes", "2: yes", "3: yes"]]


@WAYS
def test_replaying_the_finished_head_stores_nothing(is_async):
    """LangGraph adds a fork to the history, from which nothing runs."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
        app.invoke({"log": []}, thread())
        before = len(app.history(thread()))
        app.invoke(None, app.get_state(thread()).config)
        yield len(app.history(thread())) - before

    theirs, ours = both(program, is_async)
    assert theirs == [1]
    assert ours == [0]


@WAYS
def test_a_replay_starts_inside_of_a_default_nested_graph(is_async):
    """LangGraph runs the nested graph from its start: the fork of its parent gives it a new namespace."""

    def program(lib):
        calls = []

        def counting(name):
            def node(state):
                calls.append(name)
                return {"log": [name]}

            return node

        def ask(state):
            calls.append("ask")
            return {"log": [lib.interrupt("sure?")]}

        inner = lib.graph(Log, ask, edges="START>one>two>ask>END", one=counting("one"), two=counting("two")).compile()
        app = lib.saved(lib.graph(Log, edges="START>inner>last>END", inner=inner, last=noting("last")))
        app.invoke({"log": []}, thread())
        place = app.get_state(thread()).tasks[0].state
        old = next(snapshot for snapshot in app.history(place) if snapshot.next == ("two",))
        calls.clear()
        app.invoke(None, old.config)
        yield calls

    theirs, ours = both(program, is_async)
    assert theirs == [["one", "two", "ask"]]
    assert ours == [["two", "ask"]]


@WAYS
def test_clearing_the_cache_of_no_nodes_clears_nothing(is_async):
    """LangGraph takes an empty list for all nodes."""

    def program(lib):
        calls = []

        def work(state):
            calls.append(1)
            return {"log": ["work"]}

        graph = lib.StateGraph(Log)
        graph.add_node("work", work, cache_policy=lib.CachePolicy())
        app = lib.app(lib.connect(graph, "START>work>END"), cache=lib.InMemoryCache())
        app.invoke({"log": []})
        app.clear_cache([])
        app.invoke({"log": []})
        yield len(calls)

    theirs, ours = both(program, is_async)
    assert theirs == [2]
    assert ours == [1]


# Promises about pauses


@WAYS
def test_an_answer_to_a_thread_that_has_ended_is_refused(is_async):
    """LangGraph takes it without a word."""

    def program(lib):
        app = lib.saved(lib.graph(Log, edges="START>ask>END", ask=_asking(lib, "sure?")))
        app.invoke({"log": []}, thread())
        app.invoke(lib.Command(resume="yes"), thread())
        yield app.invoke(lib.Command(resume="no"), thread(), fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["yes"]}]
    assert ours == ["fails: RuntimeError"]


@WAYS
def test_going_on_without_an_answer_asks_what_is_open(is_async):
    """LangGraph gives the answer to the first question to the second one."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("name?"), lib.interrupt("age?")]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        app.invoke(lib.Command(resume="Ana"), thread())
        result = app.invoke(None, thread())
        yield [question.value for question in result.get("__interrupt__", ())] or result

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["Ana", "Ana"]}]
    assert ours == [["age?"]]


@WAYS
def test_of_several_answers_at_once_one_is_taken(is_async):
    """LangGraph takes them all, and what follows the question runs once for each."""

    def program(lib):
        paid, together = [], threading.Barrier(4, timeout=10)

        def ask(state):
            return {"log": [lib.interrupt("pay?")]}

        def pay(state):
            if lib.root == "langgraph":
                together.wait()
            paid.append(1)

        app = lib.saved(lib.graph(Log, ask, pay, edges="START>ask>pay>END")).graph
        app.invoke({"log": []}, thread())
        with ThreadPoolExecutor(4) as people:
            clicks = [people.submit(_said, app, lib.Command(resume="yes"), is_async) for _ in range(4)]
        yield sorted(click.result() for click in clicks)
        yield len(paid)

    theirs, ours = both(program, is_async)
    assert theirs == [["done"] * 4, 4]
    assert ours == [["done", *["refused"] * 3], 1]


def _said(app, answer, is_async):
    """What the caller of one of several runs is told."""
    try:
        asyncio.run(app.ainvoke(answer, thread())) if is_async else app.invoke(answer, thread())
    except Exception as error:
        return "refused" if type(error).__name__ in ("AlreadyAnswered", "ThreadBusy") else repr(error)
    return "done"


@WAYS
def test_new_input_does_not_drop_an_open_question(is_async):
    """LangGraph drops it, and begins a new turn."""

    def program(lib):
        def maybe_ask(state):
            return {"log": [lib.interrupt("sure?")]} if state["log"] == ["ask"] else {}

        app = lib.saved(lib.graph(Log, maybe_ask, edges="START>maybe_ask>END"))
        app.invoke({"log": ["ask"]}, thread())
        yield app.invoke({"log": ["hello"]}, thread(), fails="maybe")
        yield [question.value for question in app.get_state(thread()).interrupts]

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["ask", "hello"]}, []]
    assert ours == ["fails: ValueError", ["sure?"]]


@WAYS
def test_another_question_does_not_get_the_answer(is_async):
    """LangGraph gives the old answer to the question that a deploy has put in its place."""

    def program(lib):
        def inserted(state):
            return {"log": [lib.interrupt("delete it all?"), lib.interrupt("sure?")]}

        saver, edges = lib.saver(), "START>ask>END"
        old = lib.app(lib.graph(Log, edges=edges, ask=_asking(lib, "sure?")), checkpointer=saver)
        new = lib.app(lib.graph(Log, edges=edges, ask=inserted), checkpointer=saver)
        old.invoke({"log": []}, thread())
        result = new.invoke(lib.Command(resume="yes"), thread(), fails="maybe")
        yield "took it" if isinstance(result, dict) else "refused"
        yield [question.value for question in new.get_state(thread()).interrupts]

    theirs, ours = both(program, is_async)
    assert theirs == ["took it", ["sure?"]]  # what was said to `sure?` has deleted it all
    assert ours == ["refused", ["sure?"]]


@WAYS
def test_a_node_that_is_renamed_while_it_waits_is_noticed(is_async):
    """LangGraph ends the run, and nobody is asked any more."""

    def program(lib):
        saver = lib.saver()
        old = lib.app(lib.graph(Log, edges="START>ask>END", ask=_asking(lib, "sure?")), checkpointer=saver)
        new = lib.app(lib.graph(Log, edges="START>confirm>END", confirm=_asking(lib, "sure?")), checkpointer=saver)
        old.invoke({"log": []}, thread())
        result = new.invoke(lib.Command(resume="yes"), thread(), fails="maybe")
        yield result if isinstance(result, dict) else "refused"

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": []}]
    assert ours == ["refused"]


@WAYS
def test_a_call_that_waits_is_not_run_again_for_the_answer_of_another(is_async):
    """LangGraph runs every call that waits again, up to its question, for each answer."""

    def program(lib):
        calls = []

        @lib.task
        def ask(name):
            calls.append(name)
            return lib.interrupt(name)

        def flow(names):
            return [future.result() for future in [ask(name) for name in names]]

        app = lib.flow(flow, checkpointer=lib.saver())
        app.invoke(["one", "two"], thread())
        first = app.get_state(thread()).interrupts[0]
        app.invoke(lib.Command(resume={first.id: "yes"}), thread())
        yield calls.count("two")

    theirs, ours = both(program, is_async)
    assert theirs == [2]
    assert ours == [1]


@WAYS
def test_a_second_run_of_a_thread_is_refused_while_the_first_one_runs(is_async):
    """LangGraph runs both, and the one that ends last overwrites the other."""

    def program(lib):
        heard = []

        def work(state):
            if state["log"] == ["first"]:
                with ThreadPoolExecutor(1) as other:
                    heard.append(other.submit(_second, app, is_async).result())

        app = lib.saved(lib.graph(Log, work, edges="START>work>END")).graph
        _said(app, {"log": ["first"]}, is_async)
        yield heard

    theirs, ours = both(program, is_async)
    assert theirs == [["done"]]
    assert ours == [["refused"]]


def _second(app, is_async):
    return _said(app, {"log": ["second"]}, is_async)


@WAYS
def test_a_pause_shows_in_the_metadata(is_async):
    """LangGraph's metadata do not tell a pause from a step under way."""

    def program(lib):
        app = lib.saved(lib.graph(Log, edges="START>ask>END", ask=_asking(lib, "sure?")))
        app.invoke({"log": []}, thread())
        state = app.get_state(thread())
        yield state.metadata.get("paused"), state.metadata.get("questions") == [state.interrupts[0].id]

    theirs, ours = both(program, is_async)
    assert theirs == [(None, False)]
    assert ours == [(True, True)]


def _asking(lib, question):
    def ask(state):
        return {"log": [lib.interrupt(question)]}

    return ask


@WAYS
@pytest.mark.parametrize("about_state", [False, True], ids=["the same question", "another question"])
def test_an_update_by_hand_leaves_the_question_of_a_node_that_is_still_due_open(about_state, is_async):
    """LangGraph drops it, and hands the next answer to whatever is asked then."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt(f"keep {len(state['log'])}?" if about_state else "keep it?")]}

        app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
        app.invoke({"log": []}, thread())
        app.update_state(thread(), {"log": ["told"]})
        state = app.get_state(thread())
        yield state.next, len(state.interrupts)
        yield app.invoke(lib.Command(resume="yes"), thread(), fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs == [(("ask",), 0), {"log": ["a", "told", "yes"]}]
    refused = "fails: Exception" if about_state else {"log": ["a", "told", "yes"]}
    assert ours == [(("ask",), 1), refused]


@WAYS
def test_a_nested_graph_that_remembers_is_first_called_in_a_later_run_of_a_branch(is_async):
    """LangGraph's knows what it learned on the branch that was left."""

    def program(lib):
        inner = lib.graph(Log, a, edges="START>a>END").compile(checkpointer=True)

        def call(state):
            return {"log": [len(inner.invoke({"log": []})["log"])]}

        app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
        app.invoke({"log": []}, thread())
        ended = app.get_state(thread()).config
        app.invoke({"log": []}, thread())
        app.update_state(ended, {"log": ["told"]})
        yield app.invoke({"log": []}, thread())

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": [1, "told", 3]}]
    assert ours == [{"log": [1, "told", 2]}]


def beside(lib: Library, order: list[Any], ask: Callable[[int], Any]) -> Any:
    """Coroutines side by side, about 5 and about 900; the second one pays, and asks, first."""
    is_paid = asyncio.Event()

    async def known(amount):
        if amount == 5:
            await is_paid.wait()
        return amount

    async def book(amount):
        order.append(amount)
        is_paid.set()
        return amount

    known, book = lib.task(known), lib.task(book)

    async def approved(amount):
        return await book(await known(amount)), ask(amount)

    async def work(amounts):
        return await asyncio.gather(*map(approved, amounts))

    return lib.watch(lib.entrypoint(checkpointer=lib.saver())(work))


def answered_one_by_one(lib, app, input):
    """What is open each time, until all is answered, the last first: "no" to 900, else "yes"; and the result."""
    while isinstance(said := app.invoke(input, thread()), dict):
        asked = said["__interrupt__"]
        yield [question.value for question in asked]
        input = lib.Command(resume={asked[-1].id: "no" if "900" in asked[-1].value else "yes"})
    yield said


def test_a_call_that_was_made_before_is_found_by_its_function_and_its_arguments():
    """In LangGraph one coroutine gets the result of another."""

    def program(lib):
        order = []
        *_, said = answered_one_by_one(lib, beside(lib, order, lambda amount: lib.interrupt("sure?")), [5, 900])
        yield [booked for booked, _ in said], order

    theirs, ours = both(program, True)
    assert theirs == [([900, 5], [900, 5])]
    assert ours == [([5, 900], [900, 5])]


def test_what_a_coroutine_beside_a_node_asks_goes_by_what_it_says():
    """In LangGraph the "no" to 900 is given to 5, and 5 is never asked about."""

    def program(lib):
        app = beside(lib, [], lambda amount: lib.interrupt(f"pay {amount}?"))
        *asked, said = answered_one_by_one(lib, app, [5, 900])
        yield asked, [answer for _, answer in said]

    theirs, ours = both(program, True)
    assert theirs == [([["pay 900?"], ["pay 900?"]], ["no", "no"])]
    assert ours == [([["pay 900?", "pay 5?"], ["pay 900?"]], ["yes", "no"])]


@WAYS
@pytest.mark.parametrize("is_sent", [False, True])
def test_an_update_that_names_no_node_leaves_due_what_a_goto_or_a_send_has_led_to(is_sent, is_async):
    """In LangGraph nothing is due any more, and what was asked is gone."""

    def program(lib):
        def lead(state):
            return lib.Command(goto=lib.Send("ask", {"log": []}) if is_sent else "ask")

        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        app = lib.saved(lib.graph(Log, lead, ask, edges="START>lead"))
        app.invoke({"log": []}, thread())
        app.update_state(thread(), {"log": ["told"]})
        state = app.get_state(thread())
        yield state.next, len(state.interrupts)

    theirs, ours = both(program, is_async)
    assert theirs == [((), 0)]
    assert ours == [(("ask",), 1)]


@WAYS
def test_calls_that_a_node_has_finished_are_not_made_again_after_an_update_by_hand(is_async):
    """In LangGraph they are made again, whatever was updated."""

    def program(lib):
        paid = []
        pay = lib.task(lambda amount: paid.append(amount) or amount, name="pay")

        def work(state):
            return {"log": [pay(5).result(), lib.interrupt("sure?")]}

        app = lib.saved(lib.graph(Log, work, edges="START>work>END"))
        app.invoke({"log": []}, thread())
        app.update_state(thread(), {"log": ["told"]})
        yield app.invoke(lib.Command(resume="yes"), thread()), paid

    theirs, ours = both(program, is_async)
    assert theirs == [({"log": ["told", 5, "yes"]}, [5, 5])]
    assert ours == [({"log": ["told", 5, "yes"]}, [5])]


def graphs_beside(lib: Library, looked: list[Any]) -> Any:
    """Coroutines that call a graph, about 5 and about 900; the second one does so first, if it is the first time."""
    has_asked = asyncio.Event()

    async def rate(amount):
        if amount == 5:
            await has_asked.wait()
        return amount

    async def look(state):
        looked.append(state["count"])

    async def ask(state):
        has_asked.set()
        return {"log": [lib.interrupt(f"pay {state['count']}?")]}

    graph = lib.connect(lib.graph(Counted, look, ask, edges=""), "START>look>ask>END").compile()
    rate = lib.task(rate)

    async def approved(amount):
        said = await graph.ainvoke({"log": [], "count": await rate(amount)})
        return said["count"], said["log"][0]

    async def work(amounts):
        return await asyncio.gather(*map(approved, amounts))

    return lib.watch(lib.entrypoint(checkpointer=lib.saver())(work))


def test_a_graph_that_a_coroutine_beside_a_node_calls_goes_on_with_what_is_its_own():
    """In LangGraph each goes on with what the other did, and has its answer."""

    def program(lib):
        *_, said = answered_one_by_one(lib, graphs_beside(lib, []), [5, 900])
        yield said

    theirs, ours = both(program, True)
    assert theirs == [[(900, "no"), (5, "yes")]]
    assert ours == [[(5, "yes"), (900, "no")]]


def test_a_pause_waits_for_graphs_and_calls_beside_it():
    """In LangGraph they work on while the run is over, and what they do is done again with the answer."""

    def program(lib):
        looked = []
        answered = list(answered_one_by_one(lib, graphs_beside(lib, looked), [5, 900]))
        yield answered[0], sorted(looked)

    (theirs,), (ours,) = both(program, True)
    assert theirs[0] == ["pay 900?"]
    assert ours == (["pay 900?", "pay 5?"], [5, 900])


@WAYS
def test_another_call_in_the_place_of_one_that_has_finished(is_async):
    """In LangGraph it gets the result of the finished one, which is made again."""

    def program(lib):
        done = []
        bill = lib.task(lambda amount: done.append(amount) or amount, name="bill")

        def once(state):
            return {"log": [bill(1).result(), lib.interrupt("sure?")]}

        def twice(state):
            return {"log": [bill(0).result(), bill(1).result(), lib.interrupt("sure?")]}

        saver = lib.saver()
        for version in (once, twice):
            graph = lib.graph(Log, edges="").add_node("bill", version).add_edge(lib.START, "bill")
            app = lib.watch(graph.compile(checkpointer=saver))
            yield app.invoke({"log": []} if version is once else lib.Command(resume="yes"), thread(), fails="maybe")
        yield done

    theirs, ours = both(program, is_async)
    assert theirs[1:] == [{"log": [1, 1, "yes"]}, [1, 1]]
    assert ours[1:] == ["fails: Exception", [1]]


@WAYS
def test_an_answer_must_be_of_the_type_that_is_asked_for(is_async):
    """LangGraph looks at it in the node, once it is stored, and makes a number of a text that looks like one."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("How many?", response_schema=int)]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        yield app.invoke(lib.Command(resume="5"), thread(), fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": [5]}]
    assert ours == ["fails: RuntimeError"]


@WAYS
def test_a_question_of_a_conditional_edge_comes_with_the_state_as_it_is_stored(is_async):
    """LangGraph shows what the node in front of it wrote, too, which is not stored, and done again with the answer."""

    def program(lib):
        graph = lib.graph(Log, a, b, edges="START>a, b>END")
        graph.add_conditional_edges("a", lambda state: lib.interrupt("go on?") and "b", ["b"])
        app = lib.saved(graph)
        yield app.invoke({"log": []}, thread())["log"]
        yield app.get_state(thread()).values["log"]
        yield app.invoke(lib.Command(resume=True), thread())["log"]

    theirs, ours = both(program, is_async)
    assert theirs == [["a"], [], ["a", "b"]]
    assert ours == [[], [], ["a", "b"]]


@WAYS
def test_a_node_or_call_that_has_asked_is_not_cached(is_async):
    """LangGraph gives what the answer led to to every thread with the same input."""

    def program(lib):
        graph = lib.StateGraph(Log)
        graph.add_node("ask", lambda state: {"log": [lib.interrupt("sure?")]}, cache_policy=lib.CachePolicy())
        app = lib.saved(lib.connect(graph, "START>ask>END"), cache=lib.InMemoryCache())
        app.invoke({"log": []}, thread("1"))
        app.invoke(lib.Command(resume="yes"), thread("1"))
        yield app.invoke({"log": []}, thread("2"))["log"]

    theirs, ours = both(program, is_async)
    assert theirs == [["yes"]]
    assert ours == [[]]


def test_a_generator_cannot_be_a_node():
    """LangGraph gives it an iterator of states, and adds up what it yields."""

    def program(lib):
        def several(states):
            yield {"log": ["one"]}

        yield lib.app(lib.graph(Log, several, edges="START>several>END")).invoke({"log": []})

    assert observe(program, "langgraph", is_async=False) == [{"log": ["one"]}]
    with pytest.raises(NotImplementedError, match="get_stream_writer"):
        observe(program, "signoff", is_async=False)


@WAYS
def test_chunks_say_their_mode_if_modes_are_in_a_tuple_too(is_async):
    """LangGraph tells them only if they are in a list."""

    def program(lib):
        app = lib.app(lib.graph(Log, a, edges="START>a>END"))
        yield from app.stream({"log": []}, mode=("updates",))

    theirs, ours = both(program, is_async)
    assert theirs == [{"a": {"log": ["a"]}}]
    assert ours == [("updates", {"a": {"log": ["a"]}})]


@pytest.mark.parametrize("part", ["store", "retry_policy"])
def test_a_part_of_the_wrong_kind_is_refused_when_the_graph_is_described(part):
    """LangGraph takes it, and fails when it is used, or never."""

    def program(lib):
        graph = lib.StateGraph(Log)
        graph.add_node("a", a, **({part: 3} if part == "retry_policy" else {}))
        graph.add_edge(lib.START, "a")
        yield lib.app(graph, **({part: {}} if part == "store" else {})).invoke({"log": []})

    assert observe(program, "langgraph", is_async=False) == [{"log": ["a"]}]
    with pytest.raises(TypeError, match=part):
        observe(program, "signoff", is_async=False)


@WAYS
def test_a_thread_whose_state_a_deploy_has_given_a_new_required_field_can_be_read(is_async):
    """LangGraph's `get_state` and `update_state` build the state of the node that is due."""

    @dataclass
    class Old:
        amount: int

    @dataclass
    class New(Old):
        currency: str

    def program(lib):
        saver = lib.saver()
        ask = _asking(lib, "sure?")
        old, new = (
            lib.app(lib.graph(state, edges="START>ask>END", ask=ask), checkpointer=saver) for state in (Old, New)
        )
        old.invoke({"amount": 5}, thread())
        yield new.invoke(lib.Command(resume="yes"), thread(), fails="maybe")
        shown = new.get_state(thread(), fails="maybe")
        yield getattr(shown, "values", "refused")

    theirs, ours = both(program, is_async)
    assert theirs[1] == "refused"
    assert ours[1] == {"amount": 5}


def test_two_tools_of_one_name_are_refused():
    """LangGraph calls the last one."""

    def paying(word):
        @tool("pay", description=f"Pay {word}.")
        def pay() -> str:
            return word

        return pay

    def program(lib):
        node = name(lib, "ToolNode")([paying("once"), paying("twice")])
        yield [one.description for one in node.tools_by_name.values()]

    assert observe(program, "langgraph", is_async=False) == [["Pay twice."]]
    with pytest.raises(ValueError, match="Two tools have the name 'pay'"):
        observe(program, "signoff", is_async=False)


@WAYS
def test_an_update_as_the_node_behind_a_join_stands_for_it(is_async):
    """LangGraph runs the node all the same."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, b, c, edges="START>a, START>b, a+b>c>END"), interrupt_before=["c"])
        app.invoke({"log": []}, thread())
        app.update_state(thread(), {"log": ["by hand"]}, as_node="c")
        yield app.get_state(thread()).next
        yield app.invoke(None, thread())["log"]

    theirs, ours = both(program, is_async)
    assert theirs == [("c",), ["a", "b", "by hand", "c"]]
    assert ours == [(), ["a", "b", "by hand"]]


@WAYS
def test_a_pause_is_one_chunk_of_values(is_async):
    """LangGraph shows each question with the state before it, and then the state without any."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        app = lib.saved(lib.graph(Log, ask, b, edges="START>ask>END, START>b>END"))
        for chunk in app.stream({"log": ["in"]}, thread(), mode="values")[1:]:
            yield chunk["log"], [question.value for question in chunk.get("__interrupt__", ())]

    theirs, ours = both(program, is_async)
    assert theirs == [(["in"], ["sure?"]), (["in", "b"], [])]
    assert ours == [(["in", "b"], ["sure?"])]


@WAYS
def test_an_update_that_names_a_task_comes_as_its_node(is_async):
    """In LangGraph it comes as the node that ran last."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>END, START>b>c>END"), interrupt_before=["a", "b"])
        app.invoke({"log": []}, thread())
        task = app.get_state(thread()).tasks[1]
        app.update_state(thread(), {"log": ["told"]}, task_id=task.id)
        yield app.get_state(thread()).next

    theirs, ours = both(program, is_async)
    assert theirs == [("a", "b")]
    assert ours == [("c",)]


@WAYS
def test_an_update_that_names_no_node_comes_from_whom_the_last_update_came_from(is_async):
    """LangGraph takes the node that ran last, whatever a person has said since."""

    def program(lib):
        app = lib.saved(lib.graph(Log, a, b, c, edges="START>b>END, a>c>END"))
        app.invoke({"log": []}, thread())
        app.update_state(thread(), {"log": ["one"]}, as_node="a")
        app.update_state(thread(), {"log": ["two"]})
        yield app.get_state(thread()).next

    theirs, ours = both(program, is_async)
    assert theirs == [()]
    assert ours == [("c",)]


def test_going_on_at_the_head_by_its_id_adds_no_fork():
    """LangGraph adds one, and runs what has finished there again."""

    def program(lib):
        ran = []

        def fail(state):
            raise Boom("again")

        def act(state):
            ran.append("act")

        app = lib.saved(lib.graph(Log, act, fail, edges="START>act>END, START>fail>END"))
        app.invoke({"log": []}, {**thread(), "max_concurrency": 1}, fails=True)
        head = app.get_state(thread()).config
        app.invoke(None, {**head, "max_concurrency": 1}, fails=True)
        yield len(ran), len(app.history(thread()))

    theirs, ours = both(program, is_async=False)
    assert theirs == [(2, 3)]
    assert ours == [(1, 2)]


@WAYS
def test_a_send_of_the_caller_takes_nothing_away_from_those_that_are_under_way(is_async):
    """LangGraph puts it in the place of the first one, whose result it gets, and drops the question of the other."""

    def program(lib):
        def review(number):
            return {"log": [f"{number} {lib.interrupt(number) if number > 9 else 'small'}"]}

        graph = lib.graph(Log, review, edges="review>END")
        sends = [lib.Send("review", 1), lib.Send("review", 20)]
        app = lib.saved(graph.add_conditional_edges(lib.START, lambda state: sends, ["review"]))
        app.invoke({"log": []}, thread())
        app.invoke(lib.Command(goto=lib.Send("review", 3)), thread())
        yield [question.value for question in app.get_state(thread()).interrupts]
        yield app.invoke(lib.Command(resume="yes"), thread(), fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs == [[], {"log": ["1 small"]}]
    assert ours == [[20], {"log": ["1 small", "20 yes", "3 small"]}]


def test_what_a_call_asks_beside_one_that_fails_is_asked_at_once():
    """LangGraph does not show it before the failure is mended."""

    def program(lib):
        broken = [True]

        @lib.task
        def confirm():
            return lib.interrupt("sure?")

        @lib.task
        def connect():
            if broken:
                raise Boom("not today")
            return "connected"

        def order(number):
            return [future.result() for future in [confirm(), connect()][::-1]]

        app = lib.flow(order, checkpointer=lib.saver())
        app.invoke(1, thread(), fails=True)
        yield [question.value for question in app.get_state(thread()).interrupts]
        broken.clear()
        yield [question.value for question in app.invoke(None, thread())["__interrupt__"]]
        yield app.invoke(lib.Command(resume="yes"), thread())

    theirs, ours = both(program, is_async=False)
    assert theirs == [[], ["sure?"], ["connected", "yes"]]
    assert ours == [["sure?"], ["sure?"], ["connected", "yes"]]


def test_a_pause_in_a_task_group_breaks_off_no_call():
    """LangGraph breaks it off, and makes it again after the answer."""

    def program(lib):
        begun, made = [], []

        @lib.task
        async def pay():
            begun.append("pay")
            for _ in range(20):
                await asyncio.sleep(0)
            made.append("pay")

        async def paying():
            await pay()

        async def asking():
            while not begun:
                await asyncio.sleep(0)
            return lib.interrupt("ship?")

        async def order(number):
            async with asyncio.TaskGroup() as group:
                group.create_task(paying())
                asked = group.create_task(asking())
            return asked.result()

        app = lib.flow(order, checkpointer=lib.saver())
        app.invoke(1, thread(), fails="maybe")
        yield len(begun), len(made)
        yield app.invoke(lib.Command(resume="yes"), thread())
        yield len(begun), len(made)

    theirs, ours = both(program, is_async=True)
    assert theirs == [(1, 0), "yes", (2, 1)]
    assert ours == [(1, 1), "yes", (1, 1)]


@WAYS
def test_a_tool_message_for_another_call_is_refused(is_async):
    """LangGraph hands it on."""

    @tool
    def book() -> ToolMessage:
        """Book."""
        return ToolMessage("Booked.", tool_call_id="1")

    def program(lib):
        graph = lib.StateGraph(lib.MessagesState).add_node("tools", name(lib, "ToolNode")([book]))
        wanted = AIMessage("", tool_calls=[{"name": "book", "args": {}, "id": "2"}])
        result = lib.app(lib.connect(graph, "START>tools>END")).invoke({"messages": [wanted]}, fails="maybe")
        yield result["messages"][-1].tool_call_id if isinstance(result, dict) else result

    theirs, ours = both(program, is_async)
    assert (theirs, ours) == (["1"], ["fails: an invalid update"])


@WAYS
def test_a_question_beside_a_command_for_the_parent_is_asked(is_async):
    """LangGraph leaves the nested graph, and nobody is asked."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        def leave(state):
            return lib.Command(graph=lib.Command.PARENT, update={"log": ["left"]}, goto="b")

        inner = lib.graph(Log, ask, leave, edges="START>ask>END, START>leave").compile()
        app = lib.saved(lib.graph(Log, b, edges="START>inner, b>END", inner=inner))
        yield [question.value for question in app.invoke({"log": []}, thread()).get("__interrupt__", ())]
        yield app.get_state(thread()).next
        if lib.root == "signoff":
            yield app.invoke(lib.Command(resume="yes"), thread())

    theirs, ours = both(program, is_async)
    assert theirs == [[], ()]
    assert ours == [["sure?"], ("inner",), {"log": ["left", "b"]}]


def test_of_two_commands_for_the_parent_both_count():
    """LangGraph takes one of them, sometimes this and sometimes that."""

    def program(lib):
        def leaving(to):
            return lambda state: lib.Command(graph=lib.Command.PARENT, goto=to)

        inner = lib.graph(Log, edges="START>one, START>two", one=leaving("a"), two=leaving("b")).compile()
        app = lib.app(lib.graph(Log, a, b, edges="START>inner, a>END, b>END", inner=inner))
        yield app.invoke({"log": []})["log"]

    theirs, ours = both(program, is_async=False)
    assert theirs in ([["a"]], [["b"]])
    assert ours == [["a", "b"]]


@WAYS
def test_a_graph_that_a_node_calls_with_the_thread_id_of_its_own_run_is_nested(is_async):
    """LangGraph runs it by itself, and returns its question to the node."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        inner = lib.graph(Log, ask, edges="START>ask>END").compile()

        def call(state):
            return {"log": [len(inner.invoke({"log": []}, thread()).get("__interrupt__", ()))]}

        app = lib.saved(lib.graph(Log, call, edges="START>call>END"))
        result = app.invoke({"log": []}, thread())
        yield result["log"], [question.value for question in result.get("__interrupt__", ())]

    theirs, ours = both(program, is_async)
    assert theirs == [([1], [])]
    assert ours == [([], ["sure?"])]


@WAYS
def test_what_has_finished_before_does_not_begin_again_in_the_stream_of_tasks(is_async):
    """LangGraph lets it begin once more, and never end."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        app = lib.saved(lib.graph(Log, a, ask, edges="START>a>END, START>ask>END"))
        app.invoke({"log": []}, thread())
        events = app.stream(lib.Command(resume="yes"), thread(), mode="tasks")
        yield [event["name"] for event in events if "input" in event]

    assert both(program, is_async) == ([["a", "ask"]], [["ask"]])


def test_a_cancelled_run_waits_for_functions_that_run_in_threads():
    """LangGraph leaves them at work."""

    def program(lib):
        begun, may_end = threading.Event(), threading.Event()

        def work(state):
            begun.set()
            may_end.wait()

        graph = lib.graph(Log, work, edges="START>work>END").compile()

        async def cancelled():
            run = asyncio.create_task(graph.ainvoke({"log": []}))
            await asyncio.to_thread(begun.wait)
            run.cancel()
            for _ in range(100):
                await asyncio.sleep(0)
            is_over = run.done()
            may_end.set()
            await asyncio.wait([run])
            return is_over, run.cancelled()

        yield asyncio.run(cancelled())

    assert both(program, is_async=False) == ([(True, True)], [(False, True)])


def test_a_picture_has_only_the_edges_that_there_are():
    """LangGraph draws a way out of a loop that has none."""

    def program(lib):
        picture = lib.graph(Log, a, b, edges="START>a>b>a").compile().get_graph()
        yield [(edge.source, edge.target) for edge in picture.edges if edge.target == "__end__"]

    assert both(program, is_async=False) == ([[("b", "__end__")]], [[]])


def test_messagesstate_takes_messages_in_any_form():
    """LangGraph takes what LangChain's classes are made of."""

    def program(lib):
        graph = lib.connect(
            lib.StateGraph(lib.MessagesState).add_node("a", lambda state: None), "START>a>END"
        ).compile()
        messages = graph.get_input_jsonschema()
        yield "HumanMessage" in messages.get("$defs", {})
        try:
            graph.get_input_schema().model_validate({"messages": [{"role": "user", "content": "hello"}]})
        except TypeError:
            yield "refused"

    assert both(program, is_async=False) == ([True, "refused"], [False])


def test_what_a_server_refuses_is_not_tried_again():
    """LangGraph looks for the answer in a way that finds only those below 400."""
    refusal = requests.Response()
    refusal.status_code = 404

    def program(lib):
        yield lib.RetryPolicy().retry_on(requests.HTTPError(response=refusal))

    assert both(program, is_async=False) == ([True], [False])


@WAYS
def test_an_answer_at_an_old_checkpoint_is_refused(is_async):
    """LangGraph takes it, and hands over the answer of that time."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        asked = app.get_state(thread()).config
        app.invoke(lib.Command(resume="yes"), thread())
        result = app.invoke(lib.Command(resume="no"), asked, fails="maybe")
        yield result["log"] if isinstance(result, dict) else result
        app.invoke(None, asked)
        yield app.invoke(lib.Command(resume="no"), thread())["log"]

    theirs, ours = both(program, is_async)
    assert theirs == [["yes"], ["no"]]
    assert ours == ["fails: RuntimeError", ["no"]]


class Approval(BaseModel):
    approved: str


@WAYS
def test_a_state_that_lacks_a_field_which_its_type_requires_is_shown_as_a_dict(is_async):
    """LangGraph fails with the error of the type, and the question cannot be answered."""

    def program(lib):
        def ask(state):
            return {"approved": lib.interrupt("sure?")}

        class State(TypedDict):
            approved: str
            order: str

        graph = lib.StateGraph(State, output_schema=Approval)
        app = lib.saved(lib.connect(graph.add_node("ask", ask), "START>ask>END"))
        yield app.invoke({"order": "tea"}, thread(), version="v2", fails="maybe")
        yield app.invoke(lib.Command(resume="yes"), thread(), version="v2", fails="maybe")

    theirs, (asked, done) = both(program, is_async)
    assert theirs == ["fails: not valid for the schema"] * 2
    assert asked["value"] == {}
    assert asked["interrupts"][0]["value"] == "sure?"
    assert done["value"] == {"is": "Approval", "approved": "yes"}


@WAYS
def test_what_a_nested_graph_shows_is_of_its_own_type(is_async):
    """LangGraph makes objects of the outer type of it, and fails where they do not fit."""

    @dataclass
    class Inner:
        y: int = 0

    @dataclass
    class Outer:
        x: int = 0

    def program(lib):
        inner = lib.graph(Inner, edges="START>count>END", count=lambda state: {"y": 1}).compile()
        app = lib.app(
            lib.graph(Outer, edges="START>around>END", around=lambda state: inner.invoke({"y": 0}) and {"x": 1})
        )
        parts = app.stream({"x": 0}, mode="values", version="v2", subgraphs=True, fails="maybe")
        yield [part["data"] if isinstance(part, dict) else part for part in parts]

    (theirs,), (ours,) = both(program, is_async)
    assert theirs[-1] == "fails: TypeError"
    assert ours == [
        {"is": "Outer", "x": 0},
        {"is": "Inner", "y": 0},
        {"is": "Inner", "y": 1},
        {"is": "Outer", "x": 1},
    ]


@WAYS
def test_what_a_step_came_to_before_its_reader_left_stays_in_the_state(is_async):
    """LangGraph drops it with the next input, although it may have shown it as part of the state."""

    def program(lib):
        def talk(state):
            lib.get_stream_writer()("word")
            return {"log": ["talk"]}

        app = lib.saved(lib.graph(Log, talk, edges="START>talk>END"))
        if is_async:
            lib.runner.run(_read_one(app.graph.astream({"log": []}, thread(), stream_mode="custom")))
        else:
            stream = app.graph.stream({"log": []}, thread(), stream_mode="custom")
            next(stream)
            stream.close()
        yield app.get_state(thread()).values
        yield app.invoke({"log": ["more"]}, thread())

    theirs, ours = both(program, is_async)
    assert theirs[1] == {"log": ["more", "talk"]}
    assert ours == [{"log": ["talk"]}, {"log": ["talk", "more", "talk"]}]


async def _read_one(stream):
    await anext(stream)
    await stream.aclose()


@WAYS
def test_a_node_that_asks_has_ended_for_callbacks(is_async):
    """LangGraph tells them that it has failed."""

    class Ear(BaseCallbackHandler):
        def __init__(self):
            self.heard = []

        def on_chain_end(self, outputs, **facts):
            self.heard.append("ended")

        def on_chain_error(self, error, **facts):
            self.heard.append("failed")

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        ear = Ear()
        lib.saved(lib.graph(Log, ask, edges="START>ask>END")).invoke({"log": []}, {**thread(), "callbacks": [ear]})
        yield ear.heard

    assert both(program, is_async) == ([["failed", "ended"]], [["ended", "ended"]])


@WAYS
def test_a_node_that_a_callback_fails_to_hear_the_end_of_is_not_run_again(is_async):
    """In LangGraph a retry_policy has it run again."""

    class Deaf(BaseCallbackHandler):
        raise_error = True
        has_failed = False

        def on_chain_end(self, outputs, **facts):
            if not self.has_failed:
                self.has_failed = True
                raise Boom("cannot hear")

    def program(lib):
        ran = []

        def work(state):
            ran.append("work")
            return {"log": ["done"]}

        policy = lib.RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Boom)
        graph = lib.StateGraph(Log).add_node("work", work, retry_policy=policy).add_edge(lib.START, "work")
        app = lib.saved(graph)
        yield app.invoke({"log": []}, {**thread(), "callbacks": [Deaf()]}, fails="maybe")
        yield app.invoke(None, thread())
        yield ran

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["done"]}, {"log": ["done"]}, ["work", "work"]]
    assert ours == ["fails: Boom: cannot hear", {"log": ["done"]}, ["work"]]


@WAYS
def test_a_join_that_a_deploy_has_brought_does_not_wait_for_nodes_that_have_run(is_async):
    """In LangGraph, what is behind it never runs."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        saver = lib.saver()
        lib.app(lib.graph(Log, a, ask, c, edges="START>a, START>ask>c"), checkpointer=saver).invoke(
            {"log": []}, thread()
        )
        graph = lib.graph(Log, a, ask, c, edges="START>a, START>ask").add_edge(["a", "ask"], "c")
        yield lib.app(graph, checkpointer=saver).invoke(lib.Command(resume="yes"), thread())

    assert both(program, is_async) == ([{"log": ["a", "yes"]}], [{"log": ["a", "yes", "c"]}])


def test_whoever_reads_a_projection_late_gets_what_has_come_before():
    """In LangGraph only what comes from then on."""

    def program(lib):
        run = lib.app(lib.graph(Log, a, edges="START>a")).followed({"log": []})
        yield run.output
        yield list(run.values)

    theirs, ours = both(program, is_async=False)
    assert theirs == [{"log": ["a"]}, []]
    assert ours == [{"log": ["a"]}, [{"log": []}, {"log": ["a"]}]]


def test_a_run_that_was_aborted_has_no_output():
    """In LangGraph it has the state so far."""

    def program(lib):
        run = lib.app(lib.graph(Log, a, b, edges="START>a>b")).followed({"log": []})
        states = iter(run.values)
        yield [next(states), next(states)]
        run.abort()
        try:
            yield run.output
        except SignoffError as error:
            yield type(error).__name__

    theirs, ours = both(program, is_async=False)
    assert theirs == [[{"log": []}, {"log": ["a"]}], {"log": ["a"]}]
    assert ours == [[{"log": []}, {"log": ["a"]}], "StreamAborted"]


@WAYS
def test_a_value_that_a_tracepolicy_fails_to_process_is_not_recorded_at_all(is_async):
    """LangGraph records it as it is."""

    def program(lib):
        policy = lib.TracePolicy(process_inputs=lambda state: state["logg"])
        app = lib.app(lib.StateGraph(Log).add_node("a", a, trace_policy=policy).add_edge(lib.START, "a"))
        tracer = RunCollectorCallbackHandler()
        yield app.invoke({"log": ["secret"]}, {"callbacks": [tracer]})
        yield tracer.traced_runs[0].child_runs[0].inputs

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["secret", "a"]}, {"log": ["secret"]}]
    assert ours == [{"log": ["secret", "a"]}, {}]


@WAYS
def test_a_deferred_node_that_a_caller_goes_to_runs_when_nothing_else_is_due(is_async):
    """In LangGraph it does not run, and nobody can answer it any more."""

    def program(lib):
        def ask(state):
            return {"log": [lib.interrupt("sure?")]}

        graph = lib.graph(Log, a, edges="START>a").add_node("ask", ask, defer=True).add_edge(lib.START, "ask")
        app = lib.saved(graph)
        app.invoke({"log": []}, thread())
        app.invoke(lib.Command(goto="ask"), thread())
        yield app.invoke(lib.Command(resume="yes"), thread())

    assert both(program, is_async) == ([{"log": ["a"]}], [{"log": ["a", "yes"]}])


@WAYS
def test_a_nested_graph_that_remembers_is_named_alike_in_streams_and_snapshots(is_async):
    """LangGraph adds the id of a task to its name in snapshots."""

    def program(lib):
        desk = lib.graph(Log, a, edges="START>a>END").compile(checkpointer=True)
        app = lib.saved(lib.graph(Log, edges="START>desk>END", desk=desk), interrupt_before=["desk"])
        app.invoke({"log": []}, thread())
        inside = app.get_state(thread()).tasks[0].state
        yield inside["configurable"]["checkpoint_ns"]
        yield app.stream(None, thread(), mode="updates", subgraphs=True)[0][0]
        yield app.get_state(inside).values

    theirs, ours = both(program, is_async)
    assert theirs == ["desk:id#1", ("desk",), {"log": ["a"]}]
    assert ours == ["desk", ("desk",), {"log": ["a"]}]


@WAYS
def test_a_value_that_lives_for_one_step_is_gone_after_it(is_async):
    """LangGraph's invoke returns it if the last step writes nothing; its history shows it with the next input."""

    def program(lib):
        class Hinted(Log):
            hint: Annotated[str, lib.EphemeralValue(str)]

        def hints(state):
            return {"hint": "hurry"}

        def silent(state):
            return None

        app = lib.saved(lib.graph(Hinted, hints, silent, edges="START>hints>silent>END"))
        yield app.invoke({"log": []}, thread())
        yield app.get_state(thread()).values
        app = lib.saved(lib.graph(Hinted, hints, edges="START>hints>END"))
        app.invoke({"log": []}, thread())
        app.invoke({"log": []}, thread())
        yield [old.values.get("hint") for old in app.history(thread()) if old.metadata["source"] == "input"]

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": [], "hint": "hurry"}, {"log": []}, ["hurry", None]]
    assert ours == [{"log": []}, {"log": []}, [None, None]]


@WAYS
def test_a_breakpoint_before_a_graph_that_remembers_takes_nothing_from_its_input(is_async):
    """LangGraph's nested graph does not run the second time: it gives what it gave before."""

    def program(lib):
        desk = lib.graph(Log, a, edges="START>a>END").compile(checkpointer=True)

        def call(state):
            return {"log": desk.invoke({"log": state["log"][-1:]})["log"][-2:]}

        app = lib.saved(lib.graph(Log, call, edges="START>call>END"), interrupt_before=["call"])
        for word in ("one", "two"):
            app.invoke({"log": [word]}, thread())
            yield app.invoke(None, thread())["log"][-2:]

    theirs, ours = both(program, is_async)
    assert theirs == [["one", "a"], ["one", "a"]]
    assert ours == [["one", "a"], ["two", "a"]]


@WAYS
def test_an_update_as_a_deferred_node_stands_for_it(is_async):
    """LangGraph runs the node all the same."""

    def program(lib):
        graph = lib.StateGraph(Log)
        graph.add_node("a", a, defer=True)
        app = lib.saved(lib.connect(graph, "START>a>END"), interrupt_before=["a"])
        app.invoke({"log": []}, thread())
        app.update_state(thread(), {"log": ["by hand"]}, as_node="a")
        yield app.invoke(None, thread())

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["by hand", "a"]}]
    assert ours == [{"log": ["by hand"]}]


@WAYS
def test_a_call_that_asks_ends_in_the_stream_of_tasks(is_async):
    """LangGraph shows that it begins, and never that it ends; nor does a call that waits for another answer."""

    def program(lib):
        confirm = lib.task(name="confirm")(lambda n: lib.interrupt(f"sure of {n}?"))

        def flow(n):
            return confirm(n).result()

        chunks = lib.flow(flow, checkpointer=lib.saver()).stream(1, thread(), mode=["tasks"])
        ended = [chunk for _, chunk in chunks if "interrupts" in chunk]
        yield [(chunk["name"], [question["value"] for question in chunk["interrupts"]]) for chunk in ended]

    theirs, ours = both(program, is_async)
    assert theirs == [[("flow", ["sure of 1?"])]]
    assert ours == [[("confirm", ["sure of 1?"]), ("flow", ["sure of 1?"])]]


@WAYS
def test_a_graph_that_a_task_calls_is_named_by_the_call(is_async):
    """LangGraph's names begin with the node that makes the call."""

    def program(lib):
        inner = lib.graph(Log, a, edges="START>a>END").compile()
        call = lib.task(name="call")(lambda: inner.invoke({"log": []}))

        def flow(n):
            return len(call().result())

        chunks = lib.flow(flow).stream(1, mode="values", subgraphs=True)
        yield [[level.partition(":")[0] for level in place] for place, _ in chunks]

    theirs, ours = both(program, is_async)
    assert theirs == [[["flow", "call"], ["flow", "call"], []]]
    assert ours == [[["call"], ["call"], []]]


@WAYS
def test_an_entrypoint_is_retried_without_what_has_finished_in_it(is_async):
    """LangGraph makes all calls again, and gives the policy to each task that has none: three attempts become nine."""

    def program(lib):
        calls = []

        def fail(n):
            calls.append("fail")
            raise Boom("broken")

        task, work = lib.task(fail), lib.task(name="work")(lambda n: calls.append("work"))

        def flow(n):
            calls.append("flow")
            work(n).result()
            return task(n).result()

        policy = lib.RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=2)
        yield lib.flow(flow, retry_policy=policy).invoke(1, fails=True)
        yield calls

    theirs, ours = both(program, is_async)
    assert theirs == ["fails: Boom: broken", ["flow", "work", "fail", "fail"] * 2]
    assert ours == ["fails: Boom: broken", ["flow", "work", "fail", "flow", "fail"]]


Lines = TypeAliasType("Lines", Annotated[list, operator.add])


class Page(TypedDict):
    log: Lines


@WAYS
def test_a_reducer_behind_a_name_for_a_type_counts(is_async):
    """LangGraph does not look behind the name, and keeps the last value."""

    def program(lib):
        yield lib.app(lib.graph(Page, a, b, edges="START>a>b>END")).invoke({"log": []})

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["b"]}]
    assert ours == [{"log": ["a", "b"]}]


def there(work, *args):
    """What comes of some work in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as process:
        return process.submit(work, *args).result()


def asking_there(interrupt, words):
    return interrupt(words)


@WAYS
def test_a_process_that_a_node_forks_off_has_no_part_in_its_run(is_async):
    """In LangGraph both get one answer, though nobody has seen that there are two."""

    def program(lib):
        def ask(state):
            return {"log": [there(asking_there, lib.interrupt, words) for words in ("pay?", "delete it all?")]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        yield app.invoke({"log": []}, thread(), fails="maybe")
        yield app.invoke(lib.Command(resume="yes"), thread(), fails="maybe")

    theirs, ours = both(program, is_async)
    assert theirs[1] == {"log": ["yes", "yes"]}
    assert ours[0] == "fails: ValueError"  # OutsideOfRun


@WAYS
def test_a_node_that_fails_with_its_answer_has_no_update(is_async):
    """LangGraph shows one, of nothing, as of a node that has finished."""

    def program(lib):
        def ask(state):
            raise Boom(lib.interrupt("?"))

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        yield app.stream(lib.Command(resume="yes"), thread(), mode="updates", fails=True)

    theirs, ours = both(program, is_async)
    assert theirs == [[{"ask": None}, "fails: Boom: yes"]]
    assert ours == [["fails: Boom: yes"]]


@WAYS
def test_nodes_begin_before_sends(is_async):
    """LangGraph begins with the Sends, and folds what they write in last."""

    def program(lib):
        def go(state):
            return lib.Command(goto=[lib.Send("sent", state), "node"])

        graph = lib.graph(Log, go, edges="START>go", sent=noting("sent"), node=noting("node"))
        chunks = lib.app(graph).stream({"log": []}, {"max_concurrency": 1}, mode=["updates", "values"])
        yield [chunk for mode, chunk in chunks if mode == "updates"][1:], chunks[-1]

    theirs, ours = both(program, is_async)
    result = ("values", {"log": ["node", "sent"]})
    assert theirs == [([{"sent": {"log": ["sent"]}}, {"node": {"log": ["node"]}}], result)]
    assert ours == [([{"node": {"log": ["node"]}}, {"sent": {"log": ["sent"]}}], result)]


def test_a_message_whose_id_is_empty_is_given_one():
    """In LangGraph each takes the place of the one before."""
    said = [{"role": "user", "content": words, "id": ""} for words in ("Pay it", "But hurry")]

    def program(lib):
        yield [message.text for message in lib.add_messages([], said)]

    theirs, ours = both(program, is_async=False)
    assert theirs == [["But hurry"]]
    assert ours == [["Pay it", "But hurry"]]


@WAYS
def test_another_answer_to_a_question_that_has_one_is_refused(is_async):
    """LangGraph takes it, and goes on with the first one."""

    def program(lib):
        broken = [Boom("not today")]

        def ask(state):
            answer = lib.interrupt("sure?")
            if broken:
                raise broken.pop()
            return {"log": [answer]}

        app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
        app.invoke({"log": []}, thread())
        app.invoke(lib.Command(resume="yes"), thread(), fails=True)
        yield app.invoke(lib.Command(resume="no"), thread(), fails="maybe")
        yield app.invoke(None, thread())

    theirs, ours = both(program, is_async)
    assert theirs == [{"log": ["yes"]}] * 2
    assert ours == ["fails: RuntimeError", {"log": ["yes"]}]  # AlreadyAnswered


def test_a_message_that_a_node_streams():
    """In LangGraph it is not there."""

    def program(lib):
        model = GenericFakeChatModel(messages=iter([AIMessage("Dear Ana")]))

        def write(state):
            return {"messages": [reduce(operator.add, model.stream("Write!"))]}

        run = lib.app(lib.graph(lib.MessagesState, write, edges="START>write")).followed({"messages": []})
        yield [[*message.text] for message in run.messages]

    theirs, ours = both(program, is_async=False)
    assert theirs == [[]]
    assert ours == [[["Dear", " ", "Ana"]]]


def test_a_message_whose_model_fails_says_so_at_once():
    """In LangGraph it ends with the run, by an error about the stream."""

    class Broken(GenericFakeChatModel):
        def _stream(self, *args, **kwargs):
            yield ChatGenerationChunk(message=AIMessageChunk("Dear"))
            raise Boom("no words left")

    def program(lib):
        def write(state):
            try:
                Broken(messages=iter([])).invoke("Write!")
            except Boom:
                return {"messages": [HumanMessage("Ask Ana.", id="1")]}

        run = lib.app(lib.graph(lib.MessagesState, write, edges="START>write")).followed({"messages": []})
        message = next(messages := iter(run.messages))
        try:
            yield message.output
        except RuntimeError as error:
            yield str(error).split(":")[0]
        yield [str(later.text) for later in messages]

    theirs, ours = both(program, is_async=False)
    assert theirs == ["Stream finished without producing a message", ["Ask Ana."]]
    assert ours == ["The model did not write this message to its end", ["Ask Ana."]]


def test_a_nested_graph_cannot_be_aborted_alone():
    """In LangGraph it works on, and nothing more of it is shown."""

    def program(lib):
        inner = lib.graph(Log, a, b, edges="START>a>b>END").compile(name="inner")
        run = lib.app(lib.graph(Log, edges="START>inner>END", inner=inner)).followed({"log": []})
        nested = next(iter(run.subgraphs))
        try:
            nested.abort()
        except SignoffError as error:
            yield type(error).__name__
        yield list(nested.values), run.output

    theirs, ours = both(program, is_async=False)
    assert theirs == [([], {"log": ["a", "b"]})]
    assert ours == ["StreamMisused", ([{"log": ["a"]}, {"log": ["a", "b"]}], {"log": ["a", "b"]})]


def test_each_run_of_a_nested_graph_that_remembers_ends_with_its_task():
    """In LangGraph all of them are one, which has "completed" in the end."""

    def program(lib):
        inner = lib.graph(Log, a, edges="START>a>END").compile(checkpointer=True)
        graph = lib.graph(Log, edges="START>inner", inner=inner)
        graph.add_conditional_edges("inner", lambda state: "inner" if len(state["log"]) < 3 else lib.END)
        run = lib.saved(graph).followed({"log": []}, thread())
        yield [(nested.output, nested.status) for nested in run.subgraphs]

    theirs, ours = both(program, is_async=False)
    assert theirs == [[({"log": ["a", "a", "a"]}, "completed")]]
    assert ours == [[({"log": ["a"]}, "completed"), ({"log": ["a", "a", "a"]}, "completed")]]


@WAYS
def test_nothing_more_of_a_step_begins_after_one_of_its_tasks_has_failed(is_async):
    """LangGraph may begin one more: that depends on who is quicker."""

    def program(lib):
        ran = []

        def fail(state):
            ran.append("fail")
            raise Boom("no")

        def work(state):
            ran.append("work")

        app = lib.saved(lib.graph(Log, fail, work, edges="START>fail>END, START>work>END"))
        app.invoke({"log": []}, {**thread(), "max_concurrency": 1}, fails=True)
        yield ran

    theirs, ours = both(program, is_async)
    assert theirs in ([["fail", "work"]], [["fail"]])
    assert ours == [["fail"]]


@WAYS
def test_a_call_that_is_made_again_by_a_task_that_is_tried_again_has_its_id(is_async):
    """LangGraph shows another call; the first never came to an end there."""

    def program(lib):
        failures = iter([Boom("no")])

        @lib.task
        def look_up(number):
            for failure in failures:
                raise failure
            return number

        def price(number):
            return look_up(number).result()

        policy = lib.RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Boom)
        again = lib.task(retry_policy=policy)(price)
        events = lib.flow(lambda number: again(number).result()).stream(7, thread(), mode="tasks")
        yield len({event["id"] for event in events if event["name"] == "look_up"})

    theirs, ours = both(program, is_async)
    assert (theirs, ours) == ([2], [1])


@WAYS
def test_a_task_that_has_failed_and_asks_by_now_is_shown_with_its_question(is_async):
    """LangGraph shows the error of before."""

    def program(lib):
        failures = iter([Boom("no")])

        def pay(amount):
            for failure in failures:
                raise failure
            return lib.interrupt(amount)

        app = lib.flow(pay, checkpointer=lib.saver())
        app.invoke(7, thread(), fails=True)
        app.invoke(None, thread())
        first, *_ = app.stream(lib.Command(resume="yes"), thread(), mode="checkpoints")
        shown = first["tasks"][0]
        yield "error" in shown, [question["value"] for question in shown.get("interrupts", ())]

    theirs, ours = both(program, is_async)
    assert (theirs, ours) == ([(True, [])], [(False, [7])])


@WAYS
def test_the_conditional_edges_of_a_cached_node_are_asked_each_time(is_async):
    """LangGraph follows them where they led when the node was cached."""

    def program(lib):
        asked = []

        def route(state):
            asked.append(state["count"])
            return "a" if state["count"] < 100 else "b"

        graph = lib.graph(Counted, a, b, edges="a>END, b>END")
        graph.add_node(
            "work", lambda state: {"log": ["work"]}, cache_policy=lib.CachePolicy(key_func=lambda state: "key")
        )
        graph.add_edge(lib.START, "work")
        app = lib.app(graph.add_conditional_edges("work", route), cache=lib.InMemoryCache())
        yield [app.invoke({"log": [], "count": count})["log"] for count in (5, 900)]
        yield asked

    theirs, ours = both(program, is_async)
    assert theirs == [[["work", "a"], ["work", "a"]], [5]]
    assert ours == [[["work", "a"], ["work", "b"]], [5, 900]]


def test_a_send_cannot_give_a_sync_node_a_timeout():
    """LangGraph says that the node is too slow, while its thread works on; another try runs beside it."""

    def program(lib):
        graph = lib.StateGraph(Log).add_node("a", a)
        graph.add_conditional_edges(lib.START, lambda state: [lib.Send("a", state, timeout=60)], ["a"])
        yield lib.app(graph).invoke({"log": []}, fails="maybe")

    theirs, ours = both(program, is_async=True)
    assert theirs == [{"log": ["a"]}]
    assert ours[0].startswith("fails")


def test_a_conditional_edge_of_an_async_run_is_called_on_the_event_loop():
    """LangGraph calls it in a thread."""

    def program(lib):
        def route(state):
            return lib.END if threading.current_thread() is threading.main_thread() else "b"

        graph = lib.graph(Log, a, b, edges="START>a, b>END")
        yield lib.app(graph.add_conditional_edges("a", route, ["b", lib.END])).invoke({"log": []})

    assert both(program, is_async=True) == ([{"log": ["a", "b"]}], [{"log": ["a"]}])


@WAYS
def test_what_is_bound_to_the_model_of_an_agent_stays_bound_beside_its_tools(is_async):
    """LangGraph tells the model inside of its tools, and leaves out what was bound to it."""

    class Hearing(ScriptedModel):
        def _generate(self, messages, stop=None, *args, **options):
            return ChatResult(generations=[ChatGeneration(message=AIMessage(f"until {stop}"))])

    @tool
    def look() -> str:
        """Look."""
        return "nothing"

    def program(lib):
        app = agent(lib, Hearing().bind(stop=["END"]), [look])
        yield app.invoke({"messages": [("user", "hi")]})["messages"][-1].text

    assert both(program, is_async) == (["until None"], ["until ['END']"])


@WAYS
def test_what_a_tool_changes_in_its_arguments_is_not_in_the_message_of_the_model(is_async):
    """LangGraph hands the tool what is in the message."""

    @tool
    def sort(pages: Any) -> str:
        """Sort pages."""
        pages.append("cover")
        return "sorted"

    def program(lib):
        app = agent(lib, scripted(calls(call("sort", pages=[]))), [sort])
        yield app.invoke({"messages": [("user", "hi")]})["messages"][1].tool_calls[0]["args"]

    assert both(program, is_async) == ([{"pages": ["cover"]}], [{"pages": []}])


@WAYS
def test_the_note_on_an_error_that_leaves_a_node_is_one(is_async):
    """LangGraph adds one for each graph around, whenever the error is raised."""

    def program(lib):
        error = Boom("always the same")

        def fail(state):
            raise error

        inner = lib.graph(Log, fail, edges="START>fail").compile()
        app = lib.app(lib.graph(Log, edges="START>inner", inner=inner))
        app.invoke({"log": []}, fails=True)
        app.invoke({"log": []}, fails=True)
        yield len(error.__notes__)

    assert both(program, is_async) == ([4], [1])
