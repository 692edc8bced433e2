"""Scenario 18: a deploy while threads wait."""

import operator
from typing import Annotated, TypedDict

import pytest

from signoff.errors import GraphChanged, ReplayMismatch
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Log(TypedDict):
    log: Annotated[list, operator.add]


def confirm(state):
    return {"log": [interrupt("Send it?")]}


def confirm_more(state):
    return {"log": [interrupt("Delete the drafts?"), interrupt("Send it?")]}


def program(name, node):
    return StateGraph(Log).add_node(name, node).add_edge(START, name)


def deployed(open_app, old, graph):
    """Another program over what the old one stored."""
    new = open_app(graph)
    new.memory = old.memory
    return new


@pytest.mark.parametrize(
    ("graph", "error"),
    [(program("review", confirm_more), ReplayMismatch), (program("confirm", confirm), GraphChanged)],
    ids=["a question inserted", "a node renamed"],
)
def test_the_resume_says_so_and_keeps_the_question(open_app, graph, error):
    old = open_app(program("review", confirm))
    old.invoke({"log": []})
    with pytest.raises(error):
        deployed(open_app, old, graph).invoke(Command(resume="yes"))
    assert old.questions() == ["Send it?"]
    assert old.invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_the_message_shows_both_questions_and_the_ways_out(open_app):
    old = open_app(program("review", confirm))
    old.invoke({"log": []})
    with pytest.raises(ReplayMismatch) as noticed:
        deployed(open_app, old, program("review", confirm_more)).invoke(Command(resume="yes"))
    for part in ("'Delete the drafts?'", "'Send it?'", "the code that asked it", "key=", 'on_changed="accept"'):
        assert part in str(noticed.value)


def test_threads_that_began_after_the_deploy_are_not_concerned(open_app):
    open_app(program("review", confirm)).invoke({"log": []})
    config = {"configurable": {"thread_id": "2"}}
    new = open_app(program("review", confirm_more))
    new.invoke({"log": []}, config)
    new.invoke(Command(resume="no"), config)
    assert new.invoke(Command(resume="yes"), config) == {"log": ["no", "yes"]}
