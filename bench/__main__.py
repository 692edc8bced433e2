"""`python -m bench`: measure, print the table, and say how many budgets are kept."""

import argparse
import asyncio
import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from bench import importing
from bench.counting import counted
from bench.groups import GROUPS
from bench.library import OURS, THEIRS, both
from bench.measuring import FULL, QUICK, Precision
from bench.rows import Row, head, line, verdict


def main() -> None:
    """Measure what the command line asks for."""
    asked = _arguments()
    print(f"{_versions()}\n\n{head()}")
    rows = []
    for row in _rows(asked.only or ["import", *GROUPS], QUICK if asked.quick else FULL):
        print(line(row), flush=True)
        rows.append(row)
    print(f"\n{verdict(rows)}")
    if asked.json is not None:
        report = {"versions": _versions(), "rows": [row.as_json() for row in rows]}
        asked.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Compare signoff with LangGraph.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    parser.add_argument(
        "--only", action="append", choices=["import", *GROUPS], metavar="GROUP", help=f"import, {', '.join(GROUPS)}"
    )
    return parser.parse_args()


def _versions() -> str:
    libraries = (f"{name} {version(name)}" for name in (OURS, THEIRS))
    return f"Python {platform.python_version()}, {', '.join(libraries)}"


def _rows(groups: list[str], precision: Precision) -> Iterator[Row]:
    with asyncio.Runner() as runner:
        libraries = both(runner)
        if "import" in groups:
            yield from importing.rows(precision)
        programs = [group for group in groups if group in GROUPS]
        counts = counted(programs) if programs else {}
        for case in (case for group in programs for case in GROUPS[group]):
            yield case.row(libraries, precision, counts.get(case.name))


if __name__ == "__main__":
    main()
