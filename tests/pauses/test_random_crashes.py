"""Promises 2 and 5 at random: people at work as in test_random_people, and processes that are killed under them.

A process is killed before or after anything that it does, or sends to its store; another one takes over, and whoever
was at work does the same once more. What somebody has answered is not asked again, what has finished is not done again,
and the index of open questions has what the thread asks.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from signoff.checkpoint.questions import Wanted
from signoff.engine.ids import answer_id
from signoff.errors import SignoffError
from signoff.inbox import Inbox
from signoff.testing import memory, sqlite
from signoff.testing._process import Crash
from signoff.testing._scene import Scene
from signoff.testing._wires import laid

from .test_random_people import People
from .ways import CONFIG

LONG = 40
"""Most of what people do is over after so many moments, at each of which a process may be killed."""


class Survivors(People):
    """People whose processes are killed now and then."""

    def __init__(self, seed: int, make_store: Any) -> None:
        world = SimpleNamespace(build=lambda saver: None, lease_s=30.0, is_async=False)
        self.scene, self.killed = Scene(world, make_store), 0
        self.process = self.scene.start("first")
        self.seed = seed
        super().__init__(seed)

    def open(self) -> None:
        """Open the graph, as another process would."""
        self.saver = self.process.saver
        super().open()

    def kill(self) -> None:
        """Another process takes over. Every third one was on another machine: nobody sees that it is gone."""
        self.killed += 1
        self.scene.end(self.process)
        self.scene.pass_time(2 * self.scene.world.lease_s)
        self.process = self.scene.start(f"after {self.killed}")
        self.process.is_seen_dead = self.killed % 3 != 2
        self.open()

    def begin(self) -> None:
        with self.process.at_work():
            self.app.invoke({"a": 1, "b": 2, "c": 3}, CONFIG)

    def work_on(self) -> None:
        """One of them does something, and does it again if the process was killed: up to twice."""
        moments = [self.random.randrange(LONG), self.random.randrange(LONG), None]
        before = self.random.getstate()
        for moment in moments:
            self.random.setstate(before)
            self.process.crash_at = None if moment is None else self.process.passed + moment
            try:
                with self.process.at_work():
                    self.work()
                break
            except Crash:
                self.kill()
            finally:
                self.process.crash_at = None

    def work(self) -> None:
        if self.seen and self.random.random() < 0.2:
            id, words = self.random.choice([*self.seen][-4:])
            Inbox(self.saver).answer(id, f"to {words}")
        else:
            super().work()

    def look(self) -> None:
        super().look()
        state = self.app.get_state(CONFIG)
        self.scene.witness.see_questions(state, self.saver.find_questions(Wanted()))
        answered = [one.value for one in state.interrupts if answer_id(one.id) in self.scene.witness._answered]
        assert answered == [], f"seed {self.seed}: it is asked again, though it was answered"

    def finish(self) -> None:
        with self.process.at_work():
            super().finish()
        self.look()
        self.scene.end(self.process)


def survive(seed: int, make_store: Any) -> int:
    """Play a program to its end, as the seed says. Returns how many processes were killed."""
    people = Survivors(seed, make_store)
    people.begin()
    for _ in range(people.random.randint(2, 6)):
        people.look()
        try:
            people.work_on()
        except SignoffError:
            pass  # it came too late, or for nothing
    people.finish()
    assert [*people.wrong, *people.scene.witness.violations] == [], f"seed {seed}"
    return people.killed


# Some that have found something once, and whatever comes.
FOUND = [1137, 1149, 2514]


@pytest.mark.parametrize("seeds", [FOUND, range(20), range(20, 40)], ids=str)
def test_whoever_is_killed_nothing_is_lost_and_nothing_done_twice(seeds):
    with laid(is_async=False):
        assert sum(survive(seed, memory) for seed in seeds) > len(seeds)


def test_so_it_is_in_a_file(tmp_path: Path):
    with laid(is_async=False):
        assert sum(survive(seed, sqlite(tmp_path)) for seed in range(40, 44)) > 4
