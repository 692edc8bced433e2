"""One process asks and ends. Another finds the question and answers it. A third reads what happened.

They share nothing but a SQLite file. On several machines it would be a PostgresSaver.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

from signoff.checkpoint.questions import Wanted
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Leave(TypedDict, total=False):
    who: str
    days: int
    status: str


def review(state: Leave) -> Leave:
    approved = interrupt(f"May {state['who']} take {state['days']} days off?", update={"status": "waiting"})
    return {"status": "approved" if approved else "declined"}


def build() -> StateGraph:
    return StateGraph(Leave).add_node(review).add_edge(START, "review")


def ask(saver: SqliteSaver) -> None:
    app = build().compile(checkpointer=saver, name="leave")
    for who, days in (("Ana", 3), ("Ben", 30)):
        app.invoke({"who": who, "days": days}, {"configurable": {"thread_id": f"leave-{who}"}})
        print(f"  {who} has asked")


def answer(saver: SqliteSaver) -> None:
    app = build().compile(checkpointer=saver, name="leave")
    for question in saver.find_questions(Wanted(graph="leave")):
        approved = "30 days" not in question.value
        print(f"  {question.value} {'yes' if approved else 'no'}")
        thread = {"configurable": {"thread_id": question.thread_id}}
        app.invoke(Command(resume={question.id: approved}, by="the boss"), thread)


def read(saver: SqliteSaver) -> None:
    app = build().compile(checkpointer=saver, name="leave")
    for who in ("Ana", "Ben"):
        history = list(app.get_state_history({"configurable": {"thread_id": f"leave-{who}"}}))
        print(f"  {who}: {' <- '.join(old.values.get('status', 'new') for old in history)}")


def play() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # so that the lines of the processes come in order
    with tempfile.TemporaryDirectory() as folder:
        for job in (ask, answer, read):
            print(f"A process that is to {job.__name__}:")
            subprocess.run([sys.executable, __file__, job.__name__, str(Path(folder) / "leave.db")], check=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        play()
    else:
        with SqliteSaver.from_conn_string(sys.argv[2]) as saver:
            {"ask": ask, "answer": answer, "read": read}[sys.argv[1]](saver)
