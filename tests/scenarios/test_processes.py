"""Scenarios 15 and 16: other processes answer and read; of four that answer at once, one wins."""

from warm import run

from .conftest import EXAMPLES


def shown_by(name):
    done = run([EXAMPLES / f"{name}.py"])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_process_asks_another_answers_a_third_reads():
    shown = shown_by("another_process")
    assert "May Ana take 3 days off? yes" in shown
    assert "Ana: approved <- waiting <- new" in shown
    assert "Ben: declined <- waiting <- new" in shown


def test_four_people_click_and_one_transfer_is_made():
    shown = shown_by("four_people")
    assert "transfers: 1, winners: 1" in shown
    said = [
        line.partition(": ")[2] for line in shown.splitlines() if line.startswith(("ana:", "ben:", "cleo:", "dan:"))
    ]
    assert sorted(said)[-1] == "done"
    assert set(said) <= {"done", "AlreadyAnswered", "ThreadBusy"}
    assert "eve, a day later: Question" in shown
