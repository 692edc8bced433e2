"""Whatever people do to a thread (answer, edit, go on, start over, go back): no question goes without a word."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signoff.errors import InvalidUpdateError, QuestionsOpen, ReplayMismatch
from signoff.graph import END, START, StateGraph
from signoff.types import Command, interrupt

from .conftest import opener
from .programs import NEW, Works, asking, beside, line

PLACE = st.integers(0, 5)
ACTS = st.one_of(
    st.tuples(st.just("answer"), PLACE),
    st.tuples(st.just("answer all"), PLACE),
    st.tuples(st.just("edit"), st.sampled_from([None, START, "draft", "ask", "keyed", "inner", "work", "after", END])),
    st.tuples(st.just("edit inside"), st.sampled_from([None, "draft", "ask"])),
    st.tuples(st.just("go on"), PLACE),
    st.tuples(st.just("begin anew"), st.sampled_from(["raise", "discard"])),
    st.tuples(st.just("go back"), PLACE),
    st.tuples(st.just("begin back"), PLACE),
)


def about_the_log(state: Any) -> Any:
    return {"log": [interrupt(f"keep {len(state['log'])}?", key="keep")]}


def program() -> StateGraph:
    """A draft, then four nodes at once: one asks twice, one about the state, a nested graph asks, and one works."""
    works = Works()
    inner = line(draft=works.node("inner draft"), ask=asking("inner?"))
    graph = beside(draft=works.node("draft")).add_node("ask", lambda state: {"log": [interrupt("a"), interrupt("b")]})
    graph.add_node("keyed", about_the_log).add_node("inner", inner.compile()).add_node("work", works.node("work"))
    graph.add_node("after", works.node("after"))
    for name in ("ask", "keyed", "inner", "work"):
        graph.add_edge("draft", name)
    return graph.add_edge(["ask", "keyed", "inner"], "after")


class Desk:
    """A thread, and the people who do something to it."""

    def __init__(self, way: str, pause: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.app = opener(Path(self.folder.name), way)(program(), pause=pause)
        self.app.invoke(NEW)
        self.answered: set[str] = set()

    def open(self) -> list[str]:
        return [question.id for question in self.app.get_state().interrupts]

    def act(self, what: str, how: Any) -> None:
        before = set(self.open())
        with suppress(QuestionsOpen, ReplayMismatch, InvalidUpdateError):
            getattr(self, what.replace(" ", "_"))(how)
        self.check(before)

    def check(self, before: set[str]) -> None:
        now = self.open()
        assert sorted(question.id for question in self.app.filed()) == sorted(now)
        dropped = {id for one in self.history() for id in one.metadata.get("discarded", ())}
        assert before - set(now) <= dropped | self.answered

    def history(self) -> list[Any]:
        found = self.app.history()
        for task in self.app.get_state().tasks:
            found += self.app.history(task.state) if task.state is not None else []
        return found

    # What people do

    def answer(self, at: int) -> None:
        if ids := self.open():
            self._answer({ids[at % len(ids)]: "yes"})

    def answer_all(self, _: int) -> None:
        if ids := self.open():
            self._answer(dict.fromkeys(ids, "yes"))

    def _answer(self, given: dict[str, Any]) -> None:
        self.answered |= given.keys()
        self.app.invoke(Command(resume=given))

    def edit(self, as_node: str | None) -> None:
        self.app.update_state(None if as_node == END else {"log": ["told"]}, as_node=as_node)

    def edit_inside(self, as_node: str | None) -> None:
        waiting = [task.state for task in self.app.get_state().tasks if task.name == "inner" and task.interrupts]
        if waiting:
            self.app.update_state({"log": ["told"]}, waiting[0], as_node=as_node)

    def go_on(self, _: int) -> None:
        self.app.invoke(None)

    def begin_anew(self, meaning: str) -> None:
        self.app.invoke({"log": ["new"]}, on_pending=meaning)

    def go_back(self, at: int, input: Any = None) -> None:
        history = self.app.history()
        self.app.invoke(input, history[at % len(history)].config)

    def begin_back(self, at: int) -> None:
        self.go_back(at, {"log": ["new"]})


@pytest.mark.parametrize("way", ["memory-sync", "sqlite-async"])
@settings(max_examples=12)
@given(pause=st.sampled_from(["step", "branch"]), acts=st.lists(ACTS, max_size=6))
def test_no_question_goes_without_a_word(way: str, pause: str, acts: list[tuple[str, Any]]) -> None:
    desk = Desk(way, pause)
    with desk.folder:
        for what, how in acts:
            desk.act(what, how)
