"""Rows of the table: what was measured, and whether it is what it must be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measurement of both libraries, or of signoff alone, and its budget if it has one."""

    name: str
    signoff: float
    langgraph: float | None
    unit: str
    """What the numbers are: seconds `s`, a factor `x`, or the plural of what is counted."""
    at_least: float | None = None
    """How many times less than LangGraph signoff must need."""
    at_most: float | None = None
    """What signoff's number must not exceed."""
    calls: tuple[float, float] | None = None
    """The Python calls of signoff and of LangGraph for the same thing."""

    @property
    def ratio(self) -> float | None:
        return self.langgraph / self.signoff if self.langgraph is not None and self.signoff > 0 else None

    @property
    def is_met(self) -> bool | None:
        """Whether the budget is kept; None if there is none."""
        if self.at_least is not None:
            return self.ratio is not None and self.ratio >= self.at_least
        return self.signoff <= self.at_most if self.at_most is not None else None

    @property
    def must(self) -> str:
        if self.at_least is not None:
            return f">= {self.at_least:g}x"
        return f"<= {self.at_most:g}" if self.at_most is not None else ""

    def as_json(self) -> dict[str, object]:
        """The row as plain data."""
        return {
            "name": self.name,
            "unit": self.unit,
            "signoff": self.signoff,
            "langgraph": self.langgraph,
            "ratio": self.ratio,
            "must": self.must,
            "is_met": self.is_met,
            "calls": self.calls,
        }


_WIDTHS = (44, 12, 12, 9, 9, 8, 16)
_HEAD = ("", "signoff", "langgraph", "ratio", "must", "", "Python calls")
_VERDICTS = {True: "met", False: "MISSED", None: ""}


def head() -> str:
    """The line above the rows."""
    return _line(_HEAD)


def line(row: Row) -> str:
    """A row as a line of the table."""
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}x"
    calls = "" if row.calls is None else f"{row.calls[0]:,.0f} / {row.calls[1]:,.0f}"
    theirs = "" if row.langgraph is None else _shown(row.langgraph, row.unit)
    return _line((row.name, _shown(row.signoff, row.unit), theirs, ratio, row.must, _VERDICTS[row.is_met], calls))


def verdict(rows: list[Row]) -> str:
    """The last line: how many budgets are kept."""
    judged = [row for row in rows if row.is_met is not None]
    return f"must: {sum(bool(row.is_met) for row in judged)} of {len(judged)} met"


def _line(cells: tuple[str, ...]) -> str:
    numbers = [f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)][1:]
    return " ".join((f"{cells[0]:<{_WIDTHS[0]}}", *numbers)).rstrip()


def _shown(value: float, unit: str) -> str:
    match unit:
        case "s":
            return f"{value * 1e3:.2f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} µs"
        case "x":
            return f"{value:.2f}x"
    return f"{value:,.0f}"
