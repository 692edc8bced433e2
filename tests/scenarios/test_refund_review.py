"""Scenario 1: a support desk asks a person before it refunds."""

import os
import pty
import select
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from signoff.types import Command

from .conftest import EXAMPLES

DECISION = {"decision": "approved_with_conditions", "condition": "the item comes back"}
EXAMPLE = [sys.executable, str(EXAMPLES / "refund_review.py")]


@pytest.fixture
def desk(open_app, example):
    return open_app(example("refund_review").build())


def test_a_refund_pauses_for_a_person(desk):
    chunks = desk.stream({"request": "I want a refund", "history": []})
    assert [list(chunk) for chunk in chunks] == [["analyze"], ["__interrupt__"]]
    assert chunks[1]["__interrupt__"][0].value["request"] == "I want a refund"


def test_the_waiting_thread_says_what_it_waits_for(desk):
    desk.invoke({"request": "I want a refund", "history": []})
    state = desk.get_state()
    assert state.next == ("human_review",)
    assert state.values == {
        "request": "I want a refund",
        "risk": "high",
        "history": ["analyze: a refund needs a person"],
    }
    assert datetime.fromisoformat(state.created_at) <= datetime.now(UTC)
    (question,) = state.tasks[0].interrupts
    assert question.value["options"] == ["approved", "approved_with_conditions", "rejected"]
    assert state.interrupts == (question,)


def test_a_decision_finishes_it(desk):
    desk.invoke({"request": "I want a refund", "history": []})
    chunks = desk.stream(Command(resume=DECISION))
    assert [list(chunk) for chunk in chunks] == [["human_review"], ["execute"]]
    state = desk.get_state()
    assert (state.next, state.interrupts) == ((), ())
    assert state.values["decision"] == DECISION
    assert state.values["reply"] == "Done, under one condition: the item comes back."


def test_the_conversation_is_complete_and_in_order(desk):
    desk.invoke({"request": "I want a refund", "history": []})
    result = desk.invoke(Command(resume=DECISION))
    assert result["history"] == [
        "analyze: a refund needs a person",
        "human_review: approved_with_conditions",
        "execute: Done, under one condition: the item comes back.",
    ]


def test_a_request_without_risk_passes_without_a_question(desk):
    chunks = desk.stream({"request": "Where is my parcel?", "history": []})
    assert [list(chunk) for chunk in chunks] == [["analyze"], ["execute"]]
    assert desk.get_state().values["reply"] == "Done."


def test_the_program_runs_without_a_terminal():
    done = subprocess.run(EXAMPLE, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert "PAUSED: May we do this?" in done.stdout
    assert "answer: {'decision': 'approved_with_conditions'" in done.stdout
    assert "execute: Done, under one condition" in done.stdout


def test_in_a_terminal_the_person_decides():
    terminal, its_end = pty.openpty()
    with subprocess.Popen(EXAMPLE, stdin=its_end, stdout=its_end, stderr=its_end) as program:
        os.close(its_end)
        asked = read(terminal, until="your decision [2]: ")
        os.write(terminal, b"1\n")
        answered = read(terminal)
        assert program.wait(timeout=30) == 0
    os.close(terminal)
    assert "3  rejected" in asked
    assert "answer: {'decision': 'approved'}" in answered
    assert "execute: Done." in answered


def read(terminal: int, until: str | None = None) -> str:
    """What a program shows in its terminal, up to a text or to its end."""
    shown = b""
    while until is None or until.encode() not in shown:
        ready, _, _ = select.select([terminal], [], [], 30)
        assert ready, f"nothing more came after {shown!r}"
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the end: nobody holds the other side any more
            break
    return shown.decode()
