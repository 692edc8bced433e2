"""Whatever is asked, decided, broken and resumed: nothing runs unapproved, what is approved runs once, and the
transcript is valid."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from scenarios.conftest import App
from signoff.agents import create_agent
from signoff.agents.middleware import HumanInTheLoopMiddleware
from signoff.errors import InvalidAnswer
from signoff.types import Command

from .desk import APPROVE, USER, calls, check_transcript, decide, edit, reject, respond, scripted

SETTINGS = settings(max_examples=7, suppress_health_check=[HealthCheck.function_scoped_fixture])

Call = tuple[str, int]
"""A tool and its argument; the argument is another one for every call."""


class Boom(Exception):
    """Something breaks."""


@dataclass
class World:
    """Tools that break at some moments, a person who decides, and what may run."""

    turns: list[list[str]]
    decisions: list[str]
    breaks_at: set[int]
    mode: Any
    moment: int = 0
    decided: int = 0
    may_run: Counter[Call] = field(default_factory=Counter)
    ran: Counter[Call] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        numbers = iter(range(1000))
        self.script = [[(name, next(numbers)) for name in turn] for turn in self.turns]
        self.may_run.update(one for turn in self.script for one in turn if one[0] == "look")

    def tick(self) -> None:
        self.moment += 1
        if self.moment in self.breaks_at:
            raise Boom(f"at moment {self.moment}")

    def body(self, name: str, n: int) -> str:
        self.tick()
        assert self.may_run[(name, n)] > 0, f"{name} {n} starts, and nobody has approved it"
        self.ran[(name, n)] += 1
        return f"{name} {n}"

    def speak(self, messages: Any) -> AIMessage:
        self.tick()
        turn = sum(isinstance(message, AIMessage) for message in messages)
        wanted = self.script[turn] if turn < len(self.script) else []
        return calls(*({"name": name, "args": {"n": n}, "id": f"c{n}", "type": "tool_call"} for name, n in wanted))

    # The person

    def decide(self, action: Any) -> Any:
        """The next decision of the script, as far as it is allowed for this tool."""
        kind = self.decisions[self.decided % len(self.decisions)]
        self.decided += 1
        name, n = action["name"], action["args"]["n"]
        if kind == "approve" or (name == "mail" and kind != "reject"):
            self.may_run[(name, n)] += 1
            return APPROVE
        if kind == "edit":
            self.may_run[(name, n + 1000)] += 1
            return edit(name, n=n + 1000)
        if kind == "other":
            return edit("mail", n=n + 2000)
        return reject("no") if kind == "reject" else respond("by hand")

    def answers(self, questions: Any) -> Any:
        """An answer for each question; in the mode "per_call" only for the first one, sometimes."""
        if self.mode == "batched":
            return {q.id: decide(*map(self.decide, q.value["action_requests"])) for q in questions}
        some = questions[:1] if self.decided % 2 else questions
        return {question.id: self.decide(question.value) for question in some}


def make(world: World, saver: Any, *more: Any, state_schema: Any = None) -> Any:
    @tool
    def pay(n: int) -> str:
        """Pay."""
        return world.body("pay", n)

    @tool
    def mail(n: int) -> str:
        """Write."""
        return world.body("mail", n)

    @tool
    def look(n: int) -> str:
        """Look."""
        return world.body("look", n)

    watched: Any = {"pay": True, "mail": {"allowed_decisions": ["approve", "reject"]}}
    watch = HumanInTheLoopMiddleware(watched, interrupt_mode=world.mode)
    model = scripted(*[world.speak] * 6)
    tools, middleware = [pay, mail, look], [*more, watch]
    return create_agent(model, tools, middleware=middleware, state_schema=state_schema, checkpointer=saver)


def play(world: World, app: App) -> Any:
    """Run the world to its end: after a break, go on; to a question, first a wrong answer, then a right one."""
    input: Any = USER
    for _ in range(100):
        try:
            result = app.invoke(input)
        except Boom:
            input = None
            continue
        questions = result.get("__interrupt__")
        if not questions:
            return result
        with pytest.raises(InvalidAnswer):
            app.invoke(Command(resume={questions[0].id: {"decisions": [{"type": "accept"}]}}))
        input = Command(resume=world.answers(questions))
    raise AssertionError("it does not come to an end")


worlds = st.builds(
    World,
    turns=st.lists(st.lists(st.sampled_from(["pay", "mail", "look"]), min_size=1, max_size=4), min_size=1, max_size=3),
    decisions=st.lists(st.sampled_from(["approve", "edit", "other", "reject", "respond"]), min_size=1, max_size=6),
    breaks_at=st.sets(st.integers(1, 25), max_size=6),
    mode=st.sampled_from(["batched", "per_call"]),
)


def check(world: World, result: Any) -> None:
    assert world.ran == +world.may_run
    check_transcript(result["messages"])
    assert len([m for m in result["messages"] if m.type == "tool"]) == sum(map(len, world.turns))


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@SETTINGS
@given(world=worlds)
def test_no_unapproved_body_starts_and_each_approved_call_runs_once(is_async, world):
    app = App(lambda saver: make(world, saver), None, is_async=is_async)
    check(world, play(world, app))


@settings(SETTINGS, max_examples=3)
@given(world=worlds)
def test_the_same_in_a_file_that_every_call_opens_anew(tmp_path_factory, world):
    app = App(lambda saver: make(world, saver), tmp_path_factory.mktemp("db") / "threads.db", is_async=False)
    check(world, play(world, app))


def test_a_world_can_fail():
    """The test of the test: a body that nobody approved is noticed."""
    world = World([["pay"]], ["approve"], set(), "batched")
    with pytest.raises(AssertionError, match="nobody has approved it"):
        world.body("pay", 0)
