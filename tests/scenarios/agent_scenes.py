"""Scenarios 21 to 26, the programs of examples/ with agents: how each begins, goes on, and what it comes to.

Run as a program it is the other process: told on its input which threads wait where, it answers them.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.desk import check_transcript
from pauses.ways import AnyApp, OnServer, on_thread
from signoff.prebuilt.chat_history import IncompleteHistory
from signoff.types import Command

from .conftest import EXAMPLES


@dataclass(frozen=True)
class Scene:
    """An agent of an example, and what comes of it."""

    example: str
    asks: list[int]
    """How many questions are open, pause after pause."""
    before: list[str]
    """What is done when the first question is open."""
    after: list[str]
    """What is done then."""
    results: list[str]
    """How the results of the tools end, in order."""
    settings: dict[str, Any] = field(default_factory=dict)
    answer: Callable[[ModuleType, Any], Any] = lambda module, questions: module.answers(questions)
    in_folder: bool = False


MONEY: Any = {
    "asks": [2],
    "before": ["look up Ana"],
    "after": ["transfer 450", "email Bo"],
    "results": ["450 euros are on their way to Ana.", "Wrote to Bo: Ana has her money.", "We owe Ana 450 euros."],
}
APPROVAL: Any = {
    "before": ["look up Cleo"],
    "after": ["pay 40 Ana"],
    "results": ["Paid 40 to Ana.", "The reason: Bo is on holiday.", "Cleo lives in Rome."],
}
SCENES = {
    "21 accept": Scene("book_hotel", [1], [], ["Ritz for 1"], ["Ritz for 1."], answer=lambda m, _: m.ACCEPT),
    "21 edit": Scene("book_hotel", [1], [], ["Plaza for 2"], ["Plaza for 2."], answer=lambda m, _: m.EDIT),
    "21 respond": Scene("book_hotel", [1], [], [], ["ask her for another one."], answer=lambda m, _: m.RESPOND),
    "22": Scene("transfer_money", **MONEY),
    "22 in one node": Scene("transfer_money", **MONEY, settings={"version": "v1"}),
    "23": Scene("incomplete_history", [], [], [], ["Wrote to Ana.", "pay was cut off: find out first."]),
    "24": Scene("parallel_approval", [1], **APPROVAL),
    "24 per call": Scene("parallel_approval", [2], **APPROVAL, settings={"mode": "per_call"}),
    "25": Scene(
        "deep_agent",
        [2, 1],
        ["publish a draft"],
        ["publish Notes are coming"],
        ["1 of them open.", "The notes are in /notes.md.", "Published: Notes are coming", "1 notes.md"],
        in_folder=True,
    ),
    "26": Scene(
        "approve_by_rule",
        [1],
        ["read", "pay 5 Bo"],
        ["pay 900 Ana", "pay 700 Ana"],
        ["Ana 700", "Paid 5 to Bo.", "Paid 900 to Ana.", "Paid 700 to Ana."],
        answer=lambda m, _: m.FROM_HERE_ON,
    ),
}


class Play:
    """A scene on a saver, in a process; one at a time."""

    def __init__(self, name: str, storage: Any, folder: Path, *, is_async: bool) -> None:
        self.scene, self.config = SCENES[name], on_thread(f"{name}, {'async' if is_async else 'sync'}")
        self.module, self.agent = _made(name, folder / self._thread if self.scene.in_folder else None)
        self.app = AnyApp(self._on, storage, is_async=is_async)
        getattr(self.module, "DONE", []).clear()

    @property
    def _thread(self) -> str:
        return self.config["configurable"]["thread_id"]

    def _on(self, saver: Any) -> Any:
        # Made once: what is tried here is the saver, which is opened anew for each call.
        self.agent.checkpointer = saver
        return self.agent

    @property
    def done(self) -> list[str]:
        return sorted(getattr(self.module, "DONE", []))

    def begin(self) -> None:
        """Run until somebody is asked, or the agent refuses to go on."""
        if self.scene.asks:
            self.app.invoke(self.module.REQUEST, self.config)
            return
        try:
            self.app.invoke(self.module.BROKEN, self.config)
        except IncompleteHistory as refusal:
            missing = [call["name"] for call in refusal.missing]
        assert missing == ["pay"], "an incomplete history does not reach the model"

    def finish(self) -> dict[str, Any]:
        """Answer until nobody is asked any more: the results of the tools, and how many were asked each time."""
        state, asks = self.app.get_state(self.config), []
        questions, input = state.interrupts, None
        if not self.scene.asks:
            self.app.update_state(self.module.mended(state), self.config)
        while True:
            if questions:
                asks.append(len(questions))
                input = Command(resume=self.scene.answer(self.module, questions), by="Eva")
            result = self.app.invoke(input, self.config)
            if not (questions := result.get("__interrupt__")):
                break
        messages = result["messages"]
        check_transcript(messages)
        results = [message.text for message in messages if message.type == "tool"]
        return {"asks": asks, "results": results, "last": messages[-1].type, "done": self.done}


def check(name: str, told: dict[str, Any], done: list[str]) -> None:
    """What a scene has come to, in a process that had to do these."""
    scene = SCENES[name]
    assert (told["asks"], told["last"]) == (scene.asks, "ai")
    assert told["done"] == sorted(done), "each call that was approved runs once, and no other"
    assert len(told["results"]) == len(scene.results)
    for result, end in zip(told["results"], scene.results, strict=True):
        assert result.strip().endswith(end)


@cache
def _made(name: str, folder: Path | None) -> tuple[ModuleType, Any]:
    """The example of a scene, and its agent without a saver."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))  # they use one another
    scene = SCENES[name]
    spec = importlib.util.spec_from_file_location(f"example_{scene.example}", EXAMPLES / f"{scene.example}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if folder is None:
        return module, module.build(None, **scene.settings)
    folder.mkdir(exist_ok=True)
    return module, module.build(None, folder, **scene.settings)


def answer_all(jobs: Any) -> list[Any]:
    """What came of threads that wait: (scene, place, folder, is_async) each."""
    return [
        Play(name, OnServer(place), Path(folder), is_async=is_async).finish() for name, place, folder, is_async in jobs
    ]


if __name__ == "__main__":
    print(json.dumps(answer_all(json.load(sys.stdin))))
