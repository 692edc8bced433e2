"""Scenarios 21 to 26 on every saver, sync and async, and answered in another process."""

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from pauses.conftest import place_on
from pauses.ways import SERVER_WAYS, STORAGES, WAYS, OnServer
from warm import run

from .agent_scenes import SCENES, Play, check


@pytest.mark.parametrize("way", [*WAYS, *SERVER_WAYS])
def test_agents_ask_first_on_every_saver(way, request, tmp_path):
    name, _, driver = way.partition("-")
    storage = STORAGES[name](tmp_path) if name in STORAGES else OnServer(place_on(name, request))
    for scenario, scene in SCENES.items():
        play = Play(scenario, storage, tmp_path, is_async=driver == "async")
        play.begin()
        assert play.done == sorted(scene.before), f"scenario {scenario}, before an answer"
        check(scenario, play.finish(), [*scene.before, *scene.after])


def test_another_process_answers_them_on_every_saver(request, tmp_path):
    places = [("sqlite", str(tmp_path / "threads.db")), place_on("postgres", request), place_on("redis", request)]
    names = ["21 edit", "22", "23", "24", "25", "26"]
    ways = cycle((False, True, True, False, False, True, True))  # each scene in both, on one saver or another
    jobs = [_begun(name, place, tmp_path, next(ways)) for place in places for name in names]
    program = ["-m", "scenarios.agent_scenes"]
    done = run(program, cwd=Path(__file__).parents[1], input=json.dumps(jobs), timeout=120)
    assert done.returncode == 0, done.stderr
    for (name, *_), told in zip(jobs, json.loads(done.stdout), strict=True):
        check(name, told, SCENES[name].after)


def _begun(name: str, place: Any, tmp_path: Any, is_async: bool) -> Any:
    """A scene that waits for an answer, as the other process is told of it."""
    folder = tmp_path / place[0]
    folder.mkdir(exist_ok=True)
    play = Play(name, OnServer(place), folder, is_async=is_async)
    play.begin()
    assert play.done == sorted(SCENES[name].before)
    return name, place, str(folder), is_async
