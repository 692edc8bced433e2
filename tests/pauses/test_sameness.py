"""Promise 11: same program, same result, on every saver, sync and async, in one process or in many."""

import pytest

from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .conftest import opener
from .desk import Desk, Process
from .programs import NEW, Log, Works, asking, beside, line
from .ways import WAYS


def a_line(works):
    return line(a=works.node("a"), ask=works.asking("ask"), b=works.node("b"))


def branches(works):
    graph = beside(one=works.asking("one"), two=works.asking("two"), work=works.node("work"))
    return graph.add_node("last", works.node("last")).add_edge(["one", "two", "work"], "last")


def sends(works):
    graph = StateGraph(Log).add_node("each", lambda n: {"log": [f"{n}: {interrupt(n)}"]})
    return graph.add_conditional_edges(START, lambda state: [Send("each", n) for n in range(3)], ["each"])


def nested(works):
    inner = line(first=works.node("first"), ask=asking("deep", update={"log": ["told"]})).compile()
    return line(before=works.node("before"), inner=inner, after=works.node("after"))


def several_and_calls(works):
    @task
    def fetch(name):
        return works.node(name)(None)["log"][0]

    def ask(state):
        name = interrupt("name?", key="name")
        return {"log": [fetch("x").result(), name, interrupt("age?", response_schema=int)]}

    return beside(ask=ask)


def an_entrypoint(works):
    @task
    def confirm(number):
        return f"{number}: {interrupt(number)}"

    def program(saver):
        @entrypoint(checkpointer=saver)
        def flow(state):
            return {"log": [future.result() for future in [confirm(number) for number in range(3)]]}

        return flow

    return program


PROGRAMS = [a_line, branches, sends, nested, several_and_calls, an_entrypoint]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_is_the_same_in_every_way(tmp_path, program):
    seen = {}
    for way in WAYS:
        folder = tmp_path / way
        folder.mkdir()
        seen[way] = story(opener(folder, way), program)
    assert len(seen["memory-sync"]) > 3
    assert {way: told for way, told in seen.items() if told != seen["memory-sync"]} == {}


def story(open_app, program):
    """What a caller sees who answers the last question first, until the end; then the history."""
    works = Works()
    app = open_app(program(works))
    seen = [shown(app.stream(NEW, stream_mode="values"))]
    while app.get_state().interrupts:
        seen.append(snapshot(app.get_state()))
        question = app.get_state().interrupts[-1]
        answer = 41 if question.response_schema else f"to {question.value}"
        seen.append(shown(app.stream(Command(resume={question.id: answer}), stream_mode="values")))
    return [*seen, *map(snapshot, app.history()), works.done]


def shown(chunks):
    """Chunks with their questions by value: ids are those of their thread."""
    return [
        {name: asked(value) if name == "__interrupt__" else value for name, value in chunk.items()} if chunk else chunk
        for chunk in chunks
    ]


def asked(questions):
    return sorted(str(question.value) for question in questions)


def snapshot(state):
    metadata = {name: value for name, value in state.metadata.items() if name != "questions"}
    questions = [(question.value, question.key, question.response_schema) for question in state.interrupts]
    return state.values, sorted(state.next), metadata, sorted(questions, key=str)


def test_a_program_is_the_same_in_one_process_and_in_many(tmp_path):
    folders = [tmp_path / name for name in ("one", "many")]
    for folder in folders:
        folder.mkdir()
    orders = [{"thread": "1", "input": {"log": []}}, {"thread": "1"}, {"thread": "1", "answer": "yes"}]
    told = [[Desk(str(folders[0])).run(order) for order in orders], []]
    for order in orders:
        process = Process(folders[1]).tell(**order)
        told[1].append(process.hear())
        process.close()
    assert told[0] == told[1]
    assert sorted(Desk(str(folders[0])).done()) == sorted(Desk(str(folders[1])).done())
