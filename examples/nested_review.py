"""A review in two steps, written once as a graph and used in two ways.

    review: reviewer -> manager                          each of them asks
    main:   write -> review -> publish                   the review is a node
    main:   write, then review.invoke(...) in a node     the review is called like a function

A question asked inside is the question of the whole run: it is answered at the outer graph, which knows where it
came from. `get_state(config, subgraphs=True)` looks inside while the review waits.
"""

import operator
from typing import Annotated, TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Article(TypedDict):
    text: str
    notes: list[str]
    is_published: bool


class Review(TypedDict):
    text: str
    notes: Annotated[list[str], operator.add]


def reviewer(state: Review) -> dict:
    return {"notes": [f"reviewer: {interrupt('Is it correct?')}"]}


def manager(state: Review) -> dict:
    return {"notes": [f"manager: {interrupt('May it be published?')}"]}


review = StateGraph(Review).add_sequence([reviewer, manager]).add_edge(START, "reviewer").compile()


def write(article: Article) -> dict:
    return {"text": "A pause is not a failure."}


def publish(article: Article) -> dict:
    return {"is_published": True}


def review_and_publish(article: Article) -> dict:
    reviewed = review.invoke({"text": article["text"]})
    return {"notes": reviewed["notes"], "is_published": True}


def with_a_node() -> StateGraph:
    nodes = [write, ("review", review), publish]
    return StateGraph(Article).add_sequence(nodes).add_edge(START, "write")


def with_a_call() -> StateGraph:
    return StateGraph(Article).add_sequence([write, review_and_publish]).add_edge(START, "write")


def play(graph: StateGraph) -> None:
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "article-1"}}
    result = app.invoke({"is_published": False}, config)
    while "__interrupt__" in result:
        inside = app.get_state(config, subgraphs=True).tasks[0].state
        print(f"  {inside.next[0]} asks: {result['__interrupt__'][0].value}")
        result = app.invoke(Command(resume="yes"), config)
    print(f"  {result}")


if __name__ == "__main__":
    print("The review as a node:")
    play(with_a_node())
    print("The review called inside of a node:")
    play(with_a_call())
