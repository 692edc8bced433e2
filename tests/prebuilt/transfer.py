"""A program of its own: an agent with tools that ask by themselves, run once for each line of a conversation.

`python transfer.py FILE ask|answer sync|async v1|v2` prints what it sees as JSON; tools that run note it in a file.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

sys.path.insert(0, str(Path(__file__).parents[1]))

from prebuilt.models import call, calls, scripted
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.prebuilt import add_human_in_the_loop, create_react_agent, validate_chat_history
from signoff.types import Command, interrupt

CONFIG: Any = {"configurable": {"thread_id": "1"}}
WANTED = calls(
    call("transfer_money", "c1", amount=500, to="ana"),
    call("send_email", "c2", to="bo", text="hello"),
    call("book_hotel", "c3", hotel="Ritz"),
    call("look_up", "c4", name="ana"),
    id="ai-1",
)
ANSWERS: dict[str, Any] = {
    "transfer_money": {"amount": 400},
    "send_email": {"text": "good day"},
    "book_hotel": [{"type": "edit", "args": {"action": "book_hotel", "args": {"hotel": "Plaza"}}}],
}


def tools(ran: Path) -> list[Any]:
    def note(line: str) -> str:
        with ran.open("a") as file:
            file.write(line + "\n")
        return line

    @tool
    def transfer_money(amount: int, to: str) -> str:
        """Transfer money."""
        decided = {"amount": amount, "to": to, **interrupt({"tool": "transfer_money", "amount": amount, "to": to})}
        return note(f"{decided['amount']} to {decided['to']}")

    @tool
    def send_email(to: str, text: str) -> str:
        """Send an email."""
        decided = {"to": to, "text": text, **interrupt({"tool": "send_email", "to": to, "text": text})}
        return note(f"{decided['text']} to {decided['to']}")

    @tool
    def book_hotel(hotel: str) -> str:
        """Book a hotel."""
        return note(f"booked {hotel}")

    @tool
    def look_up(name: str) -> str:
        """Look somebody up."""
        return note(f"found {name}")

    return [transfer_money, send_email, add_human_in_the_loop(book_hotel), look_up]


def asked(question: Any) -> str:
    """The tool that a question is about."""
    value = question.value
    return value[0]["action_request"]["action"] if isinstance(value, list) else value["tool"]


def seen(result: Any) -> dict[str, Any]:
    questions = result.get("__interrupt__", [])
    if not questions:
        validate_chat_history(result["messages"])
    return {
        "questions": {asked(question): question.id for question in questions},
        "results": [message.content for message in result["messages"] if isinstance(message, ToolMessage)],
        "last": result["messages"][-1].content,
    }


def input_for(step: str, questions: Any) -> Any:
    if step == "ask":
        return {"messages": [HumanMessage("Pay ana, write to bo, book the Ritz")]}
    return Command(resume={question.id: ANSWERS[asked(question)] for question in questions})


def main(file: Path, step: str, version: Any) -> dict[str, Any]:
    with SqliteSaver.from_conn_string(str(file)) as saver:
        app = create_react_agent(scripted(WANTED), tools(file.with_suffix(".ran")), checkpointer=saver, version=version)
        return seen(app.invoke(input_for(step, app.get_state(CONFIG).interrupts), CONFIG))


async def amain(file: Path, step: str, version: Any) -> dict[str, Any]:
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        app = create_react_agent(scripted(WANTED), tools(file.with_suffix(".ran")), checkpointer=saver, version=version)
        state = await app.aget_state(CONFIG)
        return seen(await app.ainvoke(input_for(step, state.interrupts), CONFIG))


if __name__ == "__main__":
    path, step, way, version = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    print(json.dumps(main(path, step, version) if way == "sync" else asyncio.run(amain(path, step, version))))
