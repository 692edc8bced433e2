"""Scenario 17: kill -9 at any moment, start again, invoke(None): same result, no finished task repeated."""

from collections import Counter

import pytest

from pauses.desk import Desk, Process

CLEAN = ["check", "fetch market", "fetch risk", "after the answer: yes", "pay"]
BEFORE = {"fetch market": [], "fetch risk": ["fetch market"], "check": [], "before the question": CLEAN[:3]}
AFTER = {"after the answer": CLEAN[:3], "pay": [*CLEAN[:3], "after the answer"]}


@pytest.mark.parametrize("moment", [*BEFORE, *AFTER])
def test_a_killed_process_loses_nothing_that_was_finished(tmp_path, moment):
    desk, process = Desk(str(tmp_path)), Process(tmp_path, stop_at=moment)
    settings = {"settings": {"durability": "sync"}, "is_async": moment in ("fetch risk", "pay")}
    process.tell(thread="1", input={"log": []}, **settings)
    if moment in AFTER:
        process.hear()
        process.tell(thread="1", answer="yes", **settings)
    assert process.hear() == "stopped"
    process.close()
    result = desk.run({"thread": "1", **settings})
    if moment in BEFORE:
        result = desk.run({"thread": "1", "answer": "yes", **settings})
    assert result == CLEAN
    done = Counter(desk.done())
    finished = {**BEFORE, **AFTER}[moment]
    assert {work: done[work] for work in finished} == dict.fromkeys(finished, 1)
