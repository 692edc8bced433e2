"""Steps of many tasks that are gone on with: what has settled is not planned again, and comes out as if it were."""

from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import END, START
from signoff.graph import StateGraph
from signoff.types import Command, Send, interrupt

THREAD: Any = {"configurable": {"thread_id": "a"}}


class State(TypedDict):
    log: Annotated[list[str], add]


def _step_of_many(ran: list[str]) -> Any:
    """Two nodes that edges lead to and six Sends to two nodes, in one step; those with an odd name do not ask."""

    def asking(item: Any) -> dict[str, list[str]]:
        name = item if isinstance(item, str) else "edge"
        ran.append(name)
        return {"log": [name if name.endswith(("1", "3", "5")) else interrupt(f"{name}?")]}

    graph = StateGraph(State)
    graph.add_node("split", lambda state: {})
    graph.add_node("edge", asking)
    graph.add_node("quiet", lambda state: {"log": ["quiet"]})
    for name in ("left", "right"):
        graph.add_node(name, asking)
        graph.add_edge(name, END)
    graph.add_edge(START, "split")
    graph.add_edge("split", "edge")
    graph.add_edge("split", "quiet")
    graph.add_conditional_edges("split", _sends, ["left", "right"])
    return graph.compile(checkpointer=InMemorySaver())


def _sends(state: State) -> list[Send]:
    return [Send("left" if place < 3 else "right", f"item{place}") for place in range(6)]


QUESTIONS = ["edge?", "item0?", "item2?", "item4?"]
ORDERS = [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("is_watched", [False, True], ids=["unwatched", "watched"])
def test_answers_in_any_order_lead_to_the_same_state(order: Sequence[int], is_watched: bool) -> None:
    ran: list[str] = []
    app = _step_of_many(ran)
    asked = app.invoke({"log": []}, THREAD)["__interrupt__"]
    assert [question.value for question in asked] == QUESTIONS
    still = list(QUESTIONS)
    for place in order:
        command: Command[Any] = Command(resume={asked[place].id: f"answer to {QUESTIONS[place]}"})
        if is_watched:
            list(app.stream(command, THREAD, stream_mode=["updates", "debug"]))
        else:
            app.invoke(command, THREAD)
        still.remove(QUESTIONS[place])
        assert sorted(question.value for question in app.get_state(THREAD).interrupts) == still
    answers = {question: f"answer to {question}" for question in QUESTIONS}
    assert app.get_state(THREAD).values["log"] == [
        answers["edge?"], "quiet",
        answers["item0?"], "item1", answers["item2?"], "item3", answers["item4?"], "item5",
    ]  # fmt: skip
    assert sorted(ran) == sorted([*ran[:7], "edge", "item0", "item2", "item4"]), "only what was answered ran again"


def test_a_result_shows_what_is_still_open_in_the_order_of_the_tasks() -> None:
    app = _step_of_many([])
    asked = app.invoke({"log": []}, THREAD)["__interrupt__"]
    paused = app.invoke(Command(resume={asked[1].id: "yes"}), THREAD)
    assert [question.value for question in paused["__interrupt__"]] == ["edge?", "item2?", "item4?"]
    assert paused["log"] == ["quiet", "yes", "item1", "item3", "item5"]
    assert app.invoke(None, THREAD) == paused, "going on without an answer changes nothing"


def test_a_node_that_ran_several_times_in_a_step_is_one_writer() -> None:
    graph = StateGraph(State)
    graph.add_node("split", lambda state: {})
    graph.add_node("work", lambda item: {"log": [item]})
    graph.add_edge(START, "split")
    graph.add_conditional_edges("split", lambda state: [Send("work", "a"), Send("work", "b")], ["work"])
    app = graph.compile(checkpointer=InMemorySaver())
    app.invoke({"log": []}, THREAD)
    app.update_state(THREAD, {"log": ["c"]})
    assert app.get_state(THREAD).values == {"log": ["a", "b", "c"]}
