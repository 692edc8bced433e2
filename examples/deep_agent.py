"""A deep agent plans, keeps files, runs a command, and hands work to a subagent. What reaches out is asked about.

The files are in a real folder, so that writing waits for a person, and so does the command. The writer is a subagent:
it inherits what is asked about, except that it may `publish` drafts as it likes. Its question comes up at the root,
with the way to it, is answered there, and the writer goes on where it stopped.
"""

import tempfile
from pathlib import Path

from scripted_model import says
from signoff.agents import create_deep_agent
from signoff.agents.backends import ShellBackend
from signoff.checkpoint.memory import InMemorySaver
from signoff.types import Command

DONE: list[str] = []

REQUEST = {"messages": [("user", "Write the release notes.")]}
PLAN = [("write_todos", {"todos": [{"content": "have the notes written", "status": "in_progress"}]})]
WORK = [
    ("task", {"description": "Write the notes to /notes.md", "subagent_type": "writer"}),
    ("publish", {"text": "Notes are coming"}),
]
CHECK = [("execute", {"command": "wc -l notes.md"})]

WRITING = [("publish", {"text": "a draft"}), ("write_file", {"file_path": "/notes.md", "content": "fast\nsafe\n"})]


def publish(text: str) -> str:
    """Publish a text."""
    DONE.append(f"publish {text}")
    return f"Published: {text}"


def build(saver, folder):
    writer = {
        "name": "writer",
        "description": "Writes texts.",
        "system_prompt": "You write short texts.",
        "model": says(WRITING, "The notes are in /notes.md."),
        "interrupt_on": {"publish": False},
    }
    return create_deep_agent(
        says(PLAN, WORK, CHECK, "The release notes are ready."),
        [publish],
        subagents=[writer],
        backend=ShellBackend(folder),
        interrupt_on={"publish": True},
        checkpointer=saver,
    )


def answers(questions) -> dict:
    """Approve everything, but have the writer's file changed."""
    return {question.id: {"decisions": list(map(_decision, _actions(question)))} for question in questions}


def _decision(action) -> dict:
    if action["name"] != "write_file":
        return {"type": "approve"}
    return {"type": "edit", "edited_action": {"name": "write_file", "args": {**action["args"], "content": "fast\n"}}}


def _actions(question) -> list[dict]:
    return question.value["action_requests"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        app, config = build(InMemorySaver(), folder), {"configurable": {"thread_id": "release"}}
        result = app.invoke(REQUEST, config)
        while questions := result.get("__interrupt__"):
            for question in questions:
                who = " > ".join(["agent", *question.value.get("path", [])])
                print(f"PAUSED, {who}: {', '.join(one['description'] for one in _actions(question))}")
            result = app.invoke(Command(resume=answers(questions)), config)
        print(f"todo: {result['todos'][0]['content']}")
        for message in result["messages"][3:]:
            print(f"  {message.type}: {message.text.strip().splitlines()[-1] if message.text else '(calls tools)'}")
        print(f"notes.md: {Path(folder, 'notes.md').read_text()!r}")


if __name__ == "__main__":
    main()
