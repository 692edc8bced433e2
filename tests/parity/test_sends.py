"""Sends: tasks by value, their order, and what stands beside them."""

import operator
import threading
from typing import Annotated

from typing_extensions import TypedDict

from .harness import Boom, Programs, by_step, thread, unordered
from .states import Log, a, b, c

program = Programs()


class Words(TypedDict):
    words: list[str]
    done: Annotated[list[str], operator.add]


def upper(state):
    return {"done": [state["word"].upper()]}


def _fan_out(lib, **options):
    graph = lib.graph(Words, upper, edges="upper>END")
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("upper", {"word": w}) for w in state["words"]])
    return graph


@program
def p45_sends_fold_in_the_order_of_emission(lib):
    app = lib.app(_fan_out(lib))
    yield app.invoke({"words": ["c", "a", "b"]})
    yield by_step(app.stream({"words": ["c", "a", "b"]}, mode=["updates", "values"]))


@program
def no_sends_at_all_end_the_run(lib):
    yield lib.app(_fan_out(lib)).invoke({"words": []})


@program
def p45_a_hundred_sends_under_max_concurrency(lib):
    running, most, lock = [], [], threading.Lock()

    def work(state):
        with lock:
            running.append(1)
            most.append(len(running))
        with lock:
            running.pop()
        return {"done": [str(state["n"])]}

    graph = lib.graph(Words, work, edges="work>END")
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", {"n": n}) for n in range(100)])
    yield lib.app(graph).invoke({"words": []}, {"max_concurrency": 10})
    yield max(most) <= 10


@program
def p45_edge_tasks_fold_before_sends_and_show_after_them(lib):
    def fan(state):
        return ["c", lib.Send("work", {"n": 1}), lib.Send("work", {"n": 0})]

    def work(state):
        return {"log": [f"work {state['n']}"]}

    graph = lib.graph(Log, a, c, work, edges="START>a>z, c>END, work>END", z=b)
    graph.add_conditional_edges("a", fan)
    app = lib.saved(graph)
    yield app.invoke({"log": []}, thread())
    yield [
        (snapshot.next, [(task.name, task.path, task.result) for task in snapshot.tasks])
        for snapshot in app.history(thread())
    ]


@program
def p45_sends_of_several_nodes_come_in_the_order_of_the_nodes(lib):
    def fan_of(name):
        def fan(state):
            return [lib.Send("work", {"from": name, "n": n}) for n in range(2)]

        return fan

    def work(state):
        return {"log": [f"{state['from']}{state['n']}"]}

    graph = lib.graph(Log, b, a, work, edges="START>b, START>a, work>END")
    graph.add_conditional_edges("b", fan_of("b"))
    graph.add_conditional_edges("a", fan_of("a"))
    yield lib.app(graph).invoke({"log": []})


@program
def p46_what_follows_several_sends_runs_once(lib):
    def work(state):
        return {"log": [f"work {state}"]}

    graph = lib.graph(Log, a, b, work, edges="START>a, work>b>END")
    graph.add_conditional_edges("a", lambda state: [lib.Send("work", n) for n in range(3)])
    yield lib.app(graph).invoke({"log": []})
    yield by_step(lib.app(graph).stream({"log": []}, mode=["updates", "values"]))


@program
def p46_a_conditional_edge_behind_sends(lib):
    def work(state):
        return {"log": [f"work {state['n']}"]}

    def route(state):
        return "b" if len(state["log"]) < 3 else "c"

    graph = lib.graph(Log, a, b, c, work, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", lambda state: [lib.Send("work", {"n": n, "log": ["x"] * n}) for n in range(3)])
    graph.add_conditional_edges("work", route)
    yield lib.app(graph).invoke({"log": []})


@program
def p47_an_edge_and_a_send_to_the_same_node_run_it_twice(lib):
    def work(state):
        return {"log": [f"work on {len(state['log'])}"]}

    graph = lib.graph(Log, a, work, edges="START>a>work>END")
    graph.add_conditional_edges("a", lambda state: [lib.Send("work", {"log": ["sent", "sent", "sent"]})])
    yield lib.app(graph).invoke({"log": []})
    yield by_step(lib.app(graph).stream({"log": []}, mode=["updates", "values"]))


@program
def sends_that_send_again(lib):
    def grow(state):
        return lib.Command(
            update={"log": [str(state["depth"])]},
            goto=[lib.Send("grow", {"depth": state["depth"] + 1})] * (2 if state["depth"] < 2 else 0),
        )

    graph = lib.graph(Log, grow, edges="grow>END")
    graph.add_conditional_edges(lib.START, lambda state: lib.Send("grow", {"depth": 0}))
    app = lib.saved(graph)
    yield app.invoke({"log": []}, thread())
    yield [(snapshot.next, snapshot.values) for snapshot in app.history(thread())]


@program
def a_sent_argument_of_any_kind(lib):
    seen = []

    def work(state):
        seen.append(state)

    graph = lib.graph(Log, work, edges="work>END")
    args = [1, "text", None, [1, 2], {"k": "v"}, ("t",), 1.5, True]
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", arg) for arg in args])
    app = lib.saved(graph)
    yield app.invoke({"log": ["in"]}, thread())
    yield sorted(map(repr, seen))


@program
def a_send_to_a_node_with_a_dataclass_input(lib):
    from dataclasses import dataclass

    seen = []

    @dataclass
    class Job:
        n: int

    def work(job: Job):
        seen.append(type(job).__name__)
        return {"log": [f"job {job.n}" if isinstance(job, Job) else f"dict {job['n']}"]}

    graph = lib.graph(Log, work, edges="work>END")
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", Job(1)), lib.Send("work", {"n": 2})])
    yield lib.app(graph).invoke({"log": []})
    yield sorted(seen)


@program
def a_send_returned_by_a_node_through_a_command(lib):
    def plan(state: Log):
        return lib.Command(update={"log": ["plan"]}, goto=[lib.Send("work", n) for n in (2, 1)])

    def work(state):
        return {"log": [f"work {state}"]}

    app = lib.app(lib.graph(Log, plan, work, edges="START>plan, work>END"))
    yield app.invoke({"log": []})
    yield by_step(app.stream({"log": []}, mode=["updates", "values"]))


@program
def p19_a_failed_send_does_not_undo_its_siblings(lib):
    calls, broken = [], [True]

    def work(state):
        calls.append(state["n"])
        if state["n"] == 1 and broken:
            raise Boom("one")
        return {"log": [f"work {state['n']}"]}

    gate = threading.Barrier(3)

    def gated(state):
        if broken:
            gate.wait(5)
        return work(state)

    graph = lib.graph(Log, edges="work>END", work=gated)
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", {"n": n}) for n in range(3)])
    app = lib.saved(graph)
    yield app.invoke({"log": ["in"]}, thread(), fails=True)
    broken.clear()
    yield app.invoke(None, thread())
    yield calls.count(1)


@program
def the_path_of_a_sent_task_in_a_snapshot(lib):
    def plan(state: Log):
        return lib.Command(goto=[lib.Send("work", n) for n in (2, 1)])

    def work(state):
        return {"log": [f"work {state}"]}

    app = lib.saved(lib.graph(Log, plan, work, edges="START>plan, work>END"), interrupt_before=["work"])
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def sends_and_their_tasks_in_the_tasks_stream(lib):
    def work(state):
        return {"log": [f"work {state['n']}"]}

    graph = lib.graph(Log, a, work, edges="START>a, work>END")
    graph.add_conditional_edges("a", lambda state: [lib.Send("work", {"n": n}) for n in range(2)])
    chunks = lib.app(graph).stream({"log": []}, mode="tasks")
    yield unordered({**chunk, "id": ""} for chunk in chunks)


test_same = program.as_test()
