"""Two branches ask at once. One call answers both, or one today and the other tomorrow.

    START -> legal  -> publish
    START -> budget -> publish        publish runs when both have been answered

A node starts again from its first line when it is answered. The branch that was not answered does not: it waits.
"""

import operator
from typing import Annotated, TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Campaign(TypedDict):
    log: Annotated[list[str], operator.add]


def legal(state: Campaign) -> Campaign:
    print("  legal: reading the claims")
    return {"log": [f"legal: {interrupt('Are the claims true?')}"]}


def budget(state: Campaign) -> Campaign:
    print("  budget: adding up the costs")
    return {"log": [f"budget: {interrupt('May it cost 9,000 euros?')}"]}


def publish(state: Campaign) -> Campaign:
    return {"log": ["published"]}


def build() -> StateGraph:
    graph = StateGraph(Campaign).add_node(legal).add_node(budget).add_node(publish)
    graph.add_edge(START, "legal").add_edge(START, "budget")
    return graph.add_edge(["legal", "budget"], "publish")


def play() -> None:
    app = build().compile(checkpointer=InMemorySaver())

    print("Both at once:")
    config = {"configurable": {"thread_id": "spring"}}
    questions = app.invoke({"log": []}, config)["__interrupt__"]
    print(f"  {len(questions)} questions are open")
    print(f"  {app.invoke(Command(resume={question.id: 'yes' for question in questions}), config)['log']}")

    print("One today, the other tomorrow:")
    config = {"configurable": {"thread_id": "autumn"}}
    app.invoke({"log": []}, config)
    ids = {question.value: question.id for question in app.get_state(config).interrupts}
    left = app.invoke(Command(resume={ids["May it cost 9,000 euros?"]: "yes"}), config)["__interrupt__"]
    print(f"  still open: {left[0].value}")
    print(f"  {app.invoke(Command(resume='yes'), config)['log']}")


if __name__ == "__main__":
    play()
