"""Pauses: asking and answering, several questions, breakpoints. What design promises beyond is not compared here."""

import operator
from typing import Annotated

from typing_extensions import TypedDict

from .harness import Boom, Programs, thread, unordered
from .states import Counted, Log, a, b, c

program = Programs()


def _asking(lib, question="sure?"):
    def ask(state):
        return {"log": [f"answer: {lib.interrupt(question)}"]}

    return ask


def _chain(lib):
    return lib.graph(Log, a, b, edges="START>a>ask>b>END", ask=_asking(lib))


@program
def p3_invoke_returns_the_question(lib):
    app = lib.saved(_chain(lib))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield app.history(thread())


@program
def p3_a_question_in_the_streams(lib):
    app = lib.saved(_chain(lib))
    yield app.stream({"log": ["in"]}, thread(), mode="updates")
    yield app.stream(lib.Command(resume="yes"), thread(), mode="updates")
    yield app.stream({"log": ["in"]}, thread("2"), mode="values")
    yield app.stream(lib.Command(resume="yes"), thread("2"), mode="values")


@program
def p14_a_question_in_several_modes(lib):
    app = lib.saved(_chain(lib))
    yield app.stream({"log": ["in"]}, thread(), mode=["values", "updates"])
    yield app.stream(lib.Command(resume="yes"), thread(), mode=["values", "updates"])


@program
def a_question_in_the_tasks_stream(lib):
    app = lib.saved(_chain(lib))
    chunks = app.stream({"log": ["in"]}, thread(), mode="tasks")
    yield [{**chunk, "triggers": ""} for chunk in chunks]


@program
def p3_a_question_of_a_root_state(lib):
    def ask(state):
        return [lib.interrupt("sure?")]

    app = lib.saved(lib.graph(Annotated[list, operator.add], ask, edges="START>ask>END"))
    yield app.invoke(["in"], thread())
    yield app.stream(["in"], thread("2"), mode="values")
    yield app.invoke(lib.Command(resume="yes"), thread())


@program
def p4_a_question_without_a_saver(lib):
    app = lib.app(_chain(lib))
    yield app.invoke({"log": ["in"]})
    yield app.stream({"log": ["in"]}, mode=["values", "updates"])


@program
def p1_a_node_starts_again_from_its_first_line(lib):
    calls = []

    def ask(state):
        calls.append("before")
        answer = lib.interrupt("sure?")
        calls.append("after")
        return {"log": [answer]}

    app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p1_two_questions_in_one_node(lib):
    def ask(state):
        first = lib.interrupt("first?")
        second = lib.interrupt({"second": first})
        return {"log": [first, second]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
    yield _values(app.invoke({"log": []}, thread()))
    yield _values(app.invoke(lib.Command(resume="one"), thread()))
    yield app.get_state(thread()).values
    yield app.invoke(lib.Command(resume="two"), thread())


def _values(result):
    """A result with its questions by value."""
    questions = [question.value for question in result.pop("__interrupt__", ())]
    return result, questions


@program
def p1_a_loop_that_asks_until_the_answer_is_valid(lib):
    def ask(state):
        question = "age?"
        while True:
            answer = lib.interrupt(question)
            if answer.isdigit():
                return {"count": int(answer)}
            question = f"{answer!r} is no age. age?"

    app = lib.saved(lib.graph(Counted, ask, edges="START>ask>END"))
    yield _values(app.invoke({"log": []}, thread()))
    for answer in ("old", "older", "41"):
        yield _values(app.invoke(lib.Command(resume=answer), thread()))


@program
def p2_nothing_of_an_unfinished_node_shows(lib):
    def ask(state):
        return {"log": [lib.interrupt("first?"), lib.interrupt("second?")]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
    app.invoke({"log": []}, thread())
    app.invoke(lib.Command(resume="one"), thread())
    yield app.get_state(thread()).values
    app.invoke(lib.Command(resume="two"), thread())
    yield app.get_state(thread()).values


@program
def p6_a_question_does_not_stop_the_siblings(lib):
    calls = []

    def work(state):
        calls.append("work")
        return {"log": ["work"]}

    app = lib.saved(lib.graph(Log, work, b, edges="START>work>b>END, START>ask>b", ask=_asking(lib)))
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p7_a_finished_sibling_is_streamed_again_as_cached(lib):
    app = lib.saved(lib.graph(Log, a, b, edges="START>a>b>END, START>ask>b", ask=_asking(lib)))
    yield unordered(app.stream({"log": []}, thread(), mode="updates"))
    yield app.stream(lib.Command(resume="yes"), thread(), mode=["updates", "values"])


@program
def p8_running_with_nothing_asks_again(lib):
    calls = []

    def work(state):
        calls.append("work")
        return {"log": ["work"]}

    app = lib.saved(lib.graph(Log, work, edges="START>work>END, START>ask>END", ask=_asking(lib)))
    yield app.invoke({"log": []}, thread())
    yield app.invoke(None, thread())
    yield calls
    yield app.invoke(lib.Command(resume="yes"), thread())


@program
def p9_a_bare_answer_to_two_questions_is_refused(lib):
    graph = lib.graph(Log, edges="START>one>END, START>two>END", one=_asking(lib, "one?"), two=_asking(lib, "two?"))
    app = lib.saved(graph)
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread(), fails=True)


@program
def p9_answers_by_id(lib):
    graph = lib.graph(Log, edges="START>one>END, START>two>END", one=_asking(lib, "one?"), two=_asking(lib, "two?"))
    app = lib.saved(graph)
    app.invoke({"log": []}, thread())
    ids = {question.value: question.id for question in app.get_state(thread()).interrupts}
    yield sorted(ids)
    yield app.invoke(lib.Command(resume={ids["two?"]: "second"}), thread())
    yield [question.value for question in app.get_state(thread()).interrupts]
    yield app.invoke(lib.Command(resume={ids["one?"]: "first"}), thread())


@program
def p9_which_questions_a_snapshot_shows(lib):
    """At the head those that are open; at a checkpoint of the history all that were asked there."""

    def shown(snapshot):
        tasks = [(task.name, task.result, [question.value for question in task.interrupts]) for task in snapshot.tasks]
        return snapshot.next, [question.value for question in snapshot.interrupts], tasks

    graph = lib.graph(Log, edges="START>one>END, START>two>END", one=_asking(lib, "one?"), two=_asking(lib, "two?"))
    app = lib.saved(graph)
    app.invoke({"log": []}, thread())
    ids = {question.value: question.id for question in app.get_state(thread()).interrupts}
    app.invoke(lib.Command(resume={ids["two?"]: "second"}), thread())
    head = app.get_state(thread())
    yield shown(head)
    yield shown(app.get_state(head.config))
    yield [shown(snapshot) for snapshot in app.history(thread())]
    app.invoke(lib.Command(resume={ids["one?"]: "first"}), thread())
    yield [shown(snapshot) for snapshot in app.history(thread())]


@program
def p9_a_dict_that_is_no_map_of_ids_is_an_answer(lib):
    def ask(state):
        return {"log": [str(lib.interrupt("sure?"))]}

    app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume={"data": "Hello"}), thread())


@program
def p10_all_questions_answered_at_once(lib):
    def ask(state):
        return {"log": [f"{state['n']}: {lib.interrupt(state['n'])}"]}

    graph = lib.graph(Log, ask, edges="ask>END")
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("ask", {"n": n}) for n in range(4)])
    app = lib.saved(graph)
    app.invoke({"log": []}, thread())
    ids = {question.value: question.id for question in app.get_state(thread()).interrupts}
    yield app.invoke(lib.Command(resume={ids[n]: f"answer {n}" for n in (2, 0, 3, 1)}), thread())


@program
def p11_the_id_is_the_same_in_the_stream_and_in_the_snapshot(lib):
    app = lib.saved(_chain(lib))
    chunks = app.stream({"log": []}, thread(), mode="updates")
    (shown,) = chunks[-1]["__interrupt__"]
    (kept,) = app.get_state(thread()).interrupts
    (task,) = app.get_state(thread()).tasks
    yield shown.id == kept.id == task.interrupts[0].id
    yield len(shown.id)


@program
def p12_parallel_questions_are_separate_chunks(lib):
    graph = lib.graph(Log, edges="START>one>END, START>two>END", one=_asking(lib, "one?"), two=_asking(lib, "two?"))
    chunks = lib.saved(graph).stream({"log": []}, thread(), mode="updates")
    yield len(chunks)
    yield unordered([question.value for question in chunk["__interrupt__"]] for chunk in chunks)


@program
def p13_an_answer_may_carry_an_update(lib):
    def ask(state):
        answer = lib.interrupt("sure?")
        return {"log": [f"{answer} {state['log']}"]}

    app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
    app.invoke({"log": ["in"]}, thread())
    command = lib.Command(resume="yes", update={"log": ["told"]})
    yield app.stream(command, thread(), mode=["values", "updates"])


@program
def an_answer_may_carry_a_goto(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>ask>b>END, c>END", ask=_asking(lib)))
    app.invoke({"log": ["in"]}, thread())
    yield app.invoke(lib.Command(resume="yes", goto="c"), thread())


@program
def p5_a_question_is_not_retried(lib):
    calls = []

    def ask(state):
        calls.append(1)
        return {"log": [lib.interrupt("sure?")]}

    graph = lib.StateGraph(Log)
    graph.add_node("ask", ask, retry_policy=lib.RetryPolicy(initial_interval=0.001, retry_on=lambda error: True))
    app = lib.saved(lib.connect(graph, "START>ask>END"))
    app.invoke({"log": []}, thread())
    yield calls


@program
def p26_finished_sends_are_not_run_again(lib):
    calls = []

    def work(state):
        calls.append(state["n"])
        answer = lib.interrupt("?") if state["n"] == 1 else None
        return {"log": [f"{state['n']} {answer}"]}

    graph = lib.graph(Log, work, b, edges="work>b>END")
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", {"n": n}) for n in range(3)])
    app = lib.saved(graph)
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield sorted(calls)


@program
def p26_a_node_that_returns_nothing_is_finished_too(lib):
    calls = []

    def silent(state):
        calls.append(1)

    app = lib.saved(lib.graph(Log, silent, edges="START>silent>END, START>ask>END", ask=_asking(lib)))
    app.invoke({"log": []}, thread())
    yield app.get_state(thread()).next
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p32_a_question_is_asked_again_on_replay(lib):
    app = lib.saved(_chain(lib))
    first = app.invoke({"log": ["in"]}, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    before = next(snapshot for snapshot in app.history(thread()) if snapshot.next == ("ask",))
    again = app.invoke(None, before.config)
    yield again
    yield first["__interrupt__"][0].id == again["__interrupt__"][0].id
    yield app.invoke(lib.Command(resume="no"), thread())
    yield [(snapshot.values, snapshot.next) for snapshot in app.history(thread())]


@program
def p32_a_question_is_asked_again_on_a_fork(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    before = next(snapshot for snapshot in app.history(thread()) if snapshot.next == ("ask",))
    fork = app.update_state(before.config, {"log": ["told"]})
    yield app.invoke(None, fork)
    yield app.invoke(lib.Command(resume="no"), thread())


@program
def p32_a_replay_from_before_the_question(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    before = next(snapshot for snapshot in app.history(thread()) if snapshot.next == ("a",))
    yield app.invoke(None, before.config)
    yield app.invoke(lib.Command(resume="no"), thread())


@program
def p33_an_answer_with_the_head_as_explicit_checkpoint(lib):
    calls = []

    def work(state):
        calls.append("work")
        return {"log": ["work"]}

    app = lib.saved(lib.graph(Log, work, edges="START>work>END, START>ask>END", ask=_asking(lib)))
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), app.get_state(thread()).config)
    yield calls


@program
def a_failure_after_the_answer_keeps_the_answer(lib):
    broken = [True]

    def ask(state):
        answer = lib.interrupt("sure?")
        if broken:
            raise Boom("broken")
        return {"log": [answer]}

    app = lib.saved(lib.graph(Log, ask, edges="START>ask>END"))
    app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread(), fails=True)
    broken.clear()
    yield app.invoke(None, thread())


@program
def p18_an_update_as_the_end_takes_the_question_back(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None, as_node=lib.END)
    yield app.get_state(thread())
    yield app.invoke({"log": ["again"]}, thread())


@program
def an_update_as_the_asking_node_answers_for_it(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["told"]}, as_node="ask")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p15_a_node_before_a_cycle_of_questions(lib):
    class State(Log):
        rounds: int

    def ask(state):
        return {"log": [lib.interrupt(f"round {state['rounds']}")], "rounds": state["rounds"] + 1}

    graph = lib.graph(State, a, ask, edges="START>a>ask")
    graph.add_conditional_edges("ask", lambda state: "ask" if state["rounds"] < 3 else lib.END)
    app = lib.saved(graph)
    yield _values(app.invoke({"log": [], "rounds": 0}, thread()))
    for answer in ("x", "y", "z"):
        yield _values(app.invoke(lib.Command(resume=answer), thread()))
        yield [question.value for question in app.get_state(thread()).interrupts]


@program.only_async
def p1_an_async_node_asks(lib):
    async def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread())


@program
def a_question_with_a_pydantic_state(lib):
    from pydantic import BaseModel

    class State(BaseModel):
        x: int
        answer: str = ""

    def ask(state: State):
        return {"answer": lib.interrupt({"x": state.x})}

    app = lib.saved(lib.graph(State, ask, edges="START>ask>END"))
    yield app.invoke({"x": 1}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread())


@program
def a_question_of_any_kind(lib):
    class State(TypedDict):
        seen: Annotated[list, operator.add]

    payloads = [None, 0, "text", ["a", 1], {"k": {"n": 2}}, True]

    def ask(state: State):
        return {"seen": [lib.interrupt(payloads[len(state["seen"])])]}

    graph = lib.graph(State, ask, edges="START>ask")
    graph.add_conditional_edges("ask", lambda state: "ask" if len(state["seen"]) < len(payloads) else lib.END)
    app = lib.saved(graph)
    yield _values(app.invoke({"seen": []}, thread()))
    for payload in payloads[1:]:
        yield _values(app.invoke(lib.Command(resume={"about": payload}), thread()))


@program
def p3_a_run_that_is_printed_returns_the_same(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>ask>END"))
    yield app.invoke({"log": []}, thread(), debug=True)
    yield app.invoke(None, thread(), print_mode="updates")
    yield app.invoke(lib.Command(resume="yes"), thread(), debug=True)


test_same = program.as_test()
