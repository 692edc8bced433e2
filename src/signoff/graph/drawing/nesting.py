"""Frames: which nodes and frames each frame holds, and which way its edges lead."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from signoff.graph.drawing.layering import back_edges
from signoff.graph.drawing.parts import Edge, common_frame, parent_of

__all__ = ["Frame", "Item", "nest"]

Item = tuple[str, str]
"""A thing in a frame: ("node" or "frame", its id)."""


@dataclass(slots=True)
class Frame:
    """A nested graph (or, with the id "", the whole picture)."""

    id: str
    items: list[Item] = field(default_factory=list)
    edges: list[tuple[int, Item, Item]] = field(default_factory=list)  # number of the edge, upper, lower item
    comes_in: list[tuple[int, Item]] = field(default_factory=list)  # through the upper border, to the item
    goes_out: list[tuple[int, Item]] = field(default_factory=list)  # from the item, through the lower border


def nest(node_ids: Iterable[str], edges: Sequence[Edge]) -> tuple[dict[str, Frame], set[int]]:
    """The frames by id, inner ones after outer ones, and the numbers of the edges that lead up.

    An edge that leads up stands in its frames the other way round. Edges from a node to itself are left out.
    """
    frames = _frames(node_ids)
    crossing: dict[str, list[int]] = {frame: [] for frame in frames}
    for number, edge in enumerate(edges):
        if edge.source != edge.target:
            crossing[common_frame(edge)].append(number)
    leads_up: set[int] = set()
    for frame in frames.values():
        leads_up |= _leads_up(frame, crossing[frame.id], edges)
        for number in crossing[frame.id]:
            _thread(frames, frame, number, edges[number], number in leads_up)
    return frames, leads_up


def _frames(node_ids: Iterable[str]) -> dict[str, Frame]:
    frames = {"": Frame("")}
    for node_id in node_ids:
        _open(frames, parent_of(node_id)).items.append(("node", node_id))
    return dict(sorted(frames.items(), key=lambda entry: entry[0].count(":") + bool(entry[0])))


def _open(frames: dict[str, Frame], frame_id: str) -> Frame:
    """The frame with this id, put into the frames around it when it is met first."""
    if frame_id not in frames:
        _open(frames, parent_of(frame_id)).items.append(("frame", frame_id))
        frames[frame_id] = Frame(frame_id)
    return frames[frame_id]


def _item_in(frame: str, node_id: str) -> Item:
    """What of a frame is or holds the node."""
    if parent_of(node_id) == frame:
        return "node", node_id
    inner = parent_of(node_id)
    while parent_of(inner) != frame:
        inner = parent_of(inner)
    return "frame", inner


def _leads_up(frame: Frame, numbers: list[int], edges: Sequence[Edge]) -> set[int]:
    place = {item: at for at, item in enumerate(frame.items)}
    pairs = [
        (place[_item_in(frame.id, edges[number].source)], place[_item_in(frame.id, edges[number].target)])
        for number in numbers
    ]
    reached = {target for _, target in pairs}
    entered = {place[item] for _, item in frame.comes_in}
    roots = sorted(range(len(place)), key=lambda at: (at in reached, at not in entered, at))
    return {numbers[at] for at in back_edges(len(place), pairs, roots)}


def _thread(frames: dict[str, Frame], frame: Frame, number: int, edge: Edge, is_up: bool) -> None:
    """Lead an edge from its upper node out to this frame, and in to its lower node."""
    upper, lower = (edge.target, edge.source) if is_up else (edge.source, edge.target)
    frame.edges.append((number, _item_in(frame.id, upper), _item_in(frame.id, lower)))
    for inner in _between(frame.id, upper):
        frames[inner].goes_out.append((number, _item_in(inner, upper)))
    for inner in _between(frame.id, lower):
        frames[inner].comes_in.append((number, _item_in(inner, lower)))


def _between(outer: str, node_id: str) -> Iterable[str]:
    """The frames around a node that are inside of `outer`, the innermost first."""
    frame = parent_of(node_id)
    while frame != outer:
        yield frame
        frame = parent_of(frame)
