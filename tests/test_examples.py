"""Every program in examples/ runs by itself, without a terminal, a network or a key."""

import os
from pathlib import Path

import pytest

from warm import run

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))

SHOWN = {
    "approve_by_rule": ["Paid 5 to Bo.  (rule 'small change')", "(approved by Eva)", "Paid 700 to Ana.  (rule of Eva)"],
    "approve_or_reject": ["yes: 500 euros are on their way", "no: nothing was transferred"],
    "book_hotel": ["PAUSED: book_hotel(", "tool: Booked the Plaza for 2.", "Booked: ['Ritz for 1', 'Plaza for 2']"],
    "breakpoints": ["stopped, next is 'publish'", "next is 'summarise'"],
    "deep_agent": ["PAUSED, agent > writer: Write 2 lines to /notes.md", "Run command: wc", r"notes.md: 'fast\n'"],
    "failing_sites": ["raised: old-b.example has moved", "pages: ['apples', 'bananas', 'cherries']"],
    "failing_sites_functional": ["raised: b.example does not answer", "['apples', 'bananas', 'cherries', 'apples']"],
    "follow_agent": ["look_up is looking into the archive", "PAUSED: refund(", "refund: 40 euros are on their way."],
    "incomplete_history": ["refused: ", "pay (id 'call-1a')", "tool: pay was cut off: find out first."],
    "look_inside": ["ordered for 99 euros", "the old branch is still there: ordered for 240 euros"],
    "nested_review": ["reviewer asks: Is it correct?", "manager asks: May it be published?"],
    "parallel_approval": ["PAUSED, batched: Pay Ana 50 euros + Write an email", "done: ['look up Cleo', 'pay 40 Ana']"],
    "refund_review": ["PAUSED: May we do this?", "execute: Done, under one condition"],
    "retries": ["quote, attempt 3", "'weigh' was too slow", "1 Harbour Street, 8 euros"],
    "review_and_edit": ["(sent: Dear Ms Lind, we regret the inconvenience.)"],
    "scripted_model": ["it wants: look_up(", "it says: She lives in Rome."],
    "streaming_chat": ["assistant: I found a room", "PAUSED: Shall I book it?", "assistant: It is booked."],
    "transfer_money": ["Done so far: ['look up Ana']", "Done: ['look up Ana', 'transfer 450', 'email Bo']"],
}
"""What a program shows, among other things; one that is not here has to run, and to show something."""


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_shows_what_happened(program, tmp_path):
    done = run([program], cwd=tmp_path, env={**_environment(), "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.strip()
    for text in SHOWN.get(program.stem, []):
        assert text in done.stdout
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"


def _environment() -> dict[str, str]:
    """Without keys."""
    return {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_what_it_shows(program):
    text = program.read_text(encoding="utf-8")
    assert text.startswith('"""')


def test_the_list_of_what_is_shown_names_examples():
    assert SHOWN.keys() <= {path.stem for path in EXAMPLES}
