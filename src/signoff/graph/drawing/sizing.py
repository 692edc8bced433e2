"""How much room things take: texts, boxes and frames."""

from signoff.graph.drawing.blocks import Block, Grid, Kind
from signoff.graph.drawing.labels import lines_of, width_of
from signoff.graph.drawing.parts import Node

__all__ = ["box", "frame", "text"]


def text(words: str, kind: Kind, grid: Grid) -> Block:
    """The block of a line of text."""
    return _centred(width_of(words) * grid.letter + 2 * grid.text_pad, grid.line, kind)


def box(node: Node, lines: int, loop_label: str | None, grid: Grid) -> Block:
    """The block of a node that so many lines touch on one side; with a loop_label if it leads to itself."""
    words = lines_of(node)
    for_words = max(map(width_of, words)) * grid.letter + 2 * grid.pad_x
    # One port more than there are lines, so that the main line can be straight and the others move aside.
    for_lines = grid.port * lines + 1 + 2 * grid.inset if lines > 1 else 0
    body = _centred(max(for_words, for_lines), len(words) * grid.line + 2 * grid.pad_y, "box")
    if loop_label is None:
        return body
    loop = grid.loop + width_of(loop_label) * grid.letter
    return Block(body.left, body.right + loop, body.height, "box", loop)


def frame(width: int, height: int, grid: Grid) -> Block:
    """The block of a frame whose contents take this much room."""
    return _centred(width + 2 * grid.frame_x, height + 2 * grid.frame_y, "frame")


def _centred(width: int, height: int, kind: Kind) -> Block:
    return Block(width // 2, width - width // 2, height, kind)
