"""Three tools in one turn of the model, two of which need approval.

One question has both calls and the decisions that are allowed for each; `look_up`, which nobody watches over, is not
held up. With `interrupt_mode="per_call"` each call is a question of its own. A decision that is not allowed is
refused, and the question stays open; a call that was rejected never runs.
"""

from scripted_model import says
from signoff.agents import create_agent
from signoff.agents.middleware import HumanInTheLoopMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer
from signoff.types import Command

DONE: list[str] = []

REQUEST = {"messages": [("user", "Pay Ana, write to Bo, and look up Cleo.")]}
TURN = [("pay", {"amount": 50, "to": "Ana"}), ("mail", {"to": "Bo"}), ("look_up", {"name": "Cleo"})]

EDIT = {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 40, "to": "Ana"}}}
REJECT = {"type": "reject", "message": "Bo is on holiday."}


def pay(amount: int, to: str) -> str:
    """Pay somebody."""
    DONE.append(f"pay {amount} {to}")
    return f"Paid {amount} to {to}."


def mail(to: str) -> str:
    """Write to somebody."""
    DONE.append(f"mail {to}")
    return f"Wrote to {to}."


def look_up(name: str) -> str:
    """Look somebody up."""
    DONE.append(f"look up {name}")
    return f"{name} lives in Rome."


def described(call, state, runtime) -> str:
    return f"Pay {call['args']['to']} {call['args']['amount']} euros"


def build(saver, mode="batched"):
    watched = {
        "pay": {"allowed_decisions": ["approve", "edit", "reject"], "description": described},
        "mail": {"allowed_decisions": ["approve", "reject"], "description": "Write an email"},
    }
    watch = HumanInTheLoopMiddleware(watched, interrupt_mode=mode)
    model = says(TURN, "That is all.")
    return create_agent(model, [pay, mail, look_up], middleware=[watch], checkpointer=saver)


def answers(questions) -> dict:
    """What a person decides: on all calls of a question, or on the one that it is about."""
    said = {"pay": EDIT, "mail": REJECT}
    if "action_requests" in questions[0].value:
        (question,) = questions
        return {question.id: {"decisions": [said[one["name"]] for one in question.value["action_requests"]]}}
    return {question.id: said[question.value["name"]] for question in questions}


def main() -> None:
    for mode in ("batched", "per_call"):
        app, config = build(InMemorySaver(), mode), {"configurable": {"thread_id": mode}}
        DONE.clear()
        questions = app.invoke(REQUEST, config)["__interrupt__"]
        for question in questions:
            shown = question.value.get("action_requests", [question.value])
            print(f"PAUSED, {mode}: {' + '.join(one['description'] for one in shown)}")
        try:
            app.invoke(Command(resume={"decisions": [EDIT, EDIT]} if mode == "batched" else EDIT), config)
        except InvalidAnswer:
            print("  an answer that does not fit was refused")
        for message in app.invoke(Command(resume=answers(questions)), config)["messages"][2:]:
            print(f"  {message.type}: {message.text.splitlines()[-1]}")
        print(f"  done: {sorted(DONE)}")


if __name__ == "__main__":
    main()
