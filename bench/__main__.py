"""`python -m bench`: measure, print the table, and say how many budgets are kept."""

import argparse
import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from bench import agents, counts, importing, page
from bench.counting import counted
from bench.groups import GROUPS
from bench.library import Library, both
from bench.machine import load, machine, versions
from bench.measuring import FULL, QUICK
from bench.postgres import server_of_this_run
from bench.report import Report
from bench.rows import Row, verdict
from bench.table import head, line

ALL = [importing.GROUP, counts.GROUP, *GROUPS, agents.GROUP]


def main() -> None:
    """Measure what the command line asks for."""
    asked = _arguments()
    with server_of_this_run():
        report = Report.read(asked.read) if asked.read else _measured(asked)
    if asked.json is not None:
        report.write(asked.json)
    if asked.page is not None:
        page.write(report, asked.page)
    print(verdict(report.rows))


def _measured(asked: argparse.Namespace) -> Report:
    started, busy = time.monotonic(), load()
    print(f"{', '.join(f'{name} {version}' for name, version in versions().items())}\n\n{head()}", flush=True)
    rows = []
    with asyncio.Runner() as runner:
        for row in _rows(asked.only or ALL, both(runner), is_quick=asked.quick):
            print(line(row), flush=True)
            rows.append(row)
    print(f"\n{(time.monotonic() - started) / 60:.1f} minutes")
    return Report({**machine(), **busy} if asked.json or asked.page else {}, versions(), rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Compare signoff with LangGraph.")
    parser.add_argument("--quick", action="store_true", help="the rows with a budget that take no long, less precise")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    parser.add_argument("--page", type=Path, metavar="FILE", help="also write a page about them, and a chart beside it")
    parser.add_argument(
        "--from", dest="read", type=Path, metavar="FILE", help="take the rows of a file, measure nothing"
    )
    parser.add_argument("--only", action="append", choices=ALL, metavar="GROUP", help=", ".join(ALL))
    return parser.parse_args()


def _rows(groups: list[str], libraries: list[Library], *, is_quick: bool) -> Iterator[Row]:
    precision = QUICK if is_quick else FULL
    if importing.GROUP in groups:
        yield from importing.rows(precision)
    if counts.GROUP in groups:
        yield from counts.rows()
    compared = [group for group in groups if group in GROUPS]
    found = counted(compared) if compared and not is_quick else {}
    for group in compared:
        for case in GROUPS[group]:
            if case.is_quick or not is_quick:
                yield case.row(group, libraries, precision, found.get(case.name, {}))
        for lib in libraries:
            lib.close()
    if agents.GROUP in groups and not is_quick:
        yield from agents.rows()


if __name__ == "__main__":
    main()
