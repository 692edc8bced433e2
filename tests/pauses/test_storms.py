"""Promises 3 and 5 with real processes on a server: kill -9, and sleeps for longer than the lease, at every moment.

Each process has a thread of its own and is stopped at one of the moments of its work. There it is suspended until
others have taken its thread over and brought it to its end; then it wakes up, and what it wants to write is stale. With
another thread it is killed there.
"""

import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from .desk import Desk, Process, opened
from .ways import on_thread

MOMENTS = ["fetch market", "fetch risk", "check", "before the question", "after the answer", "pay"]
CLEAN = ["check", "fetch market", "fetch risk", "after the answer: yes", "pay"]


class Victim:
    """A process that has come to a moment of its work, and is stopped there."""

    def __init__(self, folder, place, moment, *, is_async):
        folder.mkdir()
        self.moment = moment
        self.desk = Desk(str(folder), place=place)
        self.process = Process(folder, place=place)
        self.order = {"is_async": is_async, "lease_s": 0.5, "settings": {"durability": "sync"}}

    def begin(self, thread):
        self.thread = self.order["thread"] = f"{self.moment} {thread}"
        self.desk.done_file.unlink(missing_ok=True)
        if self.moment in MOMENTS[:4]:
            self.process.tell(**self.order, input={"log": []}, stop_at=self.moment)
        else:
            self.desk.run({**self.order, "input": {"log": []}})
            self.process.tell(**self.order, answer="yes", stop_at=self.moment)

    def suspend(self):
        assert self.process.hear() == "stopped"
        self.process.process.suspend()

    def kill(self):
        assert self.process.hear() == "stopped"
        self.process.close()

    def wake(self):
        """What it comes to when it goes on where it was stopped."""
        self.process.signal(signal.SIGCONT)
        self.process.tell()
        return self.process.hear()

    def take_over(self):
        """Bring its thread to the end, as soon as it can be had."""
        while isinstance(result := self.desk.run(self.order), str):
            assert result.startswith("ThreadBusy"), result
            threading.Event().wait(0.05)
        return result if self.moment in MOMENTS[4:] else self.desk.run({**self.order, "answer": "yes"})

    def stored(self):
        """All that is stored of the thread."""
        with opened(self.desk.place) as saver:
            return list(saver.list(on_thread(self.thread))), saver.look(on_thread(self.thread))

    def check_done(self):
        """What had ended before the moment was done once; what was under way, twice at most."""
        done = Counter(self.desk.done())
        ended = {"after the answer": MOMENTS[:3], "pay": [*MOMENTS[:3], "after the answer"]}.get(self.moment, [])
        assert {done[what] for what in ended} <= {1}, done
        assert all(1 <= done[what] <= 2 for what in MOMENTS if what != "before the question"), done


@pytest.fixture
def storm(tmp_path, server_place):
    """A victim for each moment, with its own thread; every other one is async."""
    victims = [
        Victim(tmp_path / str(number), server_place, moment, is_async=number % 2 == 1)
        for number, moment in enumerate(MOMENTS)
    ]
    yield victims
    for victim in victims:
        victim.process.close()


def test_nothing_is_lost_and_no_stale_write_is_accepted(storm, record_property):
    sleep_for_longer_than_the_lease(storm, record_property)
    be_killed(storm)


def sleep_for_longer_than_the_lease(storm, record_property):
    for victim in storm:
        victim.begin("slept")
    for victim in storm:
        victim.suspend()
    with ThreadPoolExecutor(len(storm)) as successors:
        assert list(successors.map(Victim.take_over, storm)) == [CLEAN] * len(storm)
    before = [victim.stored() for victim in storm]
    told = [victim.wake() for victim in storm]
    refused = sum(isinstance(one, str) and one.startswith("LeaseLost: Thread") for one in told)
    accepted = sum(victim.stored() != stored for victim, stored in zip(storm, before, strict=True))
    record_property("stale writes refused", refused)
    record_property("stale writes accepted", accepted)
    assert (refused, accepted) == (len(MOMENTS), 0), told
    for victim in storm:
        victim.check_done()


def be_killed(storm):
    for victim in storm:
        victim.begin("killed")
    for victim in storm:
        victim.kill()
    assert [victim.take_over() for victim in storm] == [CLEAN] * len(storm)
    for victim in storm:
        victim.check_done()
