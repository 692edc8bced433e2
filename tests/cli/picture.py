"""A screen as an SVG picture, for the README."""

from html import escape
from itertools import groupby

from pyte import Screen

WIDTH, HEIGHT, MARGIN = 8.4, 18, 14
INK = {"default": "#24292f", "green": "#1a7f37", "red": "#cf222e", "cyan": "#0969da"}


def svg(screen: Screen) -> str:
    """What a screen shows, with its colours."""
    rows = [number for number, line in enumerate(screen.display) if line.strip()]
    count = rows[-1] + 1 if rows else 0
    width, height = screen.columns * WIDTH + 2 * MARGIN, count * HEIGHT + 2 * MARGIN
    lines = [line for number in range(count) for line in _line(screen, number)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}">',
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#f6f8fa" stroke="#d0d7de"/>',
            '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
            *lines,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _line(screen: Screen, number: int) -> list[str]:
    row = screen.buffer[number]
    cells = [(place, row[place]) for place in range(screen.columns)]
    parts = []
    for (ink, is_bold), group in groupby(cells, key=lambda cell: (cell[1].fg, cell[1].bold)):
        run = list(group)
        text = "".join(cell.data for _, cell in run)
        if text.strip():
            parts.append(_text(text, run[0][0], number, ink, is_bold))
    return parts


def _text(text: str, place: int, number: int, ink: str, is_bold: bool) -> str:
    start = len(text) - len(text.lstrip())
    shown = text.strip()
    x, y = MARGIN + (place + start) * WIDTH, MARGIN + (number + 0.75) * HEIGHT
    weight = ' font-weight="bold"' if is_bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" textLength="{len(shown) * WIDTH:g}" fill="{INK.get(ink, INK["default"])}"'
        f'{weight} xml:space="preserve">{escape(shown)}</text>'
    )
