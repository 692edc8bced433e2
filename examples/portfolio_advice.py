"""Advice that costs something: what was fetched before the question is fetched once.

    advise: market data, risk analysis, candidates (each a `@task`), then an adviser is asked, then the order

A node starts again from its first line when its question is answered. What its tasks returned is saved, so the order
is made with the data that the adviser saw, however often the node is resumed, in whichever process.
"""

import random
import tempfile
from pathlib import Path
from typing import TypedDict

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Portfolio(TypedDict):
    client: str
    order: str


@task
def market_data() -> dict[str, int]:
    print("  fetching market data (a minute, 2 euros)")
    return {name: random.randint(50, 150) for name in ("wind", "steel", "wool")}


@task
def risk_analysis(client: str) -> str:
    print(f"  analysing what {client} can bear (ten minutes)")
    return random.choice(["careful", "balanced", "bold"])


@task
def candidates(prices: dict[str, int], risk: str) -> list[str]:
    print("  choosing candidates")
    return sorted(prices, key=prices.__getitem__)[: 1 if risk == "careful" else 2]


def advise(state: Portfolio) -> dict:
    data, analysis = market_data(), risk_analysis(state["client"])  # both at the same time
    prices, risk = data.result(), analysis.result()
    chosen = candidates(prices, risk).result()
    amount = interrupt({"client": state["client"], "risk": risk, "buy": chosen, "question": "For how much?"})
    when = interrupt({"amount": amount, "question": "When?"})
    return {"order": f"{when}: {amount} euros of {', '.join(f'{name} at {prices[name]}' for name in chosen)}"}


def build() -> StateGraph:
    return StateGraph(Portfolio).add_node(advise).add_edge(START, "advise")


def play() -> None:
    config = {"configurable": {"thread_id": "lind"}}
    with tempfile.TemporaryDirectory() as folder:
        for turn in ({"client": "Ms Lind"}, Command(resume=5000), Command(resume="on Monday")):
            # Opened anew each time, as by another process on another day.
            with SqliteSaver.from_conn_string(str(Path(folder) / "advice.db")) as saver:
                result = build().compile(checkpointer=saver).invoke(turn, config)
            if "__interrupt__" in result:
                print(f"The adviser is asked: {result['__interrupt__'][0].value}")
    print(f"Ordered, {result['order']}")


if __name__ == "__main__":
    play()
