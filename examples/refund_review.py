"""A support desk that asks before it refunds.

    analyze -> human_review -> execute          a refund needs a person
    analyze -> execute                          everything else does not

The run is saved in a SQLite file when it asks, and lets go of the process. Here a second process, which knows
nothing but the name of the thread, brings the answer and continues. In a terminal the answer is yours; without
one a scripted answer is played.
"""

import operator
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import END, START, StateGraph
from signoff.types import Command, interrupt


class Support(TypedDict):
    request: str
    risk: str
    decision: dict
    reply: str
    history: Annotated[list[str], operator.add]


def analyze(state: Support) -> Command[Literal["human_review", "execute"]]:
    risky = "refund" in state["request"].lower()
    note = f"analyze: {'a refund needs a person' if risky else 'no risk'}"
    update = {"risk": "high" if risky else "low", "history": [note]}
    return Command(update=update, goto="human_review" if risky else "execute")


def human_review(state: Support) -> dict:
    decision = interrupt(
        {
            "question": "May we do this?",
            "request": state["request"],
            "options": ["approved", "approved_with_conditions", "rejected"],
        }
    )
    return {"decision": decision, "history": [f"human_review: {decision['decision']}"]}


def execute(state: Support) -> dict:
    decision = state.get("decision", {"decision": "approved"})
    reply = {
        "approved": "Done.",
        "approved_with_conditions": f"Done, under one condition: {decision.get('condition')}.",
        "rejected": "Sorry, we cannot do this.",
    }[decision["decision"]]
    return {"reply": reply, "history": [f"execute: {reply}"]}


def build() -> StateGraph:
    graph = StateGraph(Support)
    graph.add_node(analyze)
    graph.add_node(human_review)
    graph.add_node(execute)
    graph.add_edge(START, "analyze")
    graph.add_edge("human_review", "execute")
    graph.add_edge("execute", END)
    return graph


def ask(database: Path, thread_id: str, request: str) -> None:
    """The first process: it runs until the graph asks, and ends."""
    with SqliteSaver.from_conn_string(str(database)) as saver:
        app = build().compile(checkpointer=saver)
        config = {"configurable": {"thread_id": thread_id}}
        print(f'\nA customer writes: "{request}"')
        for chunk in app.stream({"request": request, "history": []}, config):
            _show(chunk)
        waiting = app.get_state(config)
        if waiting.next:
            print(f"  saved; waiting at {waiting.next[0]!r} since {waiting.created_at}. This process ends here.")


def answer(database: Path, thread_id: str) -> None:
    """The second process: it finds the question in the file, gets an answer, and continues the thread."""
    with SqliteSaver.from_conn_string(str(database)) as saver:
        app = build().compile(checkpointer=saver)
        config = {"configurable": {"thread_id": thread_id}}
        question = app.get_state(config).interrupts[0]
        decision = _decide(question.value)
        print(f"  answer: {decision}")
        for chunk in app.stream(Command(resume=decision), config):
            _show(chunk)
        for line in app.get_state(config).values["history"]:
            print(f"    {line}")


def _decide(question: dict) -> dict:
    print(f"\nA day later, another process finds the question: {question['question']}  [{question['request']}]")
    scripted = {"decision": "approved_with_conditions", "condition": "the item comes back within 14 days"}
    if not sys.stdin.isatty():
        return scripted
    for number, option in enumerate(question["options"], start=1):
        print(f"    {number}  {option}")
    choice = input("  your decision [2]: ").strip() or "2"
    decision = question["options"][int(choice) - 1] if choice in {"1", "2", "3"} else "rejected"
    if decision == "approved_with_conditions":
        return {"decision": decision, "condition": input("  the condition: ").strip() or scripted["condition"]}
    return {"decision": decision}


def _show(chunk: dict) -> None:
    for node, update in chunk.items():
        if node == "__interrupt__":
            print(f"  PAUSED: {update[0].value['question']}")
        else:
            print(f"  {node}: {update['history'][-1].partition(': ')[2]}")


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # so that the lines of the processes come in order
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "support.db"
        ask(database, "order-1", "Where is my parcel?")
        _in_another_process("ask", database, "order-2", "I want a refund for my broken lamp.")
        _in_another_process("answer", database, "order-2")


def _in_another_process(*arguments: object) -> None:
    subprocess.run([sys.executable, __file__, *map(str, arguments)], check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", database, thread_id, request]:
            ask(Path(database), thread_id, request)
        case ["answer", database, thread_id]:
            answer(Path(database), thread_id)
        case _:
            main()
