"""Tools that ask by themselves, beside others in the same turn.

`transfer_money` and `send_email` call `interrupt()`, and the answer overrides their arguments. They are two questions,
answered together or one by one. `look_up`, which the model wants in the same turn, has run by then, and runs once.
"""

from scripted_model import says
from signoff.checkpoint.memory import InMemorySaver
from signoff.prebuilt import create_react_agent
from signoff.types import Command, interrupt

DONE: list[str] = []

REQUEST = {"messages": [("user", "Pay Ana what we owe her, and tell Bo.")]}
TURN = [
    ("transfer_money", {"amount": 500, "to": "Ana"}),
    ("send_email", {"to": "Bo", "text": "Ana has her money."}),
    ("look_up", {"name": "Ana"}),
]


def transfer_money(amount: int, to: str) -> str:
    """Transfer money."""
    decided = {"amount": amount, "to": to, **interrupt({"tool": "transfer_money", "amount": amount, "to": to})}
    DONE.append(f"transfer {decided['amount']}")
    return f"{decided['amount']} euros are on their way to {decided['to']}."


def send_email(to: str, text: str) -> str:
    """Send an email."""
    decided = {"to": to, "text": text, **interrupt({"tool": "send_email", "to": to, "text": text})}
    DONE.append(f"email {decided['to']}")
    return f"Wrote to {decided['to']}: {decided['text']}"


def look_up(name: str) -> str:
    """Look somebody up."""
    DONE.append(f"look up {name}")
    return f"We owe {name} 450 euros."


def build(saver, **settings):
    tools = [transfer_money, send_email, look_up]
    return create_react_agent(says(TURN, "Ana is paid, and Bo knows."), tools, checkpointer=saver, **settings)


def answers(questions) -> dict:
    """What a person says to each of the questions."""
    said = {"transfer_money": {"amount": 450}, "send_email": {}}
    return {question.id: said[question.value["tool"]] for question in questions}


def main() -> None:
    app = build(InMemorySaver())
    config = {"configurable": {"thread_id": "debts"}}
    questions = app.invoke(REQUEST, config)["__interrupt__"]
    for question in questions:
        print(f"PAUSED: {question.value}")
    print(f"Done so far: {DONE}")
    # One today, the other tomorrow.
    for question in questions:
        result = app.invoke(Command(resume=answers([question])), config)
    for message in result["messages"][2:]:
        print(f"  {message.type}: {message.text}")
    print(f"Done: {DONE}")


if __name__ == "__main__":
    main()
