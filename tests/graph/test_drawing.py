"""Pictures of graphs: the layout they share, letters, SVG, and what mermaid text adds to LangChain's."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loading import modules_after
from signoff.errors import InvalidGraph, InvalidInput, SignoffError, Unsupported
from signoff.graph.drawing import Edge, Graph, NeedsNetwork, Node
from signoff.graph.drawing import ascii as letters
from signoff.graph.drawing import svg as pixels
from signoff.graph.drawing.blocks import Grid
from signoff.graph.drawing.fitting import fit, fit_between
from signoff.graph.drawing.labels import width_of
from signoff.graph.drawing.layering import back_edges, longest_path_layers
from signoff.graph.drawing.layout import Layout, Rect, lay_out
from signoff.graph.drawing.ordering import crossings, order_by_barycenter
from signoff.graph.drawing.routing import route

START, END = "__start__", "__end__"
SVG = "{http://www.w3.org/2000/svg}"


def picture(*edges: tuple[Any, ...], ids: list[str] | None = None, **metadata: dict[str, Any]) -> Graph:
    """A picture with these edges, and their ends as nodes."""
    names = ids or list(dict.fromkeys(end for edge in edges for end in edge[:2]))
    nodes = {name: Node(name, name.rpartition(":")[2], None, metadata.get(name)) for name in names}
    return Graph(nodes, [Edge(*edge) for edge in edges])


def drawn(text: str) -> str:
    """A golden picture as it is written in this file."""
    return text.strip("\n")


# Letters


def test_a_chain_is_a_column_of_boxes():
    assert picture((START, "a"), ("a", "b"), ("b", END)).draw_ascii() == drawn("""
+-----------+
| __start__ |
+-----------+
      |
      v
    +---+
    | a |
    +---+
      |
      v
    +---+
    | b |
    +---+
      |
      v
 +---------+
 | __end__ |
 +---------+
""")


def test_conditional_edges_are_dotted_and_the_way_back_leads_up():
    graph = picture((START, "agent"), ("agent", "tools", None, True), ("tools", "agent"), ("agent", END, None, True))
    assert graph.draw_ascii() == drawn("""
    +-----------+
    | __start__ |
    +-----------+
          |
          v
      +-------+
      | agent |
      +-------+
        : ^ :
   +....+ | +....+
   :  +---+      :
   v  |          v
+-------+   +---------+
| tools |   | __end__ |
+-------+   +---------+
""")


def test_labels_stand_on_their_lines_and_a_loop_beside_its_box():
    graph = picture(
        *[(START, "a"), ("a", "b", "yes", True), ("a", "c", "no", True)],
        *[("b", END), ("c", END), ("c", "c", "again", True)],
    )
    assert graph.draw_ascii() == drawn("""
+-----------+
| __start__ |
+-----------+
      |
      v
   +-----+
   |  a  |
   +-----+
     : :
   +.+ +.+
  yes   no
   :     :
   v     v
+---+   +---+..+
| b |   | c |  : again
+---+   +---+<.+
  |       |
  v       v
 +---------+
 | __end__ |
 +---------+
""")


def test_branches_join():
    graph = picture(*[(START, name) for name in "abc"], *[(name, "join") for name in "abc"], ("join", END))
    assert graph.draw_ascii() == drawn("""
    +-----------+
    | __start__ |
    +-----------+
       |  |  |
  +----+  |  +----+
  v       v       v
+---+   +---+   +---+
| a |   | b |   | c |
+---+   +---+   +---+
  |       |       |
  +-----+ | +-----+
        v v v
      +-------+
      |  join |
      +-------+
          |
          v
     +---------+
     | __end__ |
     +---------+
""")


def test_long_lines_pass_beside_the_boxes():
    graph = picture(
        *[(START, "a"), ("a", "b"), ("b", "c"), ("c", "d")],
        *[("d", "a", "retry", True), ("d", END, "ok", True), ("a", END, "skip", True)],
    )
    assert graph.draw_ascii() == drawn("""
+-----------+
| __start__ |
+-----------+
      |
      v
  +-------+
  |   a   |
  +-------+
     | ^ :
     | : +..........+
     | +......+     :
     v        :     :
   +---+      :     :
   | b |      :   skip
   +---+      :     :
      |       :     :
      v       :     :
    +---+     :     :
    | c |   retry   :
    +---+     :     :
      |       :     :
      | +.....+     :
      v :           :
   +-----+          :
   |  d  |          :
   +-----+          :
      :             :
     ok             :
      :             :
      : +...........+
      v v
 +---------+
 | __end__ |
 +---------+
""")


def test_nested_graphs_have_frames():
    graph = picture(
        *[(START, "p"), ("p", "child:g:x"), ("child:g:x", "child:g:y"), ("child:g:y", "child:h")],
        *[("child:g:y", "child:z", None, True), ("child:h", "child:z"), ("child:z", END)],
    )
    assert graph.draw_ascii() == drawn("""
    +-----------+
    | __start__ |
    +-----------+
          |
          v
        +---+
        | p |
        +---+
          |
+=========|======+
| child   |      |
|         |      |
|   +=====|====+ |
|   | g   |    | |
|   |     |    | |
|   |     v    | |
|   |   +---+  | |
|   |   | x |  | |
|   |   +---+  | |
|   |     |    | |
|   |     v    | |
|   |  +-----+ | |
|   |  |  y  | | |
|   |  +-----+ | |
|   |    | :   | |
|   +====|=:===+ |
|        | :     |
|        | +...+ |
|        v     : |
|      +---+   : |
|      | h |   : |
|      +---+   : |
|        |     : |
|        | +...+ |
|        v v     |
|     +-----+    |
|     |  z  |    |
|     +-----+    |
|        |       |
+========|=======+
         |
         v
    +---------+
    | __end__ |
    +---------+
""")


def test_notes_stand_under_the_name():
    graph = picture(("a", "b"), a={"__interrupt": "before", "tags": ["x", "y"], "hidden": {"no": 1}})
    assert graph.draw_ascii() == drawn("""
+----------------------+
|           a          |
| __interrupt = before |
|      tags = x, y     |
+----------------------+
            |
            v
          +---+
          | b |
          +---+
""")


def test_wide_letters_and_accents_keep_the_border_straight():
    assert picture(("日本", "e\u0301te\u0301")).draw_ascii() == drawn("""
+------+
| 日本 |
+------+
    |
    v
 +-----+
 | e\u0301te\u0301 |
 +-----+
""")


def test_a_picture_that_does_not_fit_becomes_a_list():
    workers = [f"worker_{number}" for number in range(12)]
    edges = [(START, worker) for worker in workers] + [(worker, END, "done", True) for worker in workers]
    lines = picture(*edges).draw_ascii().splitlines()
    assert lines[:3] == ["__start__", "  --> worker_0", "  --> worker_1"]
    assert lines[13:15] == ["worker_0", "  ..> __end__  (done)"]
    assert max(map(len, lines)) <= 80


def test_a_row_that_is_too_wide_is_folded_before_the_picture_becomes_a_list():
    names = [f"quite_a_long_name_{number}" for number in range(4)]
    text = picture(*[(START, name) for name in names]).draw_ascii()
    assert max(map(len, text.splitlines())) <= 80
    assert "+---" in text


def test_a_long_name_is_cut():
    assert max(map(len, picture(("a" * 200, "b")).draw_ascii().splitlines())) <= 50


def test_an_empty_picture_is_an_empty_text():
    assert Graph().draw_ascii() == ""


def test_print_ascii_prints(capsys):
    picture(("a", "b")).print_ascii()
    assert capsys.readouterr().out.startswith("+---+\n| a |\n")


# SVG


def parse(graph: Graph) -> ET.Element:
    return ET.fromstring(graph.draw_svg())


def test_the_svg_is_well_formed_and_needs_nothing_else():
    text = picture((START, "a"), ("a", "child:b", "go", True), ("child:b", END), ("a", "a")).draw_svg()
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        *("svg", "title", "g", "rect", "path", "polygon", "text")
    }
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import|href|<style|<script", text)


def test_the_svg_has_each_name_label_and_title_once():
    root = parse(picture((START, "a"), ("a", "child:b", "go on", True), ("child:b", END)))
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert sorted(words) == sorted([START, "a", "child", "b", "go on", END])


@pytest.mark.parametrize("name", ["<b>&\"'", "a\nb", "\x00\x1b", "]]>", "\ud800", "日本", "", " ", ":", "a::b"])
def test_any_name_and_label_makes_a_well_formed_svg(name):
    root = parse(picture((name, "b", name), (name, name, name), ids=[name, "b"]))
    assert len(root.findall(f".//{SVG}g")) == 2


def test_only_conditional_edges_are_dashed():
    root = parse(picture(("a", "b"), ("b", "c", None, True), ("c", "c", None, True), ("c", "d")))
    assert [bool(path.get("stroke-dasharray")) for path in root.iter(f"{SVG}path")] == [
        False,
        True,
        False,
        True,
    ]


def test_every_edge_has_a_head_at_its_target():
    graph = picture(("a", "b"), ("b", "c"), ("c", "a"))
    layout = lay_out(graph.nodes, graph.edges, pixels._GRID)
    tips = [element.get("points", "").split()[0] for element in parse(graph).iter(f"{SVG}polygon")]
    for edge, tip in zip(graph.edges, tips, strict=True):
        x, y = map(int, tip.split(","))
        box = layout.boxes[edge.target]
        assert box.x < x < box.x + box.width
        assert y in (box.y, box.y + box.height)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_svg_is_readable_on_light_and_on_dark_paper():
    root = parse(picture((START, "a"), ("a", "child:b", "go", True), ("child:b", END)))
    elements = list(root.iter())
    lines = {element.get("stroke") for element in elements if element.get("stroke")}
    assert all(contrast(line, paper) >= 3 for line in lines for paper in ("#ffffff", "#0d1117"))
    # Words never stand on the paper: the element before them is the fill they stand on.
    for before, element in pairwise(elements):
        if element.tag == f"{SVG}text":
            assert contrast(element.get("fill", ""), before.get("fill", "")) >= 4.5


def test_a_notebook_shows_the_svg():
    graph = picture(("a", "b"))
    assert graph._repr_svg_() == graph.draw_svg()


def test_an_empty_picture_is_a_well_formed_svg():
    assert parse(Graph()).tag == f"{SVG}svg"


# The layout that letters and SVG share

NAMES = st.text("abcdefgh", min_size=1, max_size=9)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    frames = [""]
    for number in range(draw(st.integers(0, 3))):
        parent = draw(st.sampled_from(frames))
        frames.append(f"{parent}:f{number}" if parent else f"f{number}")
    count = draw(st.integers(1, 12))
    ids = [f"{draw(st.sampled_from(frames))}:{draw(NAMES)}{at}".lstrip(":") for at in range(count)]
    end = st.sampled_from(ids)
    edge = st.tuples(end, end, st.none() | st.just("label") | NAMES, st.booleans())
    return picture(*draw(st.lists(edge, max_size=24)), ids=ids)


GRIDS = st.sampled_from([(letters._GRID, None), (letters._GRID, 40), (pixels._GRID, None)])


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def holds(outer: Rect, inner: Rect) -> bool:
    return (
        outer.x <= inner.x
        and inner.x + inner.width <= outer.x + outer.width
        and outer.y <= inner.y
        and inner.y + inner.height <= outer.y + outer.height
    )


def things(layout: Layout) -> dict[Any, Rect]:
    groups = {"box": layout.boxes, "loop": layout.loops, "label": layout.labels, "title": layout.titles}
    return {(kind, key): rect for kind, group in groups.items() for key, rect in group.items()}


@given(graphs(), GRIDS)
@settings(max_examples=80)
def test_nothing_in_a_picture_lies_on_anything_else(graph, grid):
    layout = lay_out(graph.nodes, graph.edges, *grid)
    rects = things(layout)
    assert set(layout.boxes) == set(graph.nodes)
    assert all(holds(Rect(0, 0, layout.width, layout.height), rect) for rect in rects.values())
    assert [pair for pair in combinations(rects, 2) if overlap(rects[pair[0]], rects[pair[1]])] == []


@given(graphs(), GRIDS)
@settings(max_examples=60)
def test_a_frame_holds_its_own_nodes_and_touches_no_other(graph, grid):
    layout = lay_out(graph.nodes, graph.edges, *grid)
    for frame, around in layout.frames.items():
        for node, box in layout.boxes.items():
            assert holds(around, box) if node.startswith(frame + ":") else not overlap(around, box)


def cells(points: list[tuple[int, int]], *, down: bool) -> set[tuple[int, int]]:
    """The cells that the pieces of a line that lead down, or aside, pass."""
    passed: set[tuple[int, int]] = set()
    for (x, y), (to_x, to_y) in pairwise(points):
        assert (x == to_x) != (y == to_y), "lines have right angles"
        assert to_y >= y, "lines never turn back"
        if down and x == to_x:
            passed |= {(x, at) for at in range(y, to_y)}
        elif not down and y == to_y:
            passed |= {(at, y) for at in range(min(x, to_x), max(x, to_x) + 1)}
    return passed


@given(graphs(), st.sampled_from([None, 40]))
@settings(max_examples=80)
def test_lines_cross_but_never_lie_on_each_other_or_on_a_box(graph, limit):
    layout = lay_out(graph.nodes, graph.edges, letters._GRID, limit)
    rects = things(layout)
    for down in (True, False):
        passed = {number: cells(each.points, down=down) for number, each in layout.routes.items()}
        assert all(passed[one].isdisjoint(passed[other]) for one, other in combinations(passed, 2))
        for number, line in passed.items():
            touched = {key for key, r in rects.items() if any(overlap(Rect(x, y, 1, 1), r) for x, y in line)}
            assert touched <= {("label", number)}


@given(graphs(), GRIDS)
@settings(max_examples=60)
def test_every_edge_leads_from_its_source_to_its_target(graph, grid):
    layout = lay_out(graph.nodes, graph.edges, *grid)
    assert set(layout.routes) == {at for at, edge in enumerate(graph.edges) if edge.source != edge.target}
    for number, line in layout.routes.items():
        ends = graph.edges[number][:2]
        upper, lower = (layout.boxes[end] for end in (ends[::-1] if line.leads_up else ends))
        (x, y), (to_x, to_y) = line.points[0], line.points[-1]
        assert y == upper.y + upper.height
        assert upper.x < x < upper.x + upper.width - 1
        assert to_y == lower.y
        assert lower.x < to_x < lower.x + lower.width - 1


@given(graphs())
@settings(max_examples=60)
def test_any_picture_can_be_drawn(graph):
    assert graph.draw_ascii().isascii()
    assert len(parse(graph).findall(f".//{SVG}g")) == len(graph.nodes)


@given(graphs())
@settings(max_examples=30)
def test_the_same_picture_is_always_drawn_the_same(graph):
    assert graph.draw_ascii() == graph.draw_ascii()
    assert graph.draw_svg() == graph.draw_svg()


def test_edges_down_lead_down_and_only_the_way_back_leads_up():
    graph = picture(("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"))
    layout = lay_out(graph.nodes, graph.edges, letters._GRID)
    assert [layout.routes[number].leads_up for number in range(4)] == [False, False, True, False]
    tops = [layout.boxes[name].y for name in "abcd"]
    assert tops == sorted(tops)


def test_a_chain_of_thousands_can_be_drawn():
    names = [str(number) for number in range(3000)]
    graph = picture(*pairwise(names))
    assert graph.draw_ascii().count("v") == 2999


# Its parts


def test_back_edges_close_a_circle_on_the_walk():
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (0, 2)]
    assert back_edges(4, edges, range(4)) == {2}
    assert back_edges(4, edges, [1, 0, 2, 3]) == {0, 4}


def test_a_layer_is_the_longest_way_to_a_node():
    assert longest_path_layers([0] * 4, [(0, 1, 1), (1, 2, 2), (0, 2, 1), (2, 3, 1)], [1] * 4) == [0, 1, 3, 4]


def test_a_full_layer_passes_nodes_on():
    assert longest_path_layers([0] * 3, [(0, 2, 1)], [5, 5, 5], limit=8) == [0, 1, 2]


def test_ordering_removes_needless_crossings():
    rows, below = [[0, 1], [2, 3]], {0: [3], 1: [2]}
    assert crossings(rows, below) == 1
    assert crossings(order_by_barycenter(rows, [(0, 3), (1, 2)]), below) == 0


POSITIONS = st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9), st.integers(0, 9)), min_size=1)


@given(POSITIONS)
def test_fitted_positions_keep_their_distance(items):
    wanted, weights, steps = ([float(item[at]) for item in items] for at in range(3))
    gaps = [int(step) for step in steps[1:]]
    fitted = fit(wanted, weights, gaps)
    assert all(later - earlier >= gap for (earlier, later), gap in zip(pairwise(fitted), gaps, strict=True))


def test_positions_with_room_stay_where_they_want_to_be():
    assert fit([1, 5, 9], [1, 1, 1], [2, 2]) == [1, 5, 9]
    assert fit([5, 5], [1, 1], [4]) == [3, 7]
    assert fit_between([0, 0, 99], [1, 1, 1], 2, 1, 9) == [1, 3, 9]


@given(st.lists(st.integers(0, 30), unique=True, max_size=10), st.randoms())
def test_routed_lines_never_lie_on_each_other(columns, random):
    uppers, lowers = columns, random.sample(columns, len(columns))
    bends, tracks = route(list(zip(uppers, lowers, strict=True)))
    lines = []
    for begin, end, turns in zip(uppers, lowers, bends, strict=True):
        points = [(begin, -1)]
        for track, column in turns:
            assert 0 <= track < tracks
            points += [(points[-1][0], track), (column, track)]
        assert points[-1][0] == end
        lines.append([*points, (end, tracks)])
    for down in (True, False):
        passed = [cells(list(dict.fromkeys(line)), down=down) for line in lines]
        assert all(one.isdisjoint(other) for one, other in combinations(passed, 2))


@given(st.text(), st.text())
def test_the_width_of_a_text_is_that_of_its_parts(one, other):
    assert width_of(one + other) == width_of(one) + width_of(other)


# Mermaid, where LangChain's text loses something (the rest is compared with it in tests/parity)


def flowchart(graph: Graph) -> list[str]:
    text = graph.draw_mermaid().partition("graph TD;\n")[2].partition("\tclassDef")[0]
    return text.replace("\t", "").splitlines()


def test_a_nested_graph_that_holds_only_a_nested_graph_is_drawn():
    assert flowchart(picture(("a", "c:d:x"), ("c:d:x", "c:d:y"), ("c:d:y", "b"))) == [
        *("a([a]):::first", "b([b]):::last", r"a --> c\3ad\3ax;", r"c\3ad\3ay --> b;"),
        *("subgraph c", "subgraph d", r"c\3ad\3ax(x)", r"c\3ad\3ay(y)", r"c\3ad\3ax --> c\3ad\3ay;"),
        *("end", "end"),
    ]


def test_an_edge_between_namesakes_is_outside_of_both_nested_graphs():
    assert flowchart(picture(("c:a", "d:a"))) == [
        *(r"c\3aa --> d\3aa;", "subgraph c", r"c\3aa([a]):::first", "end"),
        *("subgraph d", r"d\3aa([a]):::last", "end"),
    ]


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("end", r"\65nd"),
        ("graph-a", r"\67raph-a"),
        ("style it", r"\73tyle\20it"),
        ("ending", "ending"),
        ("a-end", "a-end"),
    ],
)
def test_mermaid_takes_no_name_for_a_word_of_its_own(name, id):
    text = picture((START, name), (name, END)).draw_mermaid()
    assert f"\t{id}({name})\n" in text
    assert f"\t__start__ --> {id};\n" in text
    assert f"\t{id} --> __end__;\n" in text


def test_a_frame_may_be_called_like_a_word_of_mermaid():
    text = picture(("end:a", "end:b"), ids=["end:a", "end:b"]).draw_mermaid()
    assert '\tsubgraph \\65nd["end"]\n' in text


def test_two_edges_from_a_node_to_itself_make_no_frame():
    assert flowchart(picture(("a", "a"), ("a", "a", "again"))) == [
        *("a(a)", "a --> a;", "a -- &nbsp;again&nbsp; --> a;"),
    ]


@pytest.mark.parametrize("config", [{"config": None}, {"config": {"flowchart": 1}}, {"x": object()}, {1: 2}])
def test_settings_that_are_none_are_refused(config):
    with pytest.raises(InvalidInput, match="frontmatter_config"):
        Graph().draw_mermaid(frontmatter_config=config)


# The picture itself


def test_a_picture_is_built_node_by_node():
    graph = Graph()
    first = graph.add_node(None, START)
    second = graph.add_node(pairwise, metadata={"k": 1})
    edge = graph.add_edge(first, second, "label", conditional=True)
    assert graph
    assert graph.nodes == {
        START: Node(START, START),
        "pairwise": Node("pairwise", "pairwise", pairwise, {"k": 1}),
    }
    assert graph.edges == [edge] == [Edge(START, "pairwise", "label", True)]
    assert (graph.first_node(), graph.last_node()) == (first, second)


def test_an_id_is_taken_once():
    graph = picture(("a", "b"))
    with pytest.raises(InvalidGraph, match="'a'"):
        graph.add_node(None, "a")
    with pytest.raises(InvalidGraph, match="'a'"):
        graph.extend(picture(("a", "c")))
    assert list(graph.nodes) == ["a", "b"]


def test_a_node_without_data_and_id_is_refused():
    with pytest.raises(InvalidGraph, match="needs an id"):
        Graph().add_node(None)


def test_an_edge_to_nowhere_is_refused():
    graph = picture(("a", "b"))
    with pytest.raises(InvalidGraph, match="'c'"):
        graph.add_edge(graph.nodes["a"], Node("c", "c"))
    broken = Graph(graph.nodes, [Edge("a", "c")])
    for draw in (broken.draw_ascii, broken.draw_mermaid, broken.draw_svg):
        with pytest.raises(InvalidGraph, match="needs a node 'c'"):
            draw()


def test_a_removed_node_takes_its_edges_along():
    graph = picture(("a", "b"), ("b", "c"), ("a", "c"))
    graph.remove_node(graph.nodes["b"])
    assert graph == picture(("a", "c"))


def test_a_nested_picture_gets_a_prefix():
    graph = picture(("a", "b"))
    first, last = graph.extend(picture(("x", "y")), prefix="child")
    assert (first, last) == (Node("child:x", "x"), Node("child:y", "y"))
    assert graph.edges == [Edge("a", "b"), Edge("child:x", "child:y")]


def test_the_json_says_what_the_nodes_are():
    graph = Graph()
    graph.add_node(None, START)
    graph.add_node(Grid)
    graph.add_node(route, "r", metadata={"k": 1})
    graph.add_edge(graph.nodes[START], graph.nodes["r"])
    assert graph.to_json() == {
        "nodes": [
            {"id": START},
            {"id": "Grid", "type": "schema", "data": "Grid"},
            {
                "id": "r",
                "type": "runnable",
                "data": {"id": ["signoff", "graph", "drawing", "routing", "route"], "name": "r"},
                "metadata": {"k": 1},
            },
        ],
        "edges": [{"source": START, "target": "r"}],
    }


def test_a_png_of_mermaid_would_need_the_network_and_says_what_does_not():
    with pytest.raises(NeedsNetwork, match=r"network.*draw_svg\(\)") as caught:
        picture(("a", "b")).draw_mermaid_png(output_file_path="x.png")
    assert isinstance(caught.value, SignoffError)


def test_a_png_of_graphviz_is_not_drawn_and_what_is_is_said():
    with pytest.raises(Unsupported, match=r"draw_png.*draw_svg\(\)") as caught:
        picture(("a", "b")).draw_png("x.png")
    assert isinstance(caught.value, ImportError), "as where Graphviz is not installed: programs are ready for that"


def test_drawing_imports_no_framework():
    script = (
        "from signoff.graph.drawing import Graph, Node, Edge\n"
        "graph = Graph({'a': Node('a', 'a')}, [Edge('a', 'a')])\n"
        "graph.draw_ascii(), graph.draw_svg(), graph.draw_mermaid()\n"
    )
    heavy = {"langchain_core", "pydantic", "asyncio", "numpy", "yaml", "grandalf"}
    assert modules_after(script) & heavy == set()
