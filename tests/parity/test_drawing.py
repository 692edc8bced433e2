"""The same graphs as LangGraph's get_graph() and as our pictures."""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.graph import CurveStyle as LangChainCurveStyle
from langchain_core.runnables.graph import Edge as LangChainEdge
from langchain_core.runnables.graph import Graph as LangChainGraph
from langchain_core.runnables.graph import Node as LangChainNode
from langchain_core.runnables.graph import NodeStyles as LangChainNodeStyles
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send

from signoff.graph.drawing import CurveStyle, Edge, Graph, Node, NodeStyles

pytestmark = pytest.mark.parity

ODD_NAMES = [
    *("a-b", "ü", "a.b", "a/b", "a_b", 'A"q"', "<b>", "(x)", "[y]", "{z}", "x;y", "#1", "1", "a\nb"),
    *(
        "日本",
        "a%b",
        "a&b",
        "it's",
        "*star*",
        "_u_",
        "`t`",
        "😀",
        "\\back",
        "a  b",
        " a",
    ),
    *("**b**", "%%c", "-", "--", "tab\tx"),
]


class State(TypedDict):
    x: int


def node(state: State) -> State:
    return state


def builder(*names: str, **nested: Any) -> StateGraph:
    result = StateGraph(State)
    for name in names:
        result.add_node(name, nested.get(name, node))
    return result


def chain(*names: str, **nested: Any) -> StateGraph:
    result = builder(*names, **nested)
    for source, target in zip((START, *names), (*names, END), strict=True):
        result.add_edge(source, target)
    return result


def linear() -> StateGraph:
    return chain("a", "b", "c")


def without_an_edge_to_the_end() -> StateGraph:
    return builder("a").add_edge(START, "a")


def conditional_with_labels() -> StateGraph:
    labels: dict[Any, str] = {"yes": "b", "no way now": END, "three words go here now": "my node"}
    return (
        builder("a", "b", "my node")
        .add_edge(START, "a")
        .add_conditional_edges("a", node, labels)
        .add_edge("b", "a")
        .add_edge("my node", "my node")
    )


def conditional_entry() -> StateGraph:
    def choose(state: State) -> Literal["a", "b"]: ...

    return builder("a", "b").add_conditional_edges(START, choose).add_edge("a", "b").add_edge("b", END)


def conditional_by_true_and_false() -> StateGraph:
    return builder("a", "b").add_edge(START, "a").add_conditional_edges("a", node, {True: "b", False: END})


def loop() -> StateGraph:
    return (
        builder("agent", "tools")
        .add_edge(START, "agent")
        .add_conditional_edges("agent", node, ["tools", END])
        .add_edge("tools", "agent")
    )


def sends() -> StateGraph:
    def fan_out(state: State) -> list[Send]: ...

    return (
        builder("plan", "work", "collect")
        .add_edge(START, "plan")
        .add_conditional_edges("plan", fan_out, ["work"])
        .add_edge("work", "collect")
        .add_edge("collect", END)
    )


def commands_and_destinations() -> StateGraph:
    def command(state: State) -> Command[Literal["a", "__end__"]]: ...

    result = builder("a").add_node("c", command)
    result.add_node("d", node, destinations={"a": "label", "c": "other label"})
    result.add_node("e", node, destinations=("a", "d"))
    return result.add_edge(START, "c").add_edge(START, "d").add_edge(START, "e")


def join() -> StateGraph:
    return builder("a", "b", "c").add_edge(START, "a").add_edge(START, "b").add_edge(["a", "b"], "c").add_edge("c", END)


def odd_names() -> StateGraph:
    result = builder(*ODD_NAMES)
    for name in ODD_NAMES:
        result.add_edge(START, name)
    return result


def with_metadata() -> StateGraph:
    result = builder("a").add_node("b", node, metadata={"team": ["x", "y"], "note": '<b> "q" (1)', "n": 1})
    return result.add_edge(START, "a").add_edge("a", "b")


def nested() -> StateGraph:
    grandchild = chain("x", "y y").compile()
    child = (
        builder("g", "h", g=grandchild)
        .add_edge(START, "g")
        .add_conditional_edges("g", node, {"go on": "h", "stop": END})
        .add_edge("h", END)
        .compile()
    )
    return chain("p", "child", "other", child=child, other=grandchild)


def nested_loop() -> StateGraph:
    child = chain("a", "b").add_conditional_edges("b", node, ["a", END]).compile()
    return (
        builder("loop", "z", loop=child).add_edge(START, "loop").add_conditional_edges("loop", node, ["loop", "z", END])
    )


def nested_single_node() -> StateGraph:
    return chain("before", "only", "after", only=chain("inside").compile())


GRAPHS: list[Callable[[], StateGraph]] = [
    linear,
    without_an_edge_to_the_end,
    conditional_with_labels,
    conditional_entry,
    conditional_by_true_and_false,
    loop,
    sends,
    commands_and_destinations,
    join,
    odd_names,
    with_metadata,
    nested,
    nested_loop,
    nested_single_node,
]


def translate(graph: LangChainGraph) -> Graph:
    """LangChain's picture as ours."""
    nodes = {key: Node(n.id, n.name, n.data, n.metadata) for key, n in graph.nodes.items()}
    return Graph(nodes, [Edge(e.source, e.target, e.data, e.conditional) for e in graph.edges])


@pytest.mark.parametrize("xray", [False, 1, 2])
@pytest.mark.parametrize("make", GRAPHS, ids=lambda make: make.__name__)
def test_the_mermaid_text_is_the_same(make, xray):
    theirs = make().compile().get_graph(xray=xray)
    ours = translate(theirs)
    assert ours.draw_mermaid() == theirs.draw_mermaid()
    assert ours.draw_mermaid(with_styles=False) == theirs.draw_mermaid(with_styles=False)


@pytest.mark.parametrize("words", [1, 2, 9])
@pytest.mark.parametrize("curve", list(LangChainCurveStyle), ids=lambda curve: curve.value)
def test_the_options_of_mermaid_are_the_same(words, curve):
    theirs = conditional_with_labels().compile().get_graph()
    colors = {"default": "fill:#fff", "first": "fill:#eee", "last": "fill:#ddd"}
    assert translate(theirs).draw_mermaid(
        wrap_label_n_words=words, curve_style=CurveStyle(curve.value), node_colors=NodeStyles(**colors)
    ) == theirs.draw_mermaid(wrap_label_n_words=words, curve_style=curve, node_colors=LangChainNodeStyles(**colors))


def test_a_pause_before_or_after_a_node_is_written_under_its_name():
    theirs = linear().compile(interrupt_before=["a"], interrupt_after=["b"]).get_graph()
    assert translate(theirs).draw_mermaid() == theirs.draw_mermaid()
    assert "__interrupt = before" in theirs.draw_mermaid()


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"config": {"theme": "neutral", "look": "handDrawn"}},
        {"title": "a: b", "config": {"flowchart": {"curve": "step", "htmlLabels": False}}},
        {"config": {"themeVariables": {"primaryColor": "#fff", "fontSize": "12px"}}},
        {
            "a": [1, {"b": 2}, "c", [3]],
            "n": None,
            "t": True,
            "f": 1.5,
            "s": "true",
            "d": "12",
            "e": "",
            "u": "ü",
        },
        {"d": {}, "l": [], "q": "it's", "h": "#x", "c": "a #b", "k": "a#b", "sp": " x", "star": "*x"},
    ],
)
def test_the_settings_at_the_head_are_the_same(config):
    theirs = linear().compile().get_graph()
    assert translate(theirs).draw_mermaid(frontmatter_config=config) == theirs.draw_mermaid(frontmatter_config=config)


KEYS = st.text(max_size=20).filter(lambda key: key != "config")  # YAML wants keys shorter than 1024 letters
SETTINGS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, SETTINGS, max_size=4))
@settings(max_examples=60)
def test_any_settings_at_the_head_are_read_back_as_they_were(config):
    text = Graph().draw_mermaid(frontmatter_config=config)
    head = text.removeprefix("---\n").partition("\n---\ngraph TD;")[0]
    assert yaml.safe_load(head) == {**config, "config": {"flowchart": {"curve": "linear"}}}


@st.composite
def pictures(draw: st.DrawFn) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Nodes in nested frames, each of which has an edge of its own, and any other edges."""
    frames = [""]
    for number in range(draw(st.integers(0, 3))):
        parent = draw(st.sampled_from(frames))
        frames.append(f"{parent}:f{number}" if parent else f"f{number}")
    ids: list[str] = []
    edges: list[tuple[Any, ...]] = []
    for frame in frames:
        own = [f"{frame}:n{len(ids) + at}".lstrip(":") for at in range(draw(st.integers(2, 3)))]
        ids += own
        edges.append((own[0], own[1], None, False))
    name = st.sampled_from(ids)
    more = st.tuples(name, name, st.sampled_from([None, "label", 5, "many words " * 6]), st.booleans())
    edges += draw(st.lists(more, max_size=12, unique_by=lambda edge: edge[:2]))
    return draw(st.permutations(ids)), draw(st.permutations(edges))


@given(pictures())
@settings(max_examples=80)
def test_the_mermaid_text_of_any_picture_is_the_same(picture):
    ids, edges = picture
    theirs = LangChainGraph(
        {i: LangChainNode(i, i.rpartition(":")[2], None, None) for i in ids},
        [LangChainEdge(*edge) for edge in edges],
    )
    ours = translate(theirs)
    assert ours.draw_mermaid() == theirs.draw_mermaid()
    assert ours.draw_mermaid(with_styles=False) == theirs.draw_mermaid(with_styles=False)


@given(pictures())
@settings(max_examples=60)
def test_first_and_last_nodes_trimming_and_nesting_are_the_same(picture):
    ids, edges = picture
    theirs = LangChainGraph({i: LangChainNode(i, i, None, None) for i in ids}, [LangChainEdge(*edge) for edge in edges])
    ours = translate(theirs)
    assert (ours.first_node(), ours.last_node()) == (theirs.first_node(), theirs.last_node())
    for trim in ("trim_first_node", "trim_last_node"):
        getattr(ours, trim)()
        getattr(theirs, trim)()
        assert ours == translate(theirs)
    outer, their_outer = (
        Graph({"o": Node("o", "o")}),
        LangChainGraph({"o": LangChainNode("o", "o", None, None)}),
    )
    assert outer.extend(ours, prefix="p") == their_outer.extend(theirs, prefix="p")
    assert outer == translate(their_outer)


@pytest.mark.parametrize(
    "edges",
    [
        [("s", "a"), ("a", "e")],
        [("s", "e")],
        [("s", "a"), ("s", "a", "again"), ("a", "e")],
        [("s", "a"), ("s", "a"), ("a", "e"), ("a", "e")],
        [("s", "a"), ("a", "a"), ("a", "e")],
        [("s", "a"), ("a", "b"), ("s", "b"), ("b", "e")],
        [("s", "a"), ("a", "b"), ("b", "a"), ("b", "e")],
        [("s", "a"), ("s", "b"), ("a", "e"), ("b", "e")],
    ],
)
def test_trimming_is_the_same(edges):
    ids = dict.fromkeys(end for edge in edges for end in edge[:2])
    for trim in ("trim_first_node", "trim_last_node"):
        theirs = LangChainGraph(
            {i: LangChainNode(i, i, None, None) for i in ids}, [LangChainEdge(*edge) for edge in edges]
        )
        ours = translate(theirs)
        getattr(ours, trim)()
        getattr(theirs, trim)()
        assert ours == translate(theirs)


@pytest.mark.parametrize("make", GRAPHS, ids=lambda make: make.__name__)
def test_the_json_has_the_same_nodes_and_edges(make):
    theirs = make().compile().get_graph()
    ours = translate(theirs).to_json()
    assert ours["edges"] == theirs.to_json()["edges"]
    kinds = [(entry["id"], entry.get("type"), entry.get("metadata")) for entry in theirs.to_json()["nodes"]]
    assert [(entry["id"], entry.get("type"), entry.get("metadata")) for entry in ours["nodes"]] == kinds


def test_the_picture_of_an_entrypoint_is_the_same():
    import langgraph.func

    import signoff.func

    def advise(question):
        return question

    theirs = langgraph.func.entrypoint()(advise).get_graph()
    ours = signoff.func.entrypoint()(advise).get_graph()
    assert ours.draw_mermaid() == theirs.draw_mermaid()
    assert "advise" in ours.draw_ascii()


def test_the_picture_of_agents_that_hand_over_to_each_other_is_the_same():
    import langgraph.graph

    import signoff.graph

    def picture(library):
        graph = library.StateGraph(State)
        graph.add_node("ana", node, destinations=("ben",))
        graph.add_node("ben", node, destinations=("ana",))
        graph.add_conditional_edges(library.START, lambda state: "ana", ["ana", "ben"])
        return graph.compile().get_graph()

    assert picture(signoff.graph).draw_mermaid() == picture(langgraph.graph).draw_mermaid()
    assert "__end__" not in picture(signoff.graph).nodes


@pytest.mark.parametrize("xray", [False, 1, True])
@pytest.mark.parametrize("kind", ["function", "runnable", "entrypoint"])
def test_xray_opens_a_graph_that_the_function_of_a_node_calls(kind, xray):
    import langgraph.func
    import langgraph.graph

    import signoff.func
    import signoff.graph

    def picture(library, func):
        inner = library.StateGraph(State).add_node("x", node).add_node("y", node)
        inner = inner.add_edge(library.START, "x").add_edge("x", "y").compile()

        @func.entrypoint()
        def program(state):
            return state

        def call(state):
            return inner.invoke(state)

        inside = {"function": call, "runnable": RunnableLambda(call), "entrypoint": lambda state: program.invoke(state)}
        outer = library.StateGraph(State).add_node("before", node).add_node("calls", inside[kind])
        outer = outer.add_edge(library.START, "before").add_edge("before", "calls").compile()
        return outer.get_graph(xray=xray).draw_mermaid()

    assert picture(signoff.graph, signoff.func) == picture(langgraph.graph, langgraph.func)


def test_a_picture_says_where_a_run_stops():
    import langgraph.graph

    import signoff.graph

    def picture(library):
        graph = library.StateGraph(State).add_node("a", node).add_node("b", node).add_node("c", node, metadata={"n": 1})
        graph = graph.add_edge(library.START, "a").add_edge("a", "b").add_edge("b", "c")
        return graph.compile(interrupt_before=["a", "c"], interrupt_after=["b", "c"]).get_graph().draw_mermaid()

    assert picture(signoff.graph) == picture(langgraph.graph)
    assert "__interrupt = before,after" in picture(signoff.graph)
