"""Stop a graph between its nodes, look at the state, and go on.

    collect -> summarise -> publish

A breakpoint needs no change in the nodes. It is set when the graph is compiled or when it is called, for some
nodes or, with "*", for all of them. `invoke(None, config)` goes on from where the thread stopped.
"""

from typing import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph


class Report(TypedDict):
    numbers: list[int]
    summary: str
    published: bool


def collect(report: Report) -> dict:
    return {"numbers": [3, 1, 4, 1, 5]}


def summarise(report: Report) -> dict:
    return {"summary": f"{len(report['numbers'])} numbers, {sum(report['numbers'])} in all"}


def publish(report: Report) -> dict:
    return {"published": True}


def build() -> StateGraph:
    return StateGraph(Report).add_sequence([collect, summarise, publish]).add_edge(START, "collect")


def stop_before_one_node() -> None:
    print("A breakpoint before 'publish', set when the graph is compiled:")
    app = build().compile(checkpointer=InMemorySaver(), interrupt_before=["publish"])
    config = {"configurable": {"thread_id": "monday"}}
    app.invoke({"published": False}, config)
    state = app.get_state(config)
    print(f"  stopped, next is {state.next[0]!r}; the summary says: {state.values['summary']}")

    app.update_state(config, {"summary": f"{state.values['summary']} (checked)"})
    print(f"  corrected, and on: {app.invoke(None, config)}")


def walk_step_by_step() -> None:
    print("Breakpoints behind every node, set at the call:")
    app = build().compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "tuesday"}}
    app.invoke({"published": False}, config, interrupt_after="*")
    while waiting := app.get_state(config).next:
        print(f"  next is {waiting[0]!r}")
        app.invoke(None, config, interrupt_after="*")
    print(f"  the end: {app.get_state(config).values}")


if __name__ == "__main__":
    stop_before_one_node()
    walk_step_by_step()
