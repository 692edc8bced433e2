"""What one process asks another one answers: of the agent and of its subagent (scenarios 24 and 25)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("deep.py")


def run(folder: Path, step: str, way: str) -> Any:
    command = [sys.executable, str(PROGRAM), str(folder), step, way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_deep_agent_is_answered_in_another_process(tmp_path, way):
    paused = run(tmp_path, "ask", way)
    assert sorted(paused["asked"], key=str) == [[None, ["sample_tool", "sample_tool"]], [["writer"], ["write_file"]]]
    ran = tmp_path / "ran.txt"
    assert sorted(ran.read_text().splitlines()) == ["look ana", "writer speaks"]
    result = run(tmp_path, "answer", way)
    assert result["results"]["t1"] == "written"
    assert result["results"]["c2"] == "sample one"
    assert "enough" in result["results"]["c3"]
    assert (tmp_path / "work" / "notes.md").read_text() == "ONE\n"
    assert sorted(ran.read_text().splitlines()) == ["look ana", "sample one", "writer speaks", "writer speaks"]
