"""Look inside a thread: its state, its history, what changed between two checkpoints, and what else could have been.

    estimate -> approve -> order

Every step leaves a checkpoint. All of them can be read, compared, and run from again: a run from an old checkpoint
is a new branch, and nothing of the old one is lost.
"""

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, StateSnapshot, interrupt


class Purchase(TypedDict):
    item: str
    price: int
    approved_by: str
    status: str


def estimate(purchase: Purchase) -> dict:
    return {"price": 40 * len(purchase["item"])}


def approve(purchase: Purchase) -> dict:
    return {"approved_by": interrupt(f"Buy {purchase['item']} for {purchase['price']} euros?")}


def order(purchase: Purchase) -> dict:
    return {"status": f"ordered for {purchase['price']} euros"}


def build() -> StateGraph:
    return StateGraph(Purchase).add_sequence([estimate, approve, order]).add_edge(START, "estimate")


def difference(before: StateSnapshot, after: StateSnapshot) -> dict:
    return {key: value for key, value in after.values.items() if before.values.get(key) != value}


def main() -> None:
    app = build().compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "purchase-1"}}
    app.invoke({"item": "a lamp"}, config)

    state = app.get_state(config)
    print(f"Now: {state.values}\n  next: {state.next}, asked: {state.interrupts[0].value!r}")
    app.invoke(Command(resume="Ana"), config)

    print("\nThe history, oldest first, and what each step changed:")
    history = list(app.get_state_history(config))[::-1]
    for before, after in pairwise(history):
        print(f"  step {after.metadata['step']}: {before.next[0]:10} {difference(before, after)}")
    answered = next(snapshot for snapshot in history if snapshot.next == ("approve",))
    print(f"  asked on the way: {answered.tasks[0].interrupts[0].value!r}, result: {answered.tasks[0].result}")

    print("\nA branch: what if the price had been 99?")
    branch = app.update_state(answered.config, {"price": 99})
    print(f"  asked anew: {app.invoke(None, branch)['__interrupt__'][0].value!r}")
    print(f"  {app.invoke(Command(resume='Ben'), config)['status']}")
    print(f"  the old branch is still there: {app.get_state(history[-1].config).values['status']}")

    print("\nThe graph:")
    print(app.get_graph().draw_ascii())
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "graph.svg"
        picture.write_text(app.get_graph().draw_svg(), encoding="utf-8")
        print(f"and as {picture.name}, {picture.stat().st_size} bytes")


if __name__ == "__main__":
    main()
