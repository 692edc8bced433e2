"""A program of its own: an agent in processes that are killed with kill -9, again and again, on one SQLite file.

`python -m agents.killed FOLDER SEED KILLS` prints as JSON, for one conversation after the other until there were so
many kills: what was started, what may start, and what was started again though it had finished.
"""

import importlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.desk import USER, check_transcript
from agents.test_crashes import Story
from agents.test_properties import make
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.types import Command

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Noted(Story):
    """What bodies and the person do is noted in a file, which outlives the process."""

    file: Path

    def body(self, name: str, n: int) -> str:
        self.note(f"start {name} {n}")
        self.note(f"end {name} {n}")
        return f"{name} {n}"

    def decide(self, action: Any) -> Any:
        before = set(self.may_run)
        said = super().decide(action)
        for name, n in self.may_run.keys() - before:
            self.note(f"may {name} {n}")
        return said

    def note(self, line: str) -> None:
        with self.file.open("a") as file:
            file.write(line + "\n")

    def counted(self, what: str) -> Counter[str]:
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return Counter(line.removeprefix(f"{what} ") for line in lines if line.startswith(what))


def story_of(seed: int, file: Path) -> Noted:
    luck = random.Random(seed)
    turns = [[luck.choice(["pay", "mail", "look"]) for _ in range(luck.randint(1, 3))] for _ in range(4)]
    kinds = [luck.choice(["approve", "edit", "other", "reject"]) for _ in range(5)]
    story = Noted(turns, kinds, set(), luck.choice(["batched", "per_call"]))
    story.file = file
    return story


def work(app: Any, story: Noted, path: str) -> None:
    """Go on with the thread until it rests, as any process would."""
    with SqliteSaver.from_conn_string(path) as saver:
        app.checkpointer = saver
        state = app.get_state(CONFIG)
        input: Any = USER if not state.values else None
        while True:
            if state.interrupts:
                input = Command(resume={one.id: story.answer(one) for one in state.interrupts})
            app.invoke(input, CONFIG)
            input, state = None, app.get_state(CONFIG)
            if not state.next:
                return


def stored(path: str) -> set[str]:
    """The calls whose results are in the transcript."""
    with SqliteSaver.from_conn_string(path) as saver:
        saved = saver.get_tuple(CONFIG)
    messages = saved.checkpoint["channel_values"].get("messages", []) if saved else []
    return {message.content for message in messages if message.type == "tool"}


def forked(app: Any, story: Noted, path: str, kill_after_s: float | None) -> bool:
    """Work in a process, which is killed after a while; whether it came to the end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(app, story, path)
            code = 0
        finally:
            os._exit(code)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), f"a process ended with {status}"
    return status == 0


def warm_up(app: Any, story: Noted, folder: Path) -> None:
    """Load all that a process needs, so that those to be killed are soon at work. Another one finds out what that is:
    threads that the work leaves behind would not survive a fork."""
    listed = folder / "modules.txt"
    child = os.fork()
    if child == 0:
        try:
            work(app, story, str(folder / "warm.db"))
            listed.write_text("\n".join(sys.modules))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    story.file.unlink()
    for name in listed.read_text().split():
        if name not in sys.modules and name.isascii() and "__main__" not in name:
            with suppress(ImportError):
                importlib.import_module(name)


def conversation(folder: Path, seed: int, most_kills: int) -> dict[str, Any]:
    """An agent's work from begin to end, in processes that are killed so often at most."""
    folder.mkdir()
    path, story, luck = str(folder / "threads.db"), story_of(seed, folder / "noted.txt"), random.Random(seed)
    app: Any = make(story, None)  # before the processes begin, so that they are killed at work
    warm_up(app, story, folder)
    repeated, kills = [], 0
    while kills < most_kills:
        finished, before = stored(path), story.counted("start")
        if forked(app, story, path, luck.uniform(0.002, 0.06)):
            break
        kills += 1
        repeated += [call for call in finished if story.counted("start")[call] != before[call]]
    else:
        assert forked(app, story, path, None), "the last one is not killed"
    with SqliteSaver.from_conn_string(path) as saver:
        app.checkpointer = saver
        check_transcript(app.get_state(CONFIG).values["messages"])
    free = {f"{name} {n}" for turn in story.script for name, n in turn if name == "look"}
    may_start = sorted(free | story.counted("may").keys())
    return {"kills": kills, "repeated": repeated, "started": sorted(story.counted("start")), "may_start": may_start}


def main(folder: Path, seed: int, kills: int) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    while (left := kills - sum(one["kills"] for one in told)) > 0:
        told.append(conversation(folder / str(seed), seed, left))
        seed += 1
    return told


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
