"""The page about speed is what its generator makes of the figures of the last run, and says first what is slower."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.chart import chart
from bench.groups import GROUPS
from bench.notes import NOTES, Note
from bench.page import page
from bench.report import Report
from bench.rows import Row, verdict

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results.json"
PAGE = ROOT / "docs" / "performance.md"

FAST = Row("step", "step, no saver", 1e-5, 4e-4, "s", 25, 50, counts={"calls": (26, 791)})
SLOW = Row("read", "cold read", 2e-3, 1e-3, "s", 1, 2)
BARE = Row("saver", "step, in bare INSERTs", 1.3, 2.6, "x", 1.5, 1.2, is_limit=True)
FREE = Row("compile", "compile 10 nodes", 1e-3, 2e-3, "s")


@pytest.fixture
def report() -> Report:
    return Report({"cores": "2"}, {"signoff": "0.1.0"}, [FAST, SLOW, BARE, FREE])


def test_the_page_is_true_to_the_last_run():
    assert PAGE.read_text(encoding="utf-8") == page(Report.read(RESULTS)), "write it: make bench-page"


def test_the_chart_is_true_to_the_last_run():
    assert PAGE.with_suffix(".svg").read_text(encoding="utf-8") == chart(Report.read(RESULTS).rows)


def test_what_is_slower_is_said_first(report):
    first, *_ = re.findall(r"^## (.*?)\n+(.*?)\n", page(report), re.MULTILINE)
    assert first == ("What is slower than LangGraph", "- cold read: 2.00 ms against 1.00 ms (0.50x)")


def test_nothing_slower_is_said_too(report):
    report.rows.remove(SLOW)
    assert "## What is slower than LangGraph\n\nNothing of what was measured.\n" in page(report)


def test_a_budget_is_kept_or_not(report):
    assert [row.is_met for row in report.rows] == [True, False, True, None]
    assert [row.is_stretch_met for row in report.rows] == [False, False, False, None]
    assert verdict(report.rows) == "must: 2 of 3 met; stretch: 0 of 3 met"


def test_every_row_that_misses_a_mark_is_named_with_it(report):
    missed = page(report).partition("## What is missed, and why\n")[2].partition("\n## ")[0]
    assert "- **step, no saver**: 40.0x, stretch >= 50x" in missed
    assert "- **cold read**: 0.50x, must >= 1x" in missed
    assert "- **step, in bare INSERTs**: 1.30x, stretch <= 1.2" in missed
    assert "compile" not in missed


def test_a_note_stands_below_the_rows_that_it_is_about(report):
    note = Note(["cold read", "step, no saver"], "It is so.", "Everything.")
    missed = page(report, notes=[note]).partition("## What is missed, and why\n\n")[2].partition("\n## ")[0]
    assert missed.startswith(
        "- **cold read**: 0.50x, must >= 1x\n- **step, no saver**: 40.0x, stretch >= 50x\n\n"
        "  It is so.\n\n  Tried: Everything.\n\n- **step, in bare INSERTs**"
    )


def test_a_note_is_not_shown_when_its_rows_miss_nothing(report):
    assert "It is so." not in page(report, notes=[Note(["compile 10 nodes"], "It is so.")])


def test_a_report_is_read_as_it_was_written(report, tmp_path):
    report.write(tmp_path / "results.json")
    assert Report.read(tmp_path / "results.json") == report


def test_the_chart_has_a_bar_for_every_row_with_a_budget_in_ratios(report):
    texts = [element.text for element in ElementTree.fromstring(chart(report.rows)).iter() if element.text]
    assert "step, no saver" in texts
    assert "40.0x" in texts
    assert "compile 10 nodes" not in texts


def test_a_note_is_about_rows_that_there_are():
    names = {row.name for row in Report.read(RESULTS).rows} | {case.name for cases in GROUPS.values() for case in cases}
    assert [name for note in NOTES for name in note.rows if name not in names] == []
