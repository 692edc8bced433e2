"""States: schemas of every kind, reducers, inputs, outputs, and what a node may return."""

import operator
from collections.abc import Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

from .harness import Programs, thread
from .states import Log, Plain, a, b, c

program = Programs()


@program
def a_plain_key_keeps_the_last_value(lib):
    def one(state: Plain):
        return {"x": state["x"] + 1}

    def two(state: Plain):
        return {"x": state["x"] * 10, "y": state["x"]}

    app = lib.app(lib.graph(Plain, one, two, edges="START>one>two>END"))
    yield app.invoke({"x": 1})
    yield app.invoke({"x": 1, "y": 5})


@program
def p49_keys_with_a_reducer_start_empty_and_plain_ones_are_absent(lib):
    seen = []

    class State(TypedDict):
        numbers: Annotated[int, operator.add]
        words: Annotated[str, operator.add]
        items: Annotated[list, operator.add]
        table: Annotated[dict, operator.or_]
        either: Annotated[set, operator.or_]
        plain: int

    def look(state: State):
        seen.append(dict(state))
        return {"numbers": 2, "words": "w", "items": [1], "table": {"k": 1}, "either": {1}}

    app = lib.app(lib.graph(State, look, edges="START>look>END"))
    yield app.invoke({"numbers": 1})
    yield app.invoke({"plain": 1})
    yield seen


@program
def p49_the_reducer_runs_for_the_input_too(lib):
    def shout(left, right):
        return (left or "") + right.upper()

    class State(TypedDict):
        text: Annotated[str, shout]

    app = lib.saved(lib.graph(State, lambda_node, edges="START>lambda_node>END"))
    yield app.invoke({"text": "a"}, thread())
    yield app.invoke({"text": "b"}, thread())


def lambda_node(state):
    return {"text": "node"}


@program
def a_reducer_of_a_type_that_cannot_be_built_starts_with_the_first_write(lib):
    seen = []

    class Version:
        def __init__(self, number: int) -> None:
            self.number = number

    class State(TypedDict):
        best: Annotated[Version, lambda left, right: max(left, right, key=lambda version: version.number)]
        maybe: Annotated[int | None, lambda left, right: (left or 0) + right]
        many: Annotated[Sequence[int], operator.add]

    def look(state: State):
        seen.append(sorted(state))
        return {"best": Version(3), "maybe": 1, "many": [1]}

    def again(state: State):
        seen.append(sorted(state))
        return {"best": Version(2), "maybe": 5, "many": [2]}

    app = lib.app(lib.graph(State, look, again, edges="START>look>again>END"))
    result = app.invoke({"many": [0]})
    yield result["best"].number, result["maybe"], result["many"]
    yield seen


@program
def a_reducer_with_the_same_key_in_two_parallel_nodes_folds_both(lib):
    app = lib.app(lib.graph(Log, b, a, c, edges="START>b>END, START>a>END, START>c>END"))
    yield app.invoke({"log": ["in"]})


@program
def p48_two_writes_in_one_step_to_a_plain_key_are_an_error(lib):
    def one(state: Plain):
        return {"x": 1}

    def two(state: Plain):
        return {"x": 2}

    app = lib.app(lib.graph(Plain, one, two, edges="START>one>END, START>two>END"))
    yield app.invoke({"x": 0}, fails=True)


@program
def p48_overwrite_replaces_instead_of_reducing(lib):
    def wipe(state: Log):
        return {"log": lib.Overwrite(["wiped"])}

    app = lib.app(lib.graph(Log, a, wipe, b, edges="START>a>wipe>b>END"))
    yield app.invoke({"log": ["in"]})
    yield app.stream({"log": ["in"]}, mode="updates")


@program
def p48_overwrite_as_json(lib):
    def wipe(state: Log):
        return {"log": {"__overwrite__": ["wiped"]}}

    app = lib.app(lib.graph(Log, a, wipe, b, edges="START>a>wipe>b>END"))
    yield app.invoke({"log": ["in"]})


@program
def p48_overwrite_beats_the_other_writes_of_its_step(lib):
    def wipe(state: Log):
        return {"log": lib.Overwrite(["wiped"])}

    def later(state: Log):
        return {"log": ["later"]}

    for edges in ("START>wipe>b>END, START>a>b", "START>wipe>b>END, START>later>b"):
        app = lib.app(lib.graph(Log, a, wipe, later, b, edges=f"{edges}, START>later"))
        yield app.invoke({"log": ["in"]})


@program
def p48_two_overwrites_in_one_step_are_an_error(lib):
    def one(state: Log):
        return {"log": lib.Overwrite(["one"])}

    def two(state: Log):
        return {"log": {"__overwrite__": ["two"]}}

    app = lib.app(lib.graph(Log, one, two, edges="START>one>END, START>two>END"))
    yield app.invoke({"log": ["in"]}, fails=True)


@program
def overwrite_in_the_input_and_in_an_update(lib):
    app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.invoke({"log": lib.Overwrite(["new"])}, thread())
    app.update_state(thread(), {"log": lib.Overwrite(["told"])}, as_node="a")
    yield app.get_state(thread()).values


@program
def p3_a_root_list_with_a_reducer(lib):
    def one(state):
        return ["one", len(state)]

    def two(state):
        return ["two", len(state)]

    app = lib.saved(lib.graph(Annotated[list, operator.add], one, two, edges="START>one>two>END"))
    yield app.invoke(["in"], thread())
    yield app.invoke(["again"], thread())
    yield app.stream(["x"], thread("2"), mode=["updates", "values"])
    yield app.get_state(thread())
    yield app.history(thread("2"))


@program
def a_root_value_without_a_reducer(lib):
    def one(state: str):
        return state + "1"

    def two(state: str):
        return state + "2"

    app = lib.app(lib.graph(str, one, two, edges="START>one>two>END"))
    yield app.invoke("in")
    yield app.stream("in", mode="updates")
    yield app.stream("in", mode="values")


@program
def a_node_that_returns_nothing(lib):
    def silent(state: Log):
        return None

    def empty(state: Log):
        return {}

    app = lib.app(lib.graph(Log, silent, empty, a, edges="START>silent>empty>a>END"))
    yield app.invoke({"log": ["in"]})
    yield app.stream({"log": ["in"]}, mode=["updates", "values"])


@program
def none_is_a_value_like_any_other(lib):
    seen = []

    def one(state: Plain):
        return {"x": None}

    def two(state: Plain):
        seen.append(dict(state))

    app = lib.saved(lib.graph(Plain, one, two, edges="START>one>two>END"))
    yield app.invoke({"x": 1, "y": None}, thread())
    yield seen


@program
def a_node_that_returns_something_else_is_refused(lib):
    for result in (5, "text", [1], [{"log": ["a"]}]):

        def odd(state: Log, result: Any = result):
            return result

        graph = lib.StateGraph(Log)
        graph.add_node("odd", odd)
        yield lib.app(lib.connect(graph, "START>odd>END")).invoke({"log": []}, fails=True)


@program
def p50_an_untracked_value_reaches_nodes_and_is_not_saved(lib):
    seen = []

    class State(Log):
        session: Annotated[Any, lib.UntrackedValue]

    def make(state: State):
        return {"session": {"open": True}, "log": ["make"]}

    def use(state: State):
        seen.append(dict(state))
        return {"log": ["use"]}

    app = lib.saved(lib.graph(State, make, use, edges="START>make>use>END"))
    yield app.invoke({"log": []}, thread())
    yield app.get_state(thread()).values
    yield [snapshot.values for snapshot in app.history(thread())]
    yield app.invoke({"log": ["turn"]}, thread())
    yield seen


@program
def p50_an_untracked_value_travels_through_send(lib):
    seen = []

    class State(Log):
        session: Annotated[Any, lib.UntrackedValue]

    def plan(state: State):
        return {"session": {"open": True}}

    def fan(state: State):
        return [lib.Send("work", {"session": state["session"], "nested": {"session": n}}) for n in (1, 2)]

    def work(state):
        seen.append(state)
        return {"log": [str(state["nested"]["session"])]}

    graph = lib.graph(State, plan, work, edges="START>plan, work>END")
    graph.add_conditional_edges("plan", fan)
    app = lib.saved(graph)
    yield app.invoke({"log": []}, thread())
    yield sorted(seen, key=str)
    yield app.get_state(thread()).values


@program
def how_long_a_value_lasts_and_how_many_may_write_it_is_up_to_its_channel(lib):
    strict = [lib.EphemeralValue(int), lib.UntrackedValue(int)]
    others = [lib.EphemeralValue(int, guard=False), lib.UntrackedValue(int, guard=False), lib.AnyValue(int)]
    for channel in (*strict, *others, lib.Topic(int), lib.Topic(int, True)):
        for writers in ("START>plan", "START>plan, START>beside"):
            seen = []

            class State(Log):
                value: Annotated[Any, channel]

            def write(state: State):
                return {"value": 3}

            def read(state: State, seen: Any = seen):
                seen.append(state.get("value", "nothing"))
                return {"log": ["read"]}

            graph = lib.graph(State, plan=write, beside=write, one=read, two=read, edges=f"plan>one>two>END, {writers}")
            fails = channel in strict and "beside" in writers
            yield lib.app(graph).invoke({"log": [], "value": 1}, fails=fails)
            yield seen


@program
def an_ephemeral_value_lasts_one_step(lib):
    seen = []

    class State(Log):
        once: Annotated[int, lib.EphemeralValue]

    def one(state: State):
        seen.append(dict(state))
        return {"once": 1, "log": ["one"]}

    def two(state: State):
        seen.append(dict(state))
        return {"log": ["two"]}

    def three(state: State):
        seen.append(dict(state))
        return {"log": ["three"]}

    app = lib.app(lib.graph(State, one, two, three, edges="START>one>two>three>END"))
    yield app.invoke({"log": [], "once": 0})
    yield seen


@program
def remaining_steps_and_the_last_step(lib):
    seen = []

    class State(TypedDict):
        count: int
        left: lib.RemainingSteps
        last: lib.IsLastStep

    def step(state: State):
        seen.append(dict(state))
        return {"count": state["count"] + 1}

    def route(state: State):
        return lib.END if state["last"] or state["left"] <= 1 else "step"

    graph = lib.graph(State, step, edges="START>step")
    graph.add_conditional_edges("step", route)
    yield lib.app(graph).invoke({"count": 0}, {"recursion_limit": 5})
    yield seen


@program
def p49_a_plain_string_becomes_a_message(lib):
    seen = []

    def answer(state: lib.MessagesState):
        seen.append([(message.type, message.content) for message in state["messages"]])
        return {"messages": [("ai", "hi")]}

    app = lib.app(lib.graph(lib.MessagesState, answer, edges="START>answer>END"))
    result = app.invoke({"messages": "hello"})
    yield [(message.type, message.content) for message in result["messages"]]
    yield seen


@program
def a_reducer_that_fails_fails_the_run(lib):
    def strict(left, right):
        raise ValueError("no")

    class State(TypedDict):
        x: Annotated[int, strict]

    def one(state: State):
        return {"x": 1}

    app = lib.saved(lib.graph(State, one, edges="START>one>END"))
    yield app.invoke({"x": 1}, thread(), fails=True)


@program
def a_state_without_a_saver_or_input_cannot_begin(lib):
    app = lib.app(lib.graph(Log, a, edges="START>a>END"))
    yield app.invoke(None, fails=True)
    yield lib.saved(lib.graph(Log, a, edges="START>a>END")).invoke(None, thread(), fails=True)


test_same = program.as_test()


class Rooted(TypedDict):
    __root__: Annotated[list, operator.add]
    x: int


@program
def a_key_called_root_beside_others_is_a_key_like_them(lib):
    for returned in ({"x": 5}, {"__root__": ["r"]}, lib.Command(update={"__root__": ["c"], "x": 7}), None):
        app = lib.saved(lib.connect(lib.StateGraph(Rooted).add_node("a", lambda state, it=returned: it), "START>a>END"))
        yield app.invoke({"x": 1, "__root__": ["i"]}, thread())
        yield app.get_state(thread()).values
        app.update_state(thread(), {"__root__": ["u"]})
        yield app.get_state(thread()).values
    yield app.invoke(["i"], thread(), fails=True)
