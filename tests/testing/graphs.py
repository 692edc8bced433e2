"""Graphs of every shape, for the world to break. Each says what callers do with it, and what they answer."""

import asyncio
import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, TypedDict

from signoff.func import entrypoint, task
from signoff.graph import END, START, StateGraph
from signoff.steps import adrive, drive
from signoff.testing import GoOn, Input, Update, World, did
from signoff.testing.acts import Act
from signoff.types import Command, RetryPolicy, Send, interrupt


@dataclass(frozen=True)
class Program:
    """A graph, and what is done with it."""

    build: Callable[[Any], Any]
    script: Sequence[Act]
    answers: Any = None
    together: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def world(self, **settings: Any) -> World:
        return World(
            self.build,
            self.script,
            answers=self.answers or self.build.answers,
            answers_together=self.together,
            **{**self.options, **settings},
        )


PROGRAMS: dict[str, Program] = {}
EMPTY = {"log": []}


def program(*script: Act, answers: Any = None, **settings: Any) -> Any:
    """Make a function that builds a graph one of the programs."""

    def decorate(build: Any) -> Any:
        build.answers = answers or (lambda question: f"to {question.value}")
        PROGRAMS[build.__name__] = Program(build, script or [Input(EMPTY)], **settings)
        return build

    return decorate


class State(TypedDict):
    log: Annotated[list, operator.add]


def work(name: str) -> Any:
    """A node that does something once."""

    def node(state: Any) -> Any:
        did(name)
        return {"log": [name]}

    return node


def ask(*questions: str, **named: Any) -> Any:
    """A node that asks."""

    def node(state: Any) -> Any:
        answers = [interrupt(question, **named) for question in questions]
        did(f"after {questions[-1]}")
        return {"log": answers}

    return node


class Both:
    """A node written once for both drivers: a generator that yields futures."""

    def __init__(self, steps: Any) -> None:
        self.steps = steps
        self.__name__ = steps.__name__

    def invoke(self, input: Any, config: Any = None) -> Any:
        return drive(self.steps(input), lambda future: future.result())

    async def ainvoke(self, input: Any, config: Any = None) -> Any:
        return await adrive(self.steps(input), lambda future: future)


def graph(**nodes: Any) -> StateGraph:
    """A graph of these nodes, not connected yet."""
    made = StateGraph(State)
    for name, node in nodes.items():
        made.add_node(name, node)
    return made


def chain(made: StateGraph, *names: str) -> StateGraph:
    for start, end in zip([START, *names], [*names, END], strict=True):
        made.add_edge(start, end)
    return made


# Shapes


@program()
def linear(saver):
    return chain(graph(a=work("a"), b=work("b"), c=work("c")), "a", "b", "c").compile(saver)


@program(Input(EMPTY), Input({"log": ["more"]}))
def two_turns(saver):
    return chain(graph(a=work("a"), ask=ask("sure?")), "a", "ask").compile(saver)


@program()
def branches_and_a_join(saver):
    made = graph(a=work("a"), b=work("b"), c=work("c"), d=work("d"))
    made.add_edge(START, "a").add_edge("a", "b").add_edge("a", "c").add_edge(["b", "c"], "d")
    return made.compile(saver)


@program()
def uneven_branches(saver):
    made = graph(a=work("a"), b=work("b"), c=work("c"), d=work("d"))
    made.add_edge(START, "a").add_edge(START, "b").add_edge("b", "c").add_edge(["a", "c"], "d")
    return made.compile(saver)


@program()
def sends(saver):
    def each(item):
        did(item)
        return {"log": [item]}

    made = graph(each=each, last=work("last"))
    made.add_conditional_edges(START, lambda state: [Send("each", f"item {n}") for n in range(3)])
    return made.add_edge("each", "last").compile(saver)


@program()
def a_loop(saver):
    made = graph(again=lambda state: work(f"round {len(state['log'])}")(state))
    made.add_edge(START, "again")
    made.add_conditional_edges("again", lambda state: "again" if len(state["log"]) < 4 else END)
    return made.compile(saver)


# Questions


@program(answers={"name?": None, "age?": 0, "city?": ""})
def several_questions_in_one_node(saver):
    made = graph(before=work("before"), ask=ask("name?", "age?", "city?"), after=work("after"))
    return chain(made, "before", "ask", "after").compile(saver)


@program()
def a_question_beside_work(saver):
    made = graph(ask=ask("first?", "second?"), beside=work("beside"), after=work("after"))
    made.add_edge(START, "ask").add_edge(START, "beside").add_edge(["ask", "beside"], "after")
    return made.compile(saver)


@program()
def questions_in_branches(saver):
    made = graph(a=ask("a?"), b=ask("b?", "really?"), c=ask("c?"), after=work("after"))
    for name in "abc":
        made.add_edge(START, name)
    return made.add_edge(["a", "b", "c"], "after").compile(saver)


@program(together=True)
def questions_answered_together(saver):
    return questions_in_branches(saver)


@program()
def questions_in_sends(saver):
    def each(item):
        answer = interrupt(f"{item}?")
        did(f"{item} {answer}")
        return {"log": [answer]}

    made = graph(each=each, last=work("last"))
    made.add_conditional_edges(START, lambda state: [Send("each", f"item {n}") for n in range(3)])
    return made.add_edge("each", "last").compile(saver)


@program()
def questions_in_a_loop(saver):
    made = graph(ask=lambda state: ask(f"round {len(state['log'])}?")(state))
    made.add_edge(START, "ask")
    made.add_conditional_edges("ask", lambda state: "ask" if len(state["log"]) < 3 else END)
    return made.compile(saver)


@program(answers={"name": "Ana", "age": 33})
def questions_with_keys_and_forms(saver):
    def node(state):
        name = interrupt({"ask": "name"}, key="name", response_schema={"type": "string"})
        age = interrupt({"ask": "age", "of": name}, key="age", response_schema=int)
        did("after")
        return {"log": [name, age]}

    return chain(graph(node=node), "node").compile(saver)


@program()
def a_question_that_tells_the_state(saver):
    def node(state):
        answer = interrupt("pay?", update={"log": ["awaiting payment"]})
        did("paid")
        return {"log": [answer]}

    return chain(graph(before=work("before"), node=node, after=work("after")), "before", "node", "after").compile(saver)


@program(answers={"where?": Command(resume="there", update={"log": ["by the caller"]}, goto="aside")})
def a_command_beside_an_answer(saver):
    made = graph(ask=ask("where?"), aside=work("aside"), after=work("after"))
    made.add_edge(START, "ask").add_edge("ask", "after").add_edge("aside", END)
    return made.compile(saver)


@program()
def a_route_by_answer(saver):
    def choose(state):
        return Command(goto="yes" if interrupt("go?") else "no", update={"log": ["chosen"]})

    made = StateGraph(State).add_node("choose", choose, destinations=("yes", "no"))
    made.add_node("yes", work("yes")).add_node("no", work("no"))
    return made.add_edge(START, "choose").compile(saver)


class Sorted(TypedDict):
    log: Annotated[list, lambda old, new: sorted([*old, *new])]


@program(options={"same_history": False})
def branches_that_go_on(saver):
    made = StateGraph(Sorted)
    made.add_node("ask", ask("first?", "second?")).add_node("other", ask("other?"))
    made.add_node("a", work("a")).add_node("b", work("b")).add_node("after", work("after"))
    made.add_edge(START, "ask").add_edge(START, "a").add_edge("a", "b").add_edge("b", "other")
    return made.add_edge(["ask", "other"], "after").compile(saver, pause="branch")


# Nested graphs


def _nested(inner: StateGraph, last: str) -> StateGraph:
    return chain(graph(inner=inner.compile(), last=work(last)), "inner", "last")


@program()
def nested_three_deep(saver):
    deepest = chain(graph(first=work("first"), ask=ask("deep?", "deeper?")), "first", "ask")
    return _nested(_nested(deepest, "middle"), "outer").compile(saver)


@program()
def questions_in_nested_branches(saver):
    left = chain(graph(work=work("left"), ask=ask("left?")), "work", "ask").compile()
    right = chain(graph(ask=ask("right?"), work=work("right")), "ask", "work").compile()
    made = graph(left=left, right=right, after=work("after"))
    return made.add_edge(START, "left").add_edge(START, "right").add_edge(["left", "right"], "after").compile(saver)


@program(Input(EMPTY), Input({"log": ["more"]}))
def a_graph_that_remembers(saver):
    inner = chain(graph(ask=ask("remember?"), work=work("inner")), "ask", "work").compile(checkpointer=True)
    return chain(graph(inner=inner, after=work("after")), "inner", "after").compile(saver)


@program()
def a_graph_called_in_a_node(saver):
    inner = chain(graph(work=work("inner"), ask=ask("inner?")), "work", "ask").compile()

    class Calling:
        def invoke(self, state, config=None):
            return {"log": inner.invoke(EMPTY)["log"]}

        async def ainvoke(self, state, config=None):
            return {"log": (await inner.ainvoke(EMPTY))["log"]}

    return chain(graph(call=Calling(), after=work("after")), "call", "after").compile(saver)


# Tasks


@task
def double(number):
    did(f"double {number}")
    return number * 2


@task
def approved(name):
    answer = interrupt(f"{name}?")
    did(f"approved {name}")
    return answer


def results_of(futures):
    results = []
    for future in futures:
        result = yield future
        results.append(result)
    return results


@program(Input(1), Input(5))
def an_entrypoint(saver):
    @Both
    def flow(number):
        first = yield double(number)
        answer = interrupt(f"go on with {first}?")
        rest = [double(first + n) for n in range(3)]
        results = yield from results_of(rest)
        did("flow")
        return [answer, *results]

    return entrypoint(checkpointer=saver)(flow)


@program()
def tasks_in_a_node(saver):
    @Both
    def gather(state):
        results = yield from results_of([double(n) for n in range(3)])
        answer = interrupt("enough?")
        return {"log": [answer, *results, (yield double(10))]}

    return chain(graph(gather=gather, end=work("end")), "gather", "end").compile(saver)


@program(Input("trip"))
def nested_tasks_that_ask(saver):
    @Both
    def both_of(name):
        first, second = approved(f"{name} hotel"), double(3)
        return [(yield first), (yield second)]

    plan = task(name="plan")(both_of)

    @Both
    def flow(name):
        first, second = plan(f"first {name}"), plan(f"second {name}")
        return [(yield first), (yield second)]

    return entrypoint(checkpointer=saver)(flow)


@program(Input(1))
def calls_in_another_order(saver):
    passes = count()

    @Both
    def flow(number):
        turn = next(passes) % 3
        order = [1, 2, 3][turn:] + [1, 2, 3][:turn]
        doubled = yield from results_of([double(n) for n in order])
        answer = interrupt("go on?")
        did("flow")
        return [answer, dict(zip(order, doubled, strict=True)) == {1: 2, 2: 4, 3: 6}, (yield double(number))]

    return entrypoint(checkpointer=saver)(flow)


@task
def noted(name, at):
    did(name)
    return name


@program(Input(1))
def calls_at_another_time(saver):
    now = count()

    @Both
    def flow(number):
        first, *others = yield from results_of([noted(name, next(now)) for name in ("first", "second", "third")])
        fourth = yield noted("fourth", next(now))
        answer = interrupt("go on?")
        return [first, *others, fourth, answer, (yield noted("last", next(now)))]

    return entrypoint(checkpointer=saver)(flow)


class InAnotherOrder:
    """A node that has a graph look at two things, side by side, and in another order each time it runs."""

    def __init__(self) -> None:
        def look(state):
            did(f"looked at {state['log'][0]}")

        def asked(state):
            return {"log": [interrupt(f"{state['log'][0]}?")]}

        self.graph = chain(graph(look=look, asked=asked), "look", "asked").compile()
        self.passes = count()

    def _names(self) -> list[str]:
        return ["one", "two"] if next(self.passes) % 2 else ["two", "one"]

    def _noted(self, looked: list[Any]) -> Any:
        did("noted")
        return {"log": sorted(str(one["log"]) for one in looked)}

    def invoke(self, input: Any, config: Any = None) -> Any:
        with ThreadPoolExecutor(2) as threads:
            looked = [threads.submit(copy_context().run, self._look, name) for name in self._names()]
        return self._noted([one.result() for one in looked])

    def _look(self, name: str) -> Any:
        return self.graph.invoke({"log": [name]})

    async def ainvoke(self, input: Any, config: Any = None) -> Any:
        return self._noted(await asyncio.gather(*map(self._alook, self._names())))

    async def _alook(self, name: str) -> Any:
        return await self.graph.ainvoke({"log": [name]})


@program(options={"same_history": False})  # the order of the graphs decides on their namespaces
def graphs_in_another_order(saver):
    return chain(graph(before=work("before"), several=InAnotherOrder()), "before", "several").compile(saver)


# Failures


def failing(name: str, times: int) -> Any:
    """A node that fails some times, whoever runs it: a site that is down for a while."""

    def node(state: Any) -> Any:
        if did(f"tried {name}") <= times:
            raise ConnectionError(f"{name} is down")
        did(name)
        return {"log": [name]}

    return node


@program()
def a_node_that_is_tried_again(saver):
    made = graph(before=work("before"), beside=work("beside"), after=work("after"))
    made.add_node("site", failing("site", 2), retry_policy=RetryPolicy(max_attempts=3))
    made.add_edge(START, "before").add_edge("before", "site").add_edge("before", "beside")
    return made.add_edge(["site", "beside"], "after").compile(saver)


@program()
def a_failure_beside_work(saver):
    made = graph(site=failing("site", 1), beside=work("beside"), ask=ask("beside?"), after=work("after"))
    for name in ("site", "beside", "ask"):
        made.add_edge(START, name)
    return made.add_edge(["site", "beside", "ask"], "after").compile(saver)


@program()
def an_error_handler(saver):
    def broken(state):
        raise ConnectionError("always down")

    def handle(state, error):
        did("handled")
        return {"log": [f"handled {error.node}"]}

    made = graph(beside=work("beside"), after=work("after"))
    made.add_node("broken", broken, error_handler=handle)
    made.add_edge(START, "broken").add_edge(START, "beside").add_edge(["broken", "beside"], "after")
    return made.compile(saver)


def _handler_that_asks(made: StateGraph) -> StateGraph:
    def broken(state):
        raise ConnectionError("always down")

    def handle(state, error):
        answer = interrupt(f"{error.node} is {error.error}. Go on?")
        did("handled")
        return {"log": [answer]}

    made.add_node("broken", broken, error_handler=handle).add_node("a", work("a")).add_node("ask", ask("beside?"))
    return made.add_edge(START, "broken").add_edge(START, "a").add_edge("a", "ask")


@program()
def an_error_handler_that_asks(saver):
    return _handler_that_asks(StateGraph(State)).compile(saver)


@program(options={"same_history": False})
def an_error_handler_that_asks_in_a_branch(saver):
    return _handler_that_asks(StateGraph(Sorted)).compile(saver, pause="branch")


# Time travel, breakpoints, durability


def _asks(state: Any) -> bool:
    return "ask" in state.next


@program(Input(EMPTY), GoOn(at=_asks))
def a_second_branch(saver):
    return chain(graph(a=work("a"), ask=ask("sure?"), b=work("b")), "a", "ask", "b").compile(saver)


@program(Input(EMPTY), Update({"log": ["by a person"]}, as_node="a", at=_asks), Update({"log": ["later"]}))
def a_changed_past(saver):
    return a_second_branch(saver)


def _remembers_more(state):
    """Where the second turn is about to ask a graph that remembers."""
    return "inner" in state.next and state.values["log"][-1] == "more"


@program(Input(EMPTY), Input({"log": ["more"]}), GoOn(at=_remembers_more), Input({"log": ["last"]}))
def a_memory_on_a_second_branch(saver):
    return a_graph_that_remembers(saver)


@program(Input(EMPTY), Input({"log": ["more"]}), Update({"log": ["by a person"]}, as_node=START, at=_remembers_more))
def a_memory_on_a_changed_past(saver):
    return a_graph_that_remembers(saver)


@program(options={"interrupt_before": ["b"]})
def a_breakpoint(saver):
    made = chain(graph(a=work("a"), b=work("b"), c=work("c")), "a", "b", "c")
    return made.compile(saver, interrupt_after=["b"])


@program(options={"durability": "exit"})
def stored_on_exit(saver):
    return nested_three_deep(saver)


@program(options={"durability": "exit"})
def tasks_stored_on_exit(saver):
    return tasks_in_a_node(saver)


@program(options={"durability": "sync"})
def stored_step_by_step(saver):
    return a_question_beside_work(saver)


@program(options={"durability": "sync"})
def tasks_stored_step_by_step(saver):
    return an_entrypoint_of_one(saver)


def an_entrypoint_of_one(saver):
    @Both
    def flow(log):
        first = yield double(len(log))
        answer = yield approved("one")
        return {"log": [first, answer]}

    return entrypoint(checkpointer=saver)(flow)


@program(options={"durability": "exit", "same_history": False})
def branches_stored_on_exit(saver):
    return branches_that_go_on(saver)


@program(Input(EMPTY), Input({"log": ["more"]}), options={"durability": "exit"})
def memories_stored_on_exit(saver):
    return a_graph_that_remembers(saver)


@program(Input(EMPTY), Input({"log": ["more"]}), options={"durability": "exit"})
def memories_below_stored_on_exit(saver):
    inner = chain(graph(ask=ask("remember?"), work=work("inner")), "ask", "work").compile(checkpointer=True)
    middle = chain(graph(inner=inner, middle=work("middle")), "inner", "middle").compile()
    return chain(graph(outer=middle, after=work("after")), "outer", "after").compile(saver)


@program(options={"durability": "exit"})
def a_memory_used_twice_stored_on_exit(saver):
    def again(state):
        return "inner" if state["log"].count("after") < 2 else END

    inner = chain(graph(work=work("inner")), "work").compile(checkpointer=True)
    made = chain(graph(inner=inner, after=work("after")), "inner", "after")
    return made.add_conditional_edges("after", again, ["inner", END]).compile(saver)


@program(Input("trip"), options={"durability": "exit"})
def nested_tasks_stored_on_exit(saver):
    return nested_tasks_that_ask(saver)


@program(Input(EMPTY), GoOn(at=_asks), options={"durability": "exit"})
def a_second_branch_stored_on_exit(saver):
    return a_second_branch(saver)
