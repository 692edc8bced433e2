"""Four people click approve at once, each in a process of their own: one wins, three are told so, one transfer is made.

The answer is taken in the same transaction in which the thread is: there is no moment in which two have it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.errors import AlreadyAnswered, ThreadBusy
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "transfer-1"}}


class Transfer(TypedDict, total=False):
    amount: int
    approved: bool


def approve(state: Transfer) -> Transfer:
    return {"approved": interrupt(f"Transfer {state['amount']} euros?")}


def transfer(state: Transfer) -> None:
    print(f"    {state['amount']} euros are on their way", flush=True)


def build() -> StateGraph:
    return StateGraph(Transfer).add_sequence([approve, transfer]).add_edge(START, "approve")


def click(database: str, person: str) -> None:
    """What one of the four processes does."""
    with SqliteSaver.from_conn_string(database) as saver:
        app = build().compile(checkpointer=saver)
        sys.stdin.readline()  # wait for the start
        try:
            app.invoke(Command(resume=True, by=person), CONFIG)
            print(f"{person}: done", flush=True)
        except (AlreadyAnswered, ThreadBusy) as error:
            print(f"{person}: {type(error).__name__}", flush=True)


def play() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "transfers.db")
        with SqliteSaver.from_conn_string(database) as saver:
            app = build().compile(checkpointer=saver)
            print(app.invoke({"amount": 500}, CONFIG)["__interrupt__"][0].value)
            shown = "".join(_race(database, ["ana", "ben", "cleo", "dan"]))
            print(shown, end="")
            print(f"transfers: {shown.count('on their way')}, winners: {shown.count(': done')}")
            try:
                app.invoke(Command(resume=False, by="eve"), CONFIG)
            except AlreadyAnswered as error:
                print(f"eve, a day later: {error}")


def _race(database: str, people: list[str]) -> list[str]:
    """Start a process for each person, let all go at once, and return what they said."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    clicks = [subprocess.Popen([sys.executable, __file__, database, person], **pipes) for person in people]
    for one in clicks:
        one.stdin.write("go\n")
        one.stdin.flush()
    return [one.communicate()[0] for one in clicks]


if __name__ == "__main__":
    if len(sys.argv) == 1:
        play()
    else:
        click(*sys.argv[1:])
