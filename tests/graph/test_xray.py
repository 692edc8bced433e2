"""Pictures of graphs whose nested graphs are opened, and what else a picture says."""

import asyncio
from typing import TypedDict

from signoff.graph import END, START, StateGraph


class State(TypedDict, total=False):
    word: str


def node(state):
    return {}


def around(inner):
    graph = StateGraph(State).add_node("inner", inner.compile()).add_node("last", node)
    return graph.add_edge(START, "inner").add_edge("inner", "last").compile()


def edges_of(app):
    picture = app.get_graph(xray=True)
    assert all([picture.draw_ascii(), picture.draw_mermaid(), picture.draw_svg()])
    return {(edge.source, edge.target) for edge in picture.edges}


def test_a_nested_graph_is_drawn_though_nobody_knows_where_an_edge_of_it_leads():
    inner = StateGraph(State).add_node("a", node).add_node("b", node).add_edge(START, "a")
    inner.add_conditional_edges("a", lambda state: "b").add_edge("b", END)
    edges = edges_of(around(inner))
    assert {(START, "inner:__start__"), ("inner:__end__", "last")} <= edges


def test_a_nested_graph_is_drawn_though_nothing_says_that_it_ends():
    inner = StateGraph(State).add_node("a", node).add_node("b", node)
    inner.add_edge(START, "a").add_edge("a", "b").add_edge("b", "a")
    assert ("inner:__end__", "last") in edges_of(around(inner))


def test_a_picture_says_what_waits_for_whom_and_by_which_word_an_edge_is_taken():
    graph = StateGraph(State).add_node("a", node).add_node("b", node, destinations={"a": "again"})
    graph.add_node("both", node, defer=True)
    graph.add_edge(["a", "b"], "both").add_conditional_edges(START, lambda state: "yes", {"yes": "a", "no": "b"})
    picture = graph.compile().get_graph()
    assert {(edge.source, edge.target, edge.data) for edge in picture.edges} == {
        (START, "a", "yes"), (START, "b", "no"), ("a", "both", None), ("b", "both", None), ("both", END, None),
        ("b", "a", "again"),
    }  # fmt: skip
    assert (picture.nodes["both"].metadata, picture.nodes["a"].metadata) == ({"defer": True}, None)


def test_on_an_event_loop_too_nested_graphs_are_opened():
    inner = StateGraph(State).add_node("a", node).add_edge(START, "a")
    assert "inner:a" in asyncio.run(around(inner).aget_graph(xray=True)).nodes
