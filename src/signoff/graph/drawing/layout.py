"""The layout of a picture: a place for every node, frame, label and line, in letters or in pixels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from signoff.graph.drawing.arrangement import straighten
from signoff.graph.drawing.blocks import Block, Grid, Point
from signoff.graph.drawing.labels import edge_label
from signoff.graph.drawing.nesting import Frame, nest
from signoff.graph.drawing.parts import Edge, Node
from signoff.graph.drawing.planning import Plan, Planner
from signoff.graph.drawing.sizing import text

__all__ = ["Layout", "Rect", "Route", "lay_out"]


class Rect(NamedTuple):
    """A part of the picture, from (x, y) on."""

    x: int
    y: int
    width: int
    height: int


class Route(NamedTuple):
    """The line of an edge, always from its upper to its lower end."""

    points: list[Point]
    leads_up: bool


@dataclass(slots=True)
class Layout:
    """Where everything in a picture is. Edges are known by their number."""

    width: int
    height: int
    boxes: dict[str, Rect] = field(default_factory=dict)
    loops: dict[str, Rect] = field(default_factory=dict)  # beside the boxes of nodes with an edge to themselves
    frames: dict[str, Rect] = field(default_factory=dict)  # outer ones first
    titles: dict[str, Rect] = field(default_factory=dict)
    labels: dict[int, Rect] = field(default_factory=dict)
    routes: dict[int, Route] = field(default_factory=dict)


def lay_out(nodes: Mapping[str, Node], edges: Sequence[Edge], grid: Grid, limit: int | None = None) -> Layout:
    """Give everything its place; with a limit, try to stay that narrow."""
    frames, leads_up = nest(nodes, edges)
    planner = Planner(nodes, edges, leads_up, grid, limit)
    for frame in reversed(frames.values()):
        planner.plan(frame)
    whole = planner.plans[""].arrangement
    layout = Layout(whole.width, whole.height)
    lines: dict[str, list[list[Point]]] = {}
    for frame in frames.values():
        origin = _origin(frame, layout, grid)
        _put_things(planner.plans[frame.id], origin, layout)
        _put_labels(planner, frame, origin, layout)
        lines[frame.id] = [_moved(path, origin) for path in planner.plans[frame.id].arrangement.paths]
    points = _joined(frames, lines)
    layout.routes = {number: Route(straighten(points[number]), number in leads_up) for number in sorted(points)}
    return layout


def _origin(frame: Frame, layout: Layout, grid: Grid) -> Point:
    """Where the contents of a frame begin."""
    if not frame.id:
        return 0, 0
    rect = layout.frames[frame.id]
    return rect.x + grid.frame_x, rect.y + grid.frame_y


def _put_things(plan: Plan, origin: Point, layout: Layout) -> None:
    for thing, block in plan.blocks.items():
        rect = _rect(block, plan.spots[thing], origin)
        match thing:
            case "node", str(name):
                layout.boxes[name] = rect
                if block.loop:
                    layout.loops[name] = Rect(rect.x + rect.width, rect.y, block.loop, rect.height)
            case "frame", str(name):
                layout.frames[name] = rect
            case "title", str(name):
                layout.titles[name] = rect


def _put_labels(planner: Planner, frame: Frame, origin: Point, layout: Layout) -> None:
    labels = planner.plans[frame.id].arrangement.labels[len(frame.comes_in) :]
    for (number, _, _), spot in zip(frame.edges, labels, strict=False):
        if spot:
            block = text(edge_label(planner.edges[number].data), "label", planner.grid)
            layout.labels[number] = _rect(block, spot, origin)


def _rect(block: Block, spot: Point, origin: Point) -> Rect:
    x, y = spot[0] - block.left + origin[0], spot[1] + origin[1]
    return Rect(x, y, block.left + block.right - block.loop, block.height)


def _moved(path: list[Point], origin: Point) -> list[Point]:
    return [(x + origin[0], y + origin[1]) for x, y in path]


def _joined(frames: dict[str, Frame], lines: dict[str, list[list[Point]]]) -> dict[int, list[Point]]:
    """The line of each edge: out of the frames around its upper end, then into those around its lower end."""
    points: dict[int, list[Point]] = {}
    for frame in reversed(frames.values()):
        out = lines[frame.id][len(frame.comes_in) + len(frame.edges) :]
        for (number, _), line in zip(frame.goes_out, out, strict=True):
            points.setdefault(number, []).extend(line)
    for frame in frames.values():
        for (number, _, _), line in zip(frame.edges, lines[frame.id][len(frame.comes_in) :], strict=False):
            points.setdefault(number, []).extend(line)
    for frame in frames.values():
        for (number, _), line in zip(frame.comes_in, lines[frame.id], strict=False):
            points[number].extend(line)
    return points
