"""Keys whose writes are merged at once, a step at a time: `Annotated[list, DeltaChannel(reducer)]`."""

import operator
from functools import reduce
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from .harness import Programs, thread

program = Programs()


def joined(value, writes):
    return reduce(operator.add, writes, value)


def updated(value, writes):
    return reduce(operator.or_, writes, value)


def state_of(lib):
    class State(TypedDict):
        log: Annotated[list, lib.DeltaChannel(joined)]
        files: Annotated[dict, lib.DeltaChannel(updated, snapshot_frequency=2)]

    return State


def one(state):
    return {"log": [1], "files": {"a": 1}}


def two(state):
    return {"log": [2], "files": {"b": 2}}


@program
def lists_and_dicts_over_several_turns(lib):
    app = lib.saved(lib.graph(state_of(lib), one, two, edges="START>one>two"))
    for turn in range(4):
        yield app.invoke({"log": [turn]}, thread())
    yield [snapshot.values for snapshot in app.history(thread())]


@program
def writes_of_one_step_come_together_in_their_order(lib):
    seen = []

    def noting(value, writes):
        seen.append(len(writes))
        return joined(value, writes)

    class State(TypedDict):
        log: Annotated[list, lib.DeltaChannel(noting)]

    app = lib.app(lib.graph(State, edges="START>a, START>b, START>c", a=_log("a"), b=_log("b"), c=_log("c")))
    yield app.invoke({"log": ["in"]})
    yield seen[-1]


def _log(word):
    return lambda state: {"log": [word]}


@program
def overwritten_and_cleared(lib):
    def reset(state):
        return {"log": lib.Overwrite(["new"]), "files": lib.Overwrite(None)}

    app = lib.saved(lib.graph(state_of(lib), one, reset, two, edges="START>one>reset>two"))
    yield app.invoke({"log": [0]}, thread())
    app.update_state(thread(), {"log": lib.Overwrite([9])})
    yield app.get_state(thread()).values
    app.update_state(thread(), {"log": [10], "files": {"c": 3}})
    yield app.get_state(thread()).values


@program
def over_a_question(lib):
    def ask(state):
        return {"log": [lib.interrupt("what?")]}

    app = lib.saved(lib.graph(state_of(lib), one, ask, two, edges="START>one>ask>two"))
    yield app.invoke({"log": [0]}, thread())
    yield app.get_state(thread()).values
    yield app.invoke(lib.Command(resume="this"), thread())


@program
def messages_that_are_replaced_and_removed(lib):
    class State(TypedDict):
        messages: Annotated[list, lib.DeltaChannel(lib._messages_delta_reducer)]

    def reply(state):
        return {"messages": [AIMessage("hello", id="b")]}

    def correct(state):
        return {"messages": [HumanMessage("hi!", id="a"), RemoveMessage("b"), RemoveMessage("unknown")]}

    app = lib.saved(lib.graph(State, reply, correct, edges="START>reply>correct"))
    given = [("user", "hi", "a")]
    result = app.invoke({"messages": [HumanMessage(text, id=id) for _, text, id in given]}, thread())
    yield [(message.type, message.content, message.id) for message in result["messages"]]


@program
def messages_that_are_overwritten_are_messages_with_ids(lib):
    class State(TypedDict):
        messages: Annotated[list, lib.DeltaChannel(lib._messages_delta_reducer)]

    def begin_anew(state):
        return {"messages": lib.Overwrite([HumanMessage("one"), ("user", "two"), {"role": "user", "content": "three"}])}

    app = lib.saved(lib.graph(State, begin_anew, edges="START>begin_anew"))
    app.invoke({"messages": [HumanMessage("hi")]}, thread())
    kept = app.get_state(thread()).values["messages"]
    yield [(message.type, message.content, message.id is None) for message in kept]
    app.update_state(thread(), {"messages": [RemoveMessage(kept[0].id)]})
    yield [message.content for message in app.get_state(thread()).values["messages"]]


@program
def refused_frequencies(lib):
    for wrong in (0, -1):
        try:
            lib.DeltaChannel(joined, snapshot_frequency=wrong)
            yield "taken"
        except ValueError:
            yield "refused"


test_same = program.as_test()
