"""Whatever the tools of a step do, in whatever order people answer: each call is made once and has its message."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from signoff.checkpoint.memory import InMemorySaver
from signoff.prebuilt import create_react_agent, validate_chat_history
from signoff.types import Command, interrupt

from .models import call, calls, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Broken(Exception):
    """A tool that fails the first time."""


class World:
    """Tools that pay, ask so many times before they pay, or fail before they pay."""

    def __init__(self, kinds: list[Any], version: Any) -> None:
        self.kinds = kinds
        self.paid: Counter[int] = Counter()
        self.failed: set[int] = set()
        wanted = calls(*(call("pay", f"c{number}", number=number) for number in range(len(kinds))))
        self.saver = InMemorySaver()
        self.app = create_react_agent(scripted(wanted), [self.tool()], checkpointer=self.saver, version=version)

    def tool(self) -> Any:
        @tool
        def pay(number: int) -> str:
            """Pay."""
            kind = self.kinds[number]
            answers = [interrupt([number, asked]) for asked in range(kind)] if isinstance(kind, int) else []
            if kind == "fails once" and number not in self.failed:
                self.failed.add(number)
                raise Broken(number)
            self.paid[number] += 1
            return f"{number}: {sum(answers)}"

        return pay

    def run(self, input: Any) -> list[Any]:
        """Run until nothing fails any more; what is open then."""
        while True:
            try:
                return list(self.app.invoke(input, CONFIG).get("__interrupt__", ()))
            except Broken:
                input = None


def expected(number: int, kind: Any) -> str:
    asked = range(kind) if isinstance(kind, int) else []
    return f"{number}: {sum(10 * number + one for one in asked)}"


@settings(max_examples=50)
@given(
    kinds=st.lists(st.sampled_from([0, 1, 2, "fails once"]), min_size=1, max_size=5),
    version=st.sampled_from(["v1", "v2"]),
    data=st.data(),
)
def test_every_call_is_made_once_with_its_own_answers(kinds, version, data):
    world = World(kinds, version)
    questions = world.run({"messages": [("user", "pay all")]})
    while questions:
        chosen = data.draw(st.lists(st.sampled_from(questions), min_size=1, unique_by=lambda question: question.id))
        answers = {question.id: 10 * question.value[0] + question.value[1] for question in chosen}
        questions = world.run(Command(resume=answers))
    messages = world.app.get_state(CONFIG).values["messages"]
    validate_chat_history(messages)
    told = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert told == [expected(number, kind) for number, kind in enumerate(kinds)]
    assert world.paid == Counter(range(len(kinds)))
