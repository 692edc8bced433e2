"""The page docs/performance.md, written from a report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill

from bench.chart import chart
from bench.notes import NOTES, Note
from bench.report import Report
from bench.rows import Row, verdict
from bench.table import COUNTS, count, figures, mark

_OPENING = """\
# Speed, side by side

Written by `make bench` from its last run ([the figures](../bench/results.json)); do not edit.

The same programs run on signoff and on LangGraph, in one process, taking turns. A ratio says how many times less
signoff needs: the CPU time of all threads, or the time on the wall where waiting is the point. Ratios differ less
from machine to machine than times do; counts do not differ.
"""

_METHOD = """\
## How it is measured

- Both libraries take turns, so a change of the machine's load hits both. A figure is the median of the rounds; what is
  slow is measured fewer times, the threads that wait only once.
- A step is the difference between a run of 110 nodes and one of 10 (35 and 5 where a disk is waited for), so that
  what a call costs is left out.
- Savers are opened as their documentation says, SQLite with the same `synchronous` on both, Postgres with `fsync` on.
- `exit`, `async` and `sync` are the durability. With `sync` on a disk the wall's clock is read, else the CPU's.
- A turn is an `invoke` with two messages of 200 characters. *Warm*: this process has kept the conversation going.
  *Cold*: a new connection and a new saver; opening them is left out.
- Python calls count those of every thread, and the resumption of a generator as one. A commit is a transaction that
  wrote something. SQL counts statements; for Postgres, messages with SQL, of which one may hold several statements.
- `must` and `stretch` are what the project asks of itself. `make bench-quick` measures most rows with a budget in a
  minute; `make check` fails when a count of signoff grows.
"""

_CHECKS = {True: " ✓", False: " ✗", None: ""}


def write(report: Report, path: Path) -> None:
    """Write the page, and the chart beside it."""
    path.write_text(page(report, path.stem), encoding="utf-8")
    path.with_suffix(".svg").write_text(chart(report.rows), encoding="utf-8")


def page(report: Report, name: str = "performance", notes: Sequence[Note] = NOTES) -> str:
    """The page as Markdown."""
    picture = f"![How many times less signoff needs, row by row]({name}.svg)\n"
    parts = [_OPENING, *_slower(report.rows), *_summary(report.rows), picture, *_missed(report.rows, notes)]
    parts += [*_tables(report.rows), _METHOD, *_place(report)]
    return "\n".join(parts)


def _slower(rows: list[Row]) -> Iterator[str]:
    yield "## What is slower than LangGraph\n"
    slower = [row for row in rows if row.is_slower]
    for row in slower:
        ours, theirs, ratio = figures(row)
        yield f"- {row.name}: {ours} against {theirs} ({ratio})"
    yield "" if slower else "Nothing of what was measured.\n"


def _summary(rows: list[Row]) -> Iterator[str]:
    yield "## In short\n"
    yield f"**{verdict(rows)}.** The thick tick is the must, the thin one the stretch mark.\n"


def _missed(rows: list[Row], notes: Sequence[Note]) -> Iterator[str]:
    """First the notes, then what is missed without a word about it."""
    missed = {row.name: row for row in rows if row.is_met is False or row.is_stretch_met is False}
    if not missed:
        return
    yield "## What is missed, and why\n"
    for note in notes:
        if missed.keys() & set(note.rows):
            yield from _noted(note, missed)
    noted = {name for note in notes for name in note.rows}
    unexplained = [row for name, row in missed.items() if name not in noted]
    for row in unexplained:
        yield f"- {_miss(row)}"
    if unexplained:
        yield ""


def _noted(note: Note, missed: dict[str, Row]) -> Iterator[str]:
    for name in note.rows:
        if name in missed:
            yield f"- {_miss(missed[name])}"
    yield f"\n{_paragraph(note.evidence)}\n"
    if note.tried:
        yield f"{_paragraph(f'Tried: {note.tried}')}\n"


def _paragraph(text: str) -> str:
    return fill(text, 118, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _miss(row: Row) -> str:
    ours, _, ratio = figures(row)
    kind, wanted = ("must", row.must) if row.is_met is False else ("stretch", row.stretch)
    return f"**{row.name}**: {ours if row.is_limit else ratio}, {kind} {mark(row, wanted)}"


def _tables(rows: list[Row]) -> Iterator[str]:
    for group in dict.fromkeys(row.group for row in rows):
        ours = [row for row in rows if row.group == group]
        names = [name for name in COUNTS if any(name in row.counts for row in ours)]
        titles = {"calls": "Python calls", "statements": "SQL"}
        yield f"## {group.capitalize()}\n"
        yield "| | signoff | LangGraph | ratio | must | stretch |" + "".join(f" {titles.get(n, n)} |" for n in names)
        yield "|---|--:|--:|--:|--:|--:|" + "--:|" * len(names)
        yield from (_table_row(row, names) for row in ours)
        yield ""


def _table_row(row: Row, names: list[str]) -> str:
    must = mark(row, row.must) + _CHECKS[row.is_met]
    stretch = mark(row, row.stretch) + _CHECKS[row.is_stretch_met]
    cells = [row.name, *figures(row), must, stretch, *(count(row, name) for name in names)]
    return f"| {' | '.join(cells)} |"


def _place(report: Report) -> Iterator[str]:
    yield "## The machine\n"
    yield from (f"- {name}: {value}" for name, value in report.machine.items())
    yield f"- libraries: {', '.join(f'{name} {number}' for name, number in report.versions.items())}\n"
