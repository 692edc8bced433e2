"""Other processes: one asks and ends, another lists and answers, four answer at once, a third reads the history."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
sys.path.insert(0, {folder!r})
from dying import CONFIG, build
from pathlib import Path
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.errors import AlreadyAnswered
from signoff.inbox import Inbox

place = Path(sys.argv[1])
with SqliteSaver.from_conn_string(str(place / "threads.db")) as saver:
    inbox, app = Inbox(saver), build(place, saver)
    {body}
"""


def process(place: Path, body: str, *arguments: str) -> "subprocess.Popen[str]":
    program = PROGRAM.format(folder=str(Path(__file__).parent), body=body)
    return subprocess.Popen(
        [sys.executable, "-c", program, str(place), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def output(started: "subprocess.Popen[str]", said: str | None = None) -> str:
    out, _ = started.communicate(said, timeout=60)
    assert started.returncode == 0
    return out


@pytest.fixture
def asked(tmp_path) -> Path:
    output(process(tmp_path, 'app.invoke({"said": ""}, CONFIG)'))
    return tmp_path


def test_one_process_asks_another_answers_a_third_reads_the_history(asked):
    listed = json.loads(output(process(asked, "print(json.dumps([[q.id, q.value] for q in inbox.open()]))")))
    assert [value for _, value in listed] == ["Transfer?"]
    output(process(asked, 'inbox.answer(sys.argv[2], "yes", by="ana"); app.resume_answered()', listed[0][0]))
    history = output(process(asked, "print([(event.kind, event.by) for event in inbox.history('a')])"))
    assert "('answered', 'ana')" in history
    assert (asked / "done").read_text().splitlines() == ["prepare", "execute after yes"]


CLICK = """
    question = inbox.open()[0]
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        inbox.answer(question.id, "yes", by=sys.argv[2])
        app.resume_answered(["a"])
        print("won")
    except AlreadyAnswered as error:
        print(error)
"""


def test_four_people_click_approve_at_once_and_one_wins(asked):
    names = ["ana", "ben", "cleo", "dan"]
    people = [process(asked, CLICK, name) for name in names]
    for person in people:
        assert person.stdout.readline() == "ready\n"
    for person in people:
        person.stdin.write("go\n")
        person.stdin.flush()
    told = dict(zip(names, [output(person).strip() for person in people], strict=True))
    winner = next(name for name, text in told.items() if text == "won")
    assert all(f"answered by {winner}" in text for name, text in told.items() if name != winner)
    assert (asked / "done").read_text().splitlines() == ["prepare", "execute after yes"]
