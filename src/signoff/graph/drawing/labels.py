"""The words in a picture: names, the notes under them, and how wide they are."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from signoff.graph.drawing.parts import Edge, Node

__all__ = ["edge_label", "lines_of", "loop_label", "name_of", "notes_of", "one_line", "title_of", "width_of"]

_LONGEST = 40  # columns

_WORDS = (str, int, float, bool)


def name_of(node: Node) -> str:
    """The name of a node without the graphs it is in."""
    return node.name.rpartition(":")[2]


def notes_of(node: Node) -> Iterator[tuple[str, str]]:
    """The metadata that can be said in a few words, as texts."""
    for key, value in (node.metadata or {}).items():
        if isinstance(value, _WORDS):
            yield str(key), str(value)
        elif isinstance(value, list | tuple | set | frozenset) and all(isinstance(v, _WORDS) for v in value):
            yield str(key), ", ".join(map(str, value))


def lines_of(node: Node) -> list[str]:
    """The text in the box of a node: its name, then its notes."""
    notes = (f"{key} = {value}" for key, value in notes_of(node))
    return [_shorten(one_line(text), _LONGEST) for text in (name_of(node), *notes)]


def edge_label(data: Any) -> str:
    """The label of an edge in one line; "" for none."""
    return "" if data is None else _shorten(one_line(str(data)), _LONGEST)


def loop_label(edges: Sequence[Edge], node_id: str) -> str | None:
    """The labels of a node's edges to itself; None if it has no such edge."""
    labels = [edge_label(edge.data) for edge in edges if edge.source == edge.target == node_id]
    return ", ".join(filter(None, labels)) if labels else None


def title_of(frame_id: str) -> str:
    """The name of a nested graph without the graphs it is in."""
    return _shorten(one_line(frame_id.rpartition(":")[2]), _LONGEST)


def one_line(text: str) -> str:
    """The text with every run of white space or control characters as one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _shorten(text: str, limit: int) -> str:
    """The text, cut so that it is at most `limit` columns wide."""
    if width_of(text) <= limit:
        return text
    while width_of(text) > limit - 3:
        text = text[:-1]
    return text + "..."


def width_of(text: str) -> int:
    """How many columns a text takes in a font where all letters have the same width."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
