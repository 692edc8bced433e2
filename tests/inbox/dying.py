"""A process that answers a question and goes on, and is killed at one of the statements that it executes.

python dying.py ask FOLDER              asks
python dying.py answer FOLDER           for each statement: copies the file, answers and goes on in a child that is
                                        killed there, and prints what the next process finds and does
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import END, START, StateGraph
from signoff.inbox import Inbox
from signoff.types import interrupt

CONFIG = {"configurable": {"thread_id": "a"}}


def build(folder: Path, saver):
    def did(name: str) -> dict:
        with (folder / "done").open("a") as file:
            file.write(f"{name}\n")
        return {"said": name}

    graph = StateGraph(dict)
    graph.add_node("prepare", lambda state: did("prepare"))
    graph.add_node("review", lambda state: {"said": interrupt("Transfer?")})
    graph.add_node("execute", lambda state: did(f"execute after {state['said']}"))
    graph.add_edge(START, "prepare").add_edge("prepare", "review").add_edge("review", "execute").add_edge(
        "execute", END
    )
    return graph.compile(checkpointer=saver, name="transfers")


def ask(folder: Path) -> None:
    with SqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        build(folder, saver).invoke({"said": ""}, CONFIG)


def answer_and_go_on(folder: Path, killed_at: int) -> None:
    """In the child: answer, and go on, until it is killed."""
    with SqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        inbox = Inbox(saver)
        question = inbox.open()[0]
        count = 0

        def on_statement(sql: str) -> None:
            nonlocal count
            count += 1
            if count > killed_at:
                os.kill(os.getpid(), signal.SIGKILL)

        saver.conn.set_trace_callback(on_statement)
        inbox.answer(question.id, "yes", by="ana")
        (folder / "told").write_text("stored")
        build(folder, saver).resume_answered(durability="sync")


def look_and_finish(folder: Path) -> dict:
    """The next process: what it finds, and what it gets to."""
    with SqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        inbox, app = Inbox(saver), build(folder, saver)
        found = {
            "told": (folder / "told").exists(),
            "is_open": len(inbox.open()) == 1,
            "next": list(app.get_state(CONFIG).next),
            "done_before": (folder / "done").read_text().splitlines(),
        }
        for question in inbox.open():
            inbox.answer(question.id, "yes", by="ana")
        app.resume_answered()
        result = app.invoke(None, CONFIG)
        answers = [event.by for event in inbox.history("a") if event.kind == "answered"]
        return {**found, "result": result, "answers": answers, "done": (folder / "done").read_text().splitlines()}


def at_each_statement(folder: Path) -> None:
    killed_at = 0
    while True:
        copy = folder / f"killed-{killed_at}"
        copy.mkdir()
        shutil.copy(folder / "threads.db", copy)
        shutil.copy(folder / "done", copy)
        child = os.fork()
        if child == 0:
            answer_and_go_on(copy, killed_at)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"was_killed": os.WIFSIGNALED(status), **look_and_finish(copy)}))
        if not os.WIFSIGNALED(status):
            break
        killed_at += 1


if __name__ == "__main__":
    command, place = sys.argv[1:]
    {"ask": ask, "answer": at_each_statement}[command](Path(place))
