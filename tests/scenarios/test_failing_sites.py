"""Scenario 12: a number is drawn, sites are asked, one fails; the run is repaired and goes on."""

import itertools
from typing import TypedDict

import pytest

from signoff.cache.memory import InMemoryCache
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import CachePolicy


class Sites(TypedDict):
    urls: list[str]
    pages: list[str]


class State(TypedDict):
    urls: list[str]
    number: int
    pages: list[str]


class World:
    """Sites that answer or do not, and what was asked of them."""

    def __init__(self):
        self.up = {"a", "c"}
        self.asked = []
        self.numbers = itertools.count(1)

    def request(self, url):
        self.asked.append(url)
        if url not in self.up:
            raise LookupError(f"no answer from {url}")
        return f"page {url}"


@pytest.fixture
def world():
    return World()


@pytest.fixture(params=["called in a node", "as a node"])
def graph(request, world):
    @task
    def draw():
        return next(world.numbers)

    @task(cache_policy=CachePolicy())
    def ask(url):
        return world.request(url)

    def fetch(state: Sites):
        waiting = [ask(url) for url in state["urls"]]
        return {"pages": [future.result() for future in waiting]}

    sites = StateGraph(Sites).add_node(fetch).add_edge(START, "fetch").compile()

    def main(state: State):
        number = draw().result()
        return {"number": number, "pages": sites.invoke({"urls": state["urls"]})["pages"]}

    def number(state: State):
        return {"number": draw().result()}

    if request.param == "called in a node":
        return StateGraph(State).add_node(main).add_edge(START, "main")
    return StateGraph(State).add_sequence([number, ("main", sites)]).add_edge(START, "number")


def fail(app):
    with pytest.raises(LookupError, match="no answer from b"):
        app.invoke({"urls": ["a", "b", "c"]})


def test_the_failed_graph_shows_what_it_failed_at(open_app, graph):
    app = open_app(graph)
    fail(app)
    state = app.get_state(subgraphs=True)
    assert state.next == ("main",)
    inside = state.tasks[0].state
    assert inside.next == ("fetch",)
    assert inside.values["urls"] == ["a", "b", "c"]
    assert inside.tasks[0].error == "LookupError('no answer from b')"


def test_when_the_site_is_back_only_it_is_asked_again(open_app, graph, world):
    app = open_app(graph)
    fail(app)
    world.up.add("b")
    world.asked.clear()
    result = app.invoke(None)
    assert result == {"urls": ["a", "b", "c"], "number": 1, "pages": ["page a", "page b", "page c"]}
    assert world.asked == ["b"]


def test_mended_inside_it_goes_on_with_the_number_from_before(open_app, graph, world):
    app = open_app(graph, cache=InMemoryCache())
    fail(app)
    world.up.add("d")
    world.asked.clear()
    app.update_state({"urls": ["a", "d", "c"]}, app.get_state(subgraphs=True).tasks[0].state.config)
    result = app.invoke(None)
    assert (result["number"], result["pages"]) == (1, ["page a", "page d", "page c"])
    assert world.asked == ["d"]  # the others answered before, and are in the cache


def test_another_failure_leaves_the_thread_as_it_was(open_app, graph):
    app = open_app(graph)
    fail(app)
    before = app.get_state()
    with pytest.raises(LookupError):
        app.invoke(None)
    after = app.get_state()
    assert (after.config, after.values, after.next) == (before.config, before.values, before.next)
