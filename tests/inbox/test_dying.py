"""kill -9 between answer and resume, at each statement: the answer is there, the run continues, once."""

import json
from pathlib import Path

import pytest

from warm import run

DYING = Path(__file__).parent / "dying.py"


@pytest.fixture(scope="module")
def deaths(tmp_path_factory):
    """What was found after each death; the last of them lived."""
    folder = tmp_path_factory.mktemp("dying")
    for command in ("ask", "answer"):
        done = run([DYING, command, folder])
        assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_dies_at_every_statement_and_then_lives(deaths):
    assert [death["was_killed"] for death in deaths] == [True] * (len(deaths) - 1) + [False]
    assert len(deaths) > 10
    assert {death["told"] for death in deaths} == {False, True}
    assert ["review"] in [death["next"] for death in deaths if death["told"]], "it died before the run began"
    assert ["execute"] in [death["next"] for death in deaths], "it died in the middle of the run"


def test_an_answer_that_was_confirmed_is_never_lost(deaths):
    assert [death for death in deaths if death["told"] and death["is_open"]] == []


def test_every_run_ends_with_the_one_answer(deaths):
    assert {json.dumps(death["result"]) for death in deaths} == {'{"said": "execute after yes"}'}
    assert [death["answers"] for death in deaths] == [["ana"]] * len(deaths)


def test_what_was_finished_is_not_done_again(deaths):
    for death in deaths:
        is_finished = not death["next"]
        more = death["done"][len(death["done_before"]) :]
        assert more == ([] if is_finished else ["execute after yes"])
