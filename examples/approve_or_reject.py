"""Ask for a yes or a no, and let the answer choose the way.

    ask -> proceed        the answer was yes
    ask -> cancel         the answer was no

A node may return a Command: what to change in the state, and where to go. Here the person decides where.
"""

from typing import Literal, TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Transfer(TypedDict):
    amount: int
    status: str


def ask(transfer: Transfer) -> Command[Literal["proceed", "cancel"]]:
    is_approved = interrupt(f"Transfer {transfer['amount']} euros?")
    return Command(goto="proceed" if is_approved else "cancel")


def proceed(transfer: Transfer) -> dict:
    return {"status": f"{transfer['amount']} euros are on their way"}


def cancel(transfer: Transfer) -> dict:
    return {"status": "nothing was transferred"}


def build() -> StateGraph:
    graph = StateGraph(Transfer)
    graph.add_node(ask)
    graph.add_node(proceed)
    graph.add_node(cancel)
    graph.add_edge(START, "ask")
    return graph


def main() -> None:
    app = build().compile(checkpointer=InMemorySaver())
    for thread_id, answer in [("first", True), ("second", False)]:
        config = {"configurable": {"thread_id": thread_id}}
        paused = app.invoke({"amount": 500}, config)
        print(f"{thread_id}: {paused['__interrupt__'][0].value}")
        result = app.invoke(Command(resume=answer), config)
        print(f"  {'yes' if answer else 'no'}: {result['status']}")


if __name__ == "__main__":
    main()
