"""Rows of the table: what was measured, what it must be, and what it should be."""

from dataclasses import asdict, dataclass, field
from typing import Any

Pair = tuple[float, float]
"""A figure of signoff and one of LangGraph."""


@dataclass(frozen=True)
class Row:
    """One measurement of both libraries, or of signoff alone, and its budget if it has one."""

    group: str
    name: str
    signoff: float
    langgraph: float | None
    unit: str
    """What the numbers are: seconds `s`, `bytes`, a factor `x`, or the plural of what is counted."""
    must: float | None = None
    stretch: float | None = None
    is_limit: bool = False
    """Whether the budget limits signoff's own figure; otherwise it says how many times less than LangGraph it needs."""
    counts: dict[str, Pair] = field(default_factory=dict)
    """What does not depend on the machine: calls, statements, commits, bytes."""

    @property
    def ratio(self) -> float | None:
        """How many times less signoff needs."""
        return self.langgraph / self.signoff if self.langgraph is not None and self.signoff > 0 else None

    @property
    def is_met(self) -> bool | None:
        """Whether the budget is kept; None if there is none."""
        return self._reaches(self.must)

    @property
    def is_stretch_met(self) -> bool | None:
        return self._reaches(self.stretch)

    @property
    def is_slower(self) -> bool:
        """Whether LangGraph needs less."""
        return self.langgraph is not None and not self.is_limit and self.langgraph < self.signoff

    def _reaches(self, mark: float | None) -> bool | None:
        if mark is None:
            return None
        if self.is_limit:
            return self.signoff <= mark
        return self.ratio is not None and self.ratio >= mark

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        marks = {"ratio": self.ratio, "is_met": self.is_met, "is_stretch_met": self.is_stretch_met}
        return {**asdict(self), **marks}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Row":
        """The row of plain data; what follows from the rest is worked out anew."""
        counts = {name: (ours, theirs) for name, (ours, theirs) in row["counts"].items()}
        names = ("group", "name", "signoff", "langgraph", "unit", "must", "stretch", "is_limit")
        return cls(**{name: row[name] for name in names}, counts=counts)


def verdict(rows: list[Row]) -> str:
    """The last line: how many budgets are kept."""
    must = [row.is_met for row in rows if row.is_met is not None]
    stretch = [row.is_stretch_met for row in rows if row.is_stretch_met is not None]
    return f"must: {sum(must)} of {len(must)} met; stretch: {sum(stretch)} of {len(stretch)} met"
