"""The words of the layout: blocks that take room, ties between them, and the distances of a grid.

All numbers are whole and all ranges half open, so that the same layout serves a grid of letters and a plane
of pixels.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["BEND", "Block", "Grid", "Kind", "Link", "Point", "Tie", "Web"]

Point = tuple[int, int]

Kind = Literal["box", "frame", "label", "bend", "top", "bottom", "title"]
"""What a block is: a node, a nested graph, the words on a line, a line that passes, a line through the upper
or the lower border of the frame, or the title of the frame."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The distances of a picture."""

    letter: int  # the width of a letter
    line: int  # the height of a line of text
    text_pad: int  # from a text without a box to its neighbours
    pad_x: int  # from the text to the left and right border of a box
    pad_y: int  # from the text to the upper and lower border of a box
    inset: int  # from the corner of a box to the first line that may touch it
    port: int  # from a line to the next that touches the same side
    gap: int  # between two blocks of a row
    lead: int  # below a row, before the first track
    track: int  # from track to track
    tail: int  # above a row that arrows end in
    frame_x: int  # from the left and right border of a frame to what is in it
    frame_y: int  # from the upper and lower border of a frame to what is in it
    loop: int  # the room for an arrow from a box to itself


@dataclass(frozen=True, slots=True)
class Block:
    """Something that takes room in a row: `left` columns before its anchor, `right` columns from it on."""

    left: int
    right: int
    height: int
    kind: Kind = "box"
    loop: int = 0  # how many columns of `right` are not the box, but an arrow from it to itself

    @property
    def is_line(self) -> bool:
        """Whether the block only keeps room for a line."""
        return self.kind in ("bend", "top", "bottom")


BEND = Block(0, 1, 0, "bend")
"""The room that a line needs in a row it passes."""


class Tie(NamedTuple):
    """A line from an upper to a lower block, which may have a label near one of its ends.

    `upper_at` and `lower_at` say where it touches them, counted from the anchor; None: wherever it fits.
    """

    upper: int
    lower: int
    upper_at: int | None = None
    lower_at: int | None = None
    label: Block | None = None
    label_is_low: bool = False


class Link(NamedTuple):
    """The piece of a tie from one row to the next."""

    upper: int
    lower: int
    upper_at: int | None
    lower_at: int | None


class Web(NamedTuple):
    """Blocks in rows (also those that only keep room for lines), and the way of each tie through them."""

    blocks: list[Block]
    rows: list[list[int]]
    ways: list[list[int]]
    links: list[Link]
