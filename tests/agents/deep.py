"""A program of its own: a deep agent whose subagent asks, run once for each line of a conversation.

`python deep.py FOLDER ask|answer sync|async` prints what it sees as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from langchain_core.tools import tool

sys.path.insert(0, str(Path(__file__).parents[1]))

from agents.desk import USER, call, calls, check_transcript, decide, edit, reject, results, scripted
from signoff.agents import create_deep_agent
from signoff.agents.backends import FolderBackend
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.types import Command

CONFIG: Any = {"configurable": {"thread_id": "1"}}
HANDING = calls(
    call("task", "t1", description="write the notes", subagent_type="writer"),
    call("sample_tool", "c2", text="one"),
    call("sample_tool", "c3", text="two"),
    call("look", "c4", name="ana"),
)
WRITING = calls(call("write_file", "s1", file_path="/notes.md", content="one\ntwo\n"))


def agent(folder: Path, saver: Any) -> Any:
    def note(line: str) -> str:
        with (folder / "ran.txt").open("a") as file:
            file.write(line + "\n")
        return line

    @tool
    def sample_tool(text: str) -> str:
        """A tool to watch over."""
        return note(f"sample {text}")

    @tool
    def look(name: str) -> str:
        """Look somebody up."""
        return note(f"look {name}")

    def speak_as_writer(messages: Any) -> Any:
        note("writer speaks")
        return WRITING if len(messages) == 2 else scripted("written").script[0]

    writer: Any = {
        "name": "writer",
        "description": "writes",
        "system_prompt": "Write.",
        "model": scripted(speak_as_writer, speak_as_writer),
    }
    (folder / "work").mkdir(exist_ok=True)
    return create_deep_agent(
        scripted(HANDING),
        [sample_tool, look],
        subagents=[writer],
        backend=FolderBackend(folder / "work"),
        interrupt_on={"sample_tool": True},
        checkpointer=saver,
    )


def seen(result: Any) -> dict[str, Any]:
    questions = result.get("__interrupt__", [])
    if not questions:
        check_transcript(result["messages"])
    asked = [(q.value.get("path"), [one["name"] for one in q.value["action_requests"]]) for q in questions]
    return {"asked": asked, "results": results(result)}


def answers(questions: Any) -> Any:
    of_writer = decide(edit("write_file", file_path="/notes.md", content="ONE\n"))
    of_agent = decide({"type": "approve"}, reject("enough"))
    return Command(resume={q.id: of_writer if q.value.get("path") else of_agent for q in questions})


def main(folder: Path, step: str) -> Any:
    with SqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        app = agent(folder, saver)
        return seen(app.invoke(USER if step == "ask" else answers(app.get_state(CONFIG).interrupts), CONFIG))


async def amain(folder: Path, step: str) -> Any:
    async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        app = agent(folder, saver)
        questions = (await app.aget_state(CONFIG)).interrupts
        return seen(await app.ainvoke(USER if step == "ask" else answers(questions), CONFIG))


if __name__ == "__main__":
    place, what, way = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    print(json.dumps(main(place, what) if way == "sync" else asyncio.run(amain(place, what))))
