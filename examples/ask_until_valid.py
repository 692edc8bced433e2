"""Asking until the answer is valid, in two ways.

    patient     the node asks again, with a clearer question, until it is content
    strict      the question says what it accepts: a wrong answer is refused, and the question stays open

The second is one line, and the form of the answer is published with the question: a web page can be made of it.
"""

from typing import TypedDict

from pydantic import PositiveInt

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Person(TypedDict):
    age: int


def patient(state: Person) -> Person:
    question = "What is your age?"
    while True:
        answer = interrupt(question)
        if isinstance(answer, int) and answer > 0:
            return {"age": answer}
        question = f"{answer!r} is not an age. Please answer with a number: what is your age?"


def strict(state: Person) -> Person:
    return {"age": interrupt("What is your age?", response_schema=PositiveInt)}


def build(node=patient) -> StateGraph:
    return StateGraph(Person).add_node("ask", node).add_edge(START, "ask")


def play() -> None:
    config = {"configurable": {"thread_id": "1"}}

    print("Patient:")
    app = build(patient).compile(checkpointer=InMemorySaver())
    result = app.invoke({}, config)
    for answer in ("thirty", 30):
        print(f"  asks: {result['__interrupt__'][0].value}")
        print(f"  answer: {answer!r}")
        result = app.invoke(Command(resume=answer), config)
    print(f"  {result}")

    print("Strict:")
    app = build(strict).compile(checkpointer=InMemorySaver())
    question = app.invoke({}, config)["__interrupt__"][0]
    print(f"  asks: {question.value} It accepts {question.response_schema}")
    try:
        app.invoke(Command(resume="thirty"), config)
    except InvalidAnswer as error:
        print(f"  refused: {str(error).partition(' was refused: ')[2].partition('. ')[0]}")
    print(f"  still open: {app.get_state(config).interrupts[0].value}")
    print(f"  {app.invoke(Command(resume=30), config)}")


if __name__ == "__main__":
    play()
