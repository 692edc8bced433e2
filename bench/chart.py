"""The chart: how many times less signoff needs, as bars on a logarithmic scale, drawn as SVG."""

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from bench.rows import Row
from bench.table import times

_LABELS, _BARS, _FIGURES = 370, 430, 90
"""The widths of the three columns."""
_LINE, _TOP = 20, 46
_COLOURS = {True: "#2f7d4f", False: "#c0632b"}
"""Of a bar whose budget is met, or missed."""
_INK, _GREY, _FAINT = "#24292f", "#57606a", "#d8dee4"


def chart(rows: list[Row]) -> str:
    """The rows with a budget in ratios; a tick at what they must reach, a thinner one at what they should."""
    shown = [row for row in rows if row.ratio and row.must is not None and not row.is_limit]
    scale = _Scale([mark for row in shown for mark in (row.ratio, row.must, row.stretch) if mark])
    width, height = _LABELS + _BARS + _FIGURES, _TOP + _LINE * len(shown) + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_grid(scale, height),
        *(line for number, row in enumerate(shown) for line in _bar(row, _TOP + _LINE * number, scale)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


class _Scale:
    """Where a ratio is, from left to right: whole powers of ten at both ends, and one in between them."""

    def __init__(self, ratios: list[float]) -> None:
        self.low = floor(log10(min([1, *ratios])))
        self.high = ceil(log10(max([10, *ratios])))

    def at(self, ratio: float) -> float:
        return _LABELS + _BARS * (log10(ratio) - self.low) / (self.high - self.low)


def _grid(scale: _Scale, height: int) -> Iterator[str]:
    yield _text(_LABELS, 16, "times less than LangGraph needs", _INK, "start")
    for power in range(scale.low, scale.high + 1):
        x = scale.at(10**power)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 8}" y2="{height - 6}" stroke="{_FAINT}"/>'
        yield _text(x, _TOP - 13, f"{10**power:,}x", _GREY, "middle")


def _bar(row: Row, y: int, scale: _Scale) -> Iterator[str]:
    assert row.ratio, "a bar has a length"
    yield _text(_LABELS - 8, y + 13, row.name, _INK, "end")
    left, right = sorted((scale.at(1), scale.at(row.ratio)))
    colour = _COLOURS[bool(row.is_met)]
    yield f'<rect x="{left:.1f}" y="{y + 3}" width="{right - left:.1f}" height="12" fill="{colour}"/>'
    for mark, thickness in ((row.must, 2.5), (row.stretch, 1)):
        if mark is not None:
            yield _tick(scale.at(mark), y, thickness)
    yield _text(_LABELS + _BARS + _FIGURES - 6, y + 13, times(row.ratio), _INK, "end")


def _tick(x: float, y: int, thickness: float) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 18}" stroke="{_INK}" stroke-width="{thickness}"/>'


def _text(x: float, y: float, text: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'
