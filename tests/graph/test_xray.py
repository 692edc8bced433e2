"""Pictures of graphs whose nested graphs are opened: whatever can be told of their ends, they can be drawn."""

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
