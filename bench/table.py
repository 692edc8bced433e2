"""The table, as text: a line a row."""

from bench.rows import Row

COUNTS = ("calls", "statements", "commits", "bytes")

_WIDTHS = (58, 10, 10, 8, 8, 6, 8, 6, 15, 11, 9, 17)
_HEAD = ("", "signoff", "langgraph", "ratio", "must", "", "stretch", "", "Python calls", "SQL", "commits", "bytes")
_VERDICTS = {True: "met", False: "MISSED", None: ""}


def head() -> str:
    """The line above the rows."""
    return _line(_HEAD)


def line(row: Row) -> str:
    """A row as a line of the table."""
    counts = (count(row, name) for name in COUNTS)
    must, stretch = (_VERDICTS[row.is_met], _VERDICTS[row.is_stretch_met])
    return _line((row.name, *figures(row), mark(row, row.must), must, mark(row, row.stretch), stretch, *counts))


def figures(row: Row) -> tuple[str, str, str]:
    """The figures of signoff and LangGraph, and their ratio, as text."""
    ratio = "" if row.ratio is None else times(row.ratio)
    theirs = "" if row.langgraph is None else shown(row.langgraph, row.unit)
    return shown(row.signoff, row.unit), theirs, ratio


def times(ratio: float) -> str:
    """A ratio as text, with as many digits as say something."""
    digits = 2 if ratio < 2 else 1 if ratio < 1000 else 0
    return f"{ratio:,.{digits}f}x"


def mark(row: Row, value: float | None) -> str:
    """A budget as text."""
    if value is None:
        return ""
    if not row.is_limit:
        return f">= {value:g}x"
    return f"<= {shown(value, row.unit)}" if row.unit == "s" else f"<= {value:g}"


def count(row: Row, name: str) -> str:
    """What was counted, of signoff and of LangGraph."""
    if name not in row.counts:
        return ""
    return " / ".join(_counted(value) for value in row.counts[name])


def shown(value: float, unit: str) -> str:
    """A figure as text."""
    match unit:
        case "s":
            return _seconds(value)
        case "x":
            return f"{value:.2f}x"
    return _counted(value)


def _seconds(value: float) -> str:
    if value < 1e-3:
        return f"{value * 1e6:.1f} µs"
    digits = 2 if value < 1e-2 else 1 if value < 1e-1 else 0
    return f"{value * 1e3:,.{digits}f} ms"


def _counted(value: float) -> str:
    return f"{value:,.1f}" if 0.05 <= value < 10 and value != round(value) else f"{value:,.0f}"


def _line(cells: tuple[str, ...]) -> str:
    numbers = [f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)][1:]
    return " ".join((f"{cells[0]:<{_WIDTHS[0]}}", *numbers)).rstrip()
