"""A report: the rows of a run, with what they were taken on and with."""

import json
from dataclasses import dataclass
from pathlib import Path

from bench.rows import Row


@dataclass(frozen=True)
class Report:
    """What a run found."""

    machine: dict[str, str]
    versions: dict[str, str]
    rows: list[Row]

    @classmethod
    def read(cls, path: Path) -> "Report":
        """The report that was written to a file."""
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(found["machine"], found["versions"], [Row.from_json(row) for row in found["rows"]])

    def write(self, path: Path) -> None:
        """Write it to a file, as JSON."""
        rows = [row.as_json() for row in self.rows]
        plain = {"machine": self.machine, "versions": self.versions, "rows": rows}
        path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
