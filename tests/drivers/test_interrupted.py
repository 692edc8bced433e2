"""Ctrl-C, or a handler of SIGTERM that raises, in the very moment in which a task has ended: the run ends, too."""

import operator
import sys
from typing import Annotated, TypedDict

import pytest

from interrupting import Interrupted
from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list[str], operator.add]


def interrupted_behind(name, file):
    """Have a signal heard when a function that is written in C has returned to a file of ours for the first time."""

    def hear(frame, event, arg):
        if event == "c_return" and arg.__name__ == name and frame.f_code.co_filename.endswith(file):
            sys.setprofile(None)
            raise Interrupted

    sys.setprofile(hear)


def test_a_run_that_is_interrupted_when_it_hears_of_a_task_ends(not_for_ever):
    graph = StateGraph(State)
    for name in ("a", "b"):
        graph.add_node(name, lambda state, name=name: {"log": [name]}).add_edge(START, name)
    app = graph.compile(checkpointer=InMemorySaver())
    interrupted_behind("get", "sync.py")
    with pytest.raises(Interrupted):
        app.invoke({"log": []}, CONFIG)
    assert app.invoke(None, CONFIG) == {"log": ["a", "b"]}


def test_what_is_called_after_a_run_that_was_interrupted_when_a_task_began_is_not_inside_of_that_task():
    graph = StateGraph(State).add_node("a", lambda state: {"log": ["a"]}).add_edge(START, "a")
    app = graph.compile(checkpointer=InMemorySaver())
    interrupted_behind("set", "sync_tasks.py")
    with pytest.raises(Interrupted):
        app.invoke({"log": []}, CONFIG)
    assert app.invoke(None, CONFIG) == {"log": ["a"]}
