"""Whatever is called and decided, and whenever processes crash: no body starts that nobody approved, what is approved
is done once, and the transcript is that of a run without a crash."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from signoff import testing
from signoff.agents import AgentState
from signoff.agents.middleware import AgentMiddleware
from signoff.graph import add_messages
from signoff.testing import Input, did
from warm import run

from .desk import check_transcript
from .desk import decide as decided
from .test_properties import SETTINGS, World, make

# Without making a failure smaller, which would take minutes: a story is small, and a violation says how to repeat it.
CRASHES = settings(SETTINGS, max_examples=5, phases=(Phase.explicit, Phase.reuse, Phase.generate))

INPUT = Input({"messages": [HumanMessage("hi", id="h")]})


@dataclass
class Story(World):
    """Tools and a person who decides, always the same about the same call."""

    unapproved: list[Any] = field(default_factory=list)

    def tick(self) -> None:
        """Nothing breaks but processes."""

    def body(self, name: str, n: int) -> str:
        if not self.may_run[(name, n)]:
            self.unapproved.append((name, n))
        did(f"{name} {n}")
        return f"{name} {n}"

    def speak(self, messages: Any) -> AIMessage:
        said = super().speak(messages)
        said.id = f"ai-{len(messages)}"
        return said

    def answer(self, question: Any) -> Any:
        actions = question.value.get("action_requests")
        return self.decide(question.value) if actions is None else decided(*map(self.decide, actions))

    def decide(self, action: Any) -> Any:
        self.decided = action["args"]["n"] + len(action["name"])
        return super().decide(action)

    def forget(self) -> None:
        """Nothing is approved yet."""
        self.may_run.clear()
        self.may_run.update((name, n) for turn in self.script for name, n in turn if name == "look")


def _plain(message: Any) -> Any:
    if isinstance(message, ToolMessage):
        message.id, message.additional_kwargs = f"tool-{message.tool_call_id}", {}
    return message


def add_plainly(known: Any, written: Any) -> Any:
    return add_messages(known, [_plain(one) for one in (written if isinstance(written, list) else [written])])


class Plain(AgentState):
    """Tool messages without what is another one each time: their ids, and when which question was answered."""

    messages: Annotated[list[Any], add_plainly]


class Around(AgentMiddleware):
    """A wrapper around each call."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


stories = st.builds(
    Story,
    turns=st.lists(st.lists(st.sampled_from(["pay", "mail", "look"]), min_size=1, max_size=3), min_size=1, max_size=2),
    decisions=st.lists(st.sampled_from(["approve", "edit", "other", "reject", "respond"]), min_size=1, max_size=4),
    breaks_at=st.just(set()),
    mode=st.sampled_from(["batched", "per_call"]),
)


MOMENTS = st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=3)
"""When to crash, as parts of a run."""


def world_of(story: Story, **how: Any) -> testing.World:
    def build(saver: Any) -> Any:
        return make(story, saver, Around(), state_schema=Plain)

    return testing.World(build, [INPUT], answers=story.answer, rebuilds=False, **how)


def check_clean(story: Story, world: testing.World) -> None:
    clean = world.run()
    assert clean.witness.done == {f"{name} {n}": 1 for (name, n), times in story.may_run.items() if times}
    check_transcript(clean.values["messages"])
    assert story.unapproved == []


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@CRASHES
@given(
    story=stories, moments=st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=3), together=st.booleans()
)
def test_a_crash_at_any_moment_changes_nothing(is_async, story, moments, together):
    world = world_of(story, is_async=is_async, answers_together=together)
    check_clean(story, world)
    for moment in moments:
        story.forget()
        world.crash(int(moment * sum(world.run().moments.values())))
    assert story.unapproved == []


@CRASHES
@given(story=stories, seed=st.integers(0, 10_000))
def test_processes_that_are_killed_and_stalled_change_nothing(story, seed):
    world = world_of(story, same_history=False)
    check_clean(story, world)
    for one in range(seed, seed + 3):
        story.forget()
        world.schedule(one)
    assert story.unapproved == []


def test_a_crash_at_a_statement_of_the_database_changes_nothing(tmp_path):
    story = Story([["pay", "look", "mail"]], ["approve", "other"], set(), "batched")
    world = world_of(story, store=testing.sqlite(tmp_path))
    check_clean(story, world)
    story.forget()
    assert world.crash_everywhere(every=23).statements > 20
    assert story.unapproved == []


def test_kill_9_at_any_moment_starts_nothing_unapproved_and_repeats_nothing_finished(tmp_path):
    program = ["-m", "agents.killed", tmp_path, "1", "20"]
    done = run(program, cwd=Path(__file__).parents[1], timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert sum(one["kills"] for one in told) == 20
    for one in told:
        assert one["repeated"] == [], "a call whose result was stored is not made again"
        assert one["started"] == one["may_start"], "what is approved is made, and nothing else"
