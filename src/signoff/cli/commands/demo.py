"""The demo: a support desk that asks before it refunds."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from signoff._words.commands import Command
from signoff._words.questions import Interrupt, interrupt
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.cli.following import follow
from signoff.cli.given import person
from signoff.cli.output import console, has_terminal, show_block
from signoff.cli.prompt.panel import panels
from signoff.cli.prompt.reading import read
from signoff.graph import END, START, StateGraph
from signoff.inbox import Inbox

if TYPE_CHECKING:
    from rich.console import Console

SCRIPTED = "approved, if the lamp comes back"
OPTIONS = ["approved", SCRIPTED, "rejected"]


class Support(TypedDict, total=False):
    request: str
    risk: str
    decision: str
    reply: str


def analyze(state: Support) -> Command[Literal["review", "reply"]]:
    is_risky = "refund" in state["request"]
    return Command(update={"risk": "high" if is_risky else "low"}, goto="review" if is_risky else "reply")


def review(state: Support) -> Support:
    question = {"question": "May we refund this?", "request": state["request"], "risk": state["risk"]}
    return {"decision": interrupt(question, response_schema={"enum": OPTIONS})}


def reply(state: Support) -> Support:
    decision = state.get("decision", "answered")
    return {"reply": f"Dear customer: {decision}."}


def build() -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(Support)
    graph.add_node(analyze).add_node(review).add_node(reply)
    graph.add_edge(START, "analyze").add_edge("review", "reply").add_edge("reply", END)
    return graph


def play() -> None:
    """Play the demo: in a terminal the answer is yours, else a scripted one is given."""
    out = console()
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "demo.db")
        out.print("1. A harmless request runs through.\n")
        _run(file, "order-1", {"request": "Where is my parcel?"}, out)
        out.print("\n2. A refund needs a person: the run is saved, and lets go of the process.\n")
        (question,) = _run(file, "order-2", {"request": "I want a refund for my broken lamp."}, out)
        out.print("\n3. Later, perhaps elsewhere: what waits for an answer?\n")
        said = _answer(file, question, out)
        if said is None:
            out.print("\n  The question stays open. That was all for now.")
            return
        out.print("\n4. The answer is stored, and the run goes on where it stopped.\n")
        _run(file, "order-2", None, out)
        out.print("\nNothing was done twice. With your own graph: signoff run path.py:attr '{...}'")


def _run(file: str, thread: str, input: Any, out: "Console") -> tuple[Interrupt[Any], ...]:
    """Each stage opens the file anew, as another process would."""
    with SqliteSaver.from_conn_string(file) as saver:
        app = build().compile(checkpointer=saver, name="support")
        if input is not None:
            out.print(f'  customer of {thread}: "{input["request"]}"')
        config = {"configurable": {"thread_id": thread}}
        questions = follow(app, input, config, out)
        if not questions:
            out.print(f'  to the customer: "{app.get_state(config).values["reply"]}"')
        return questions


def _answer(file: str, question: Interrupt[Any], out: "Console") -> Any:
    said = _asked(question, out) if has_terminal() else _scripted(question, out)
    if said is not None:
        with SqliteSaver.from_conn_string(file) as saver:
            Inbox(saver).answer(question.id, said, by=person(None))
    return said


def _asked(question: Interrupt[Any], out: "Console") -> Any:
    from signoff.cli.prompt.asking import Skipped, ask

    try:
        return ask(question, out, "order-2")
    except (Skipped, KeyboardInterrupt, EOFError):
        return None


def _scripted(question: Interrupt[Any], out: "Console") -> str:
    show_block(out, panels(read(question), "order-2"))
    out.print(f"  {SCRIPTED}  (there is no terminal, so this answer is given)")
    return SCRIPTED
