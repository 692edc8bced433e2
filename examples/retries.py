"""Retries that end: what happens when a node keeps failing.

A `RetryPolicy` says which errors are tried again, how often and how long after. A timeout counts as a failure. When
the last attempt has failed, an `error_handler` may take over; without one the run raises. The thread then knows what
failed, and why; it is repaired with `update_state`, or goes on with `invoke(None, config)` when the cause is gone.
"""

import asyncio
from typing import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import NodeError, NodeTimeoutError
from signoff.graph import START, StateGraph
from signoff.runtime import Runtime
from signoff.types import Command, RetryPolicy

QUICK = RetryPolicy(max_attempts=3, initial_interval=0.01, jitter=False)


class Parcel(TypedDict):
    address: str
    price: int
    label: str


async def quote(parcel: Parcel, runtime: Runtime) -> dict:
    """Busy twice, then it answers."""
    attempt = runtime.execution_info.node_attempt
    print(f"  quote, attempt {attempt}")
    if attempt < 3:
        raise ConnectionError("the post office is busy")
    return {"price": 7}


async def weigh(parcel: Parcel) -> dict:
    """Never ends."""
    await asyncio.Event().wait()


def guess(parcel: Parcel, error: NodeError) -> Command:
    """Stands in for a node that failed. It has no edges of its own, so it says where to go."""
    reason = "was too slow" if isinstance(error.error, NodeTimeoutError) else "failed"
    print(f"  {error.node!r} {reason}; a guess must do")
    return Command(update={"price": parcel["price"] + 1}, goto="print_label")


def print_label(parcel: Parcel) -> dict:
    print(f"  print_label, for {parcel['address']!r}")
    if not parcel["address"]:
        raise ValueError("a label needs an address")
    return {"label": f"{parcel['address']}, {parcel['price']} euros"}


def build() -> StateGraph:
    graph = StateGraph(Parcel)
    graph.add_node(quote, retry_policy=QUICK)
    graph.add_node(weigh, timeout=0.05, error_handler=guess)
    graph.add_node(print_label, retry_policy=QUICK)
    for start, end in [(START, "quote"), ("quote", "weigh"), ("weigh", "print_label")]:
        graph.add_edge(start, end)
    return graph


async def main() -> None:
    app = build().compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "parcel-1"}}

    print("The run tries, waits, gives up:")
    try:
        await app.ainvoke({"address": ""}, config)
    except ValueError as error:
        print(f"  raised: {error} (a mistake in the values is not tried again)")

    state = await app.aget_state(config)
    print(f"The thread waits at {state.next[0]!r}, which failed with {state.tasks[0].error}")

    print("Repaired, it goes on:")
    await app.aupdate_state(config, {"address": "1 Harbour Street"})
    print(f"  {await app.ainvoke(None, config)}")


if __name__ == "__main__":
    asyncio.run(main())
