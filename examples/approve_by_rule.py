"""Not every call needs a person: rules in code, and a person who says "from here on".

Small payments pass by a predicate, reading passes by an allow-list. The first large payment is asked about; the
approval holds for payments to Ana from here on in this thread. The history says of each call what let it pass.
"""

from scripted_model import says
from signoff.agents import Rule, create_agent, list_rules
from signoff.agents.middleware import HumanInTheLoopMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.types import Command

DONE: list[str] = []

REQUEST = {"messages": [("user", "Pay what is due.")]}
TURNS = [
    [("read_invoices", {})],
    [("pay", {"amount": 5, "to": "Bo"})],
    [("pay", {"amount": 900, "to": "Ana"})],
    [("pay", {"amount": 700, "to": "Ana"})],
    "All invoices are paid.",
]
FROM_HERE_ON = {"decisions": [{"type": "approve", "from_here_on": {"args": {"to": "Ana"}}}]}


def read_invoices() -> str:
    """Read the invoices."""
    DONE.append("read")
    return "Bo 5, Ana 900, Ana 700"


def pay(amount: int, to: str) -> str:
    """Pay somebody."""
    DONE.append(f"pay {amount} {to}")
    return f"Paid {amount} to {to}."


def is_small(request) -> bool:
    return request.tool_call["args"]["amount"] < 10


def build(saver):
    rules = ["read_*", Rule(tool="pay", when=is_small, name="small change")]
    watch = HumanInTheLoopMiddleware({"read_invoices": True, "pay": True}, rules=rules)
    return create_agent(says(*TURNS), [read_invoices, pay], middleware=[watch], checkpointer=saver)


def reasons(messages) -> list[str]:
    """What the history says of each call."""
    records = [message.additional_kwargs["decision"] for message in messages if message.type == "tool"]
    return [_told(record) for record in records]


def _told(record) -> str:
    if record["type"] != "rule":
        return f"{record['type']}d by {record['by']}"
    rule = record["rule"]
    return f"rule of {rule['by']}" if "by" in rule else f"rule {rule['name']!r}"


def main() -> None:
    app, config = build(InMemorySaver()), {"configurable": {"thread_id": "march"}}
    (question,) = app.invoke(REQUEST, config)["__interrupt__"]
    print(f"PAUSED: {question.value['action_requests'][0]['args']}")
    messages = app.invoke(Command(resume=FROM_HERE_ON, by="Eva"), config)["messages"]
    results = [message.text for message in messages if message.type == "tool"]
    for text, reason in zip(results, reasons(messages), strict=True):
        print(f"  {text}  ({reason})")
    print(f"Rules of people now: {[(rule['tool'], rule['args'], rule['by']) for rule in list_rules(app, config)]}")


if __name__ == "__main__":
    main()
