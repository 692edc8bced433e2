"""Show a draft, and go on with what the person made of it.

    draft -> review -> send

The question carries the draft; the answer is the edited text and takes the draft's place in the state. `review`
starts again from its first line when the answer comes, which is why the draft is written in a node of its own: a
node that has finished is not run again.
"""

from typing import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Letter(TypedDict):
    customer: str
    text: str
    sent: bool


def draft(letter: Letter) -> dict:
    print("  (the draft is written)")
    return {"text": f"Dear {letter['customer']}, we regret the inconvinience."}


def review(letter: Letter) -> dict:
    return {"text": interrupt({"task": "Check the letter and edit it.", "text": letter["text"]})}


def send(letter: Letter) -> dict:
    print(f"  (sent: {letter['text']})")
    return {"sent": True}


def build() -> StateGraph:
    return StateGraph(Letter).add_sequence([draft, review, send]).add_edge(START, "draft")


def main() -> None:
    app = build().compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "letter-1"}}

    print("The graph runs until it asks:")
    question = app.invoke({"customer": "Ms Lind"}, config)["__interrupt__"][0]
    print(f"  {question.value['task']}")
    print(f"  {question.value['text']}")

    print("The person corrects the spelling, and the graph goes on:")
    edited = question.value["text"].replace("inconvinience", "inconvenience")
    print(f"The state at the end: {app.invoke(Command(resume=edited), config)}")


if __name__ == "__main__":
    main()
