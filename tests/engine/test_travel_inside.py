"""Going back inside of a nested graph that several tasks of a step call: the one that was chosen begins there."""

from operator import add
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import START
from signoff.graph import StateGraph
from signoff.types import Command, Send, interrupt

CONFIG: Any = {"configurable": {"thread_id": "a"}}


class State(TypedDict):
    said: Annotated[list[str], add]


class Office:
    """Pays for a and b side by side, in a graph nested one or two levels deep, and asks then."""

    def __init__(self, depth: int) -> None:
        self.paid: list[str] = []
        graph = StateGraph(State).add_sequence([self.pay, self.tell, self.ask]).add_edge(START, "pay").compile()
        for _ in range(depth - 1):
            graph = StateGraph(State).add_node("inner", graph).add_edge(START, "inner").compile()
        outer = StateGraph(State).add_node("inner", graph)
        outer.add_conditional_edges(START, lambda state: [Send("inner", {"said": [name]}) for name in "ab"])
        self.app: Any = outer.compile(checkpointer=InMemorySaver())

    def pay(self, state: State) -> None:
        self.paid.append(state["said"][0])

    def ask(self, state: State) -> Any:
        return {"said": [interrupt(state["said"][0])]}

    def tell(self, state: State) -> Any:
        return {"said": [f"paid for {state['said'][0]}"]}

    def innermost(self, config: Any) -> list[Any]:
        """The configs of the graphs that pay, in the order of their tasks."""
        inside = [task.state for task in self.app.get_state(config).tasks if task.state is not None]
        return [one for place in inside for one in self.innermost(place)] if inside else [config]


@pytest.mark.parametrize("chosen", [0, 1])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_branch_inside_of_one_of_several_tasks_is_of_that_one(depth, chosen):
    office = Office(depth)
    office.app.invoke({"said": []}, CONFIG)
    place = office.innermost(CONFIG)[chosen]
    old = next(one for one in office.app.get_state_history(place) if one.next == ("tell",))
    office.paid.clear()
    asked = office.app.invoke(None, old.config)["__interrupt__"]
    assert office.paid == ["ba"[chosen]]
    assert [one.value for one in asked] == ["a", "b"]
    result = office.app.invoke(Command(resume={one.id: f"yes {one.value}" for one in asked}), CONFIG)
    assert [said for said in result["said"] if len(said) > 1] == ["paid for a", "yes a", "paid for b", "yes b"]
