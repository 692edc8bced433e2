"""Processes that are forked off a Python that has loaded much are like those that start from nothing."""

import json
import os
import signal
import subprocess
import sys

import pytest

from strict import STRICT_PYTHON
from warm import Process, run

SURROUNDINGS = """
import json, os, sys
from pathlib import Path

print(json.dumps({
    "arguments": sys.argv[1:], "path": sys.path[0], "folder": os.getcwd(), "own": os.environ["OWN"],
    "others": [name for name in os.environ if name.startswith("PYTEST")], "input": sys.stdin.read(),
    "names": sorted(name for name in vars(sys.modules["__main__"]) if not name.startswith("__")),
    "main": Path(sys.modules["__main__"].__file__).name,
}))
"""


def test_it_has_the_surroundings_of_a_python_that_starts_from_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SURROUNDINGS)
    env = {"OWN": "mine", "PATH": os.environ["PATH"]}
    command = [*STRICT_PYTHON, str(program), "a", "b"]
    cold = subprocess.run(command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    warm = run([program, "a", "b"], cwd=tmp_path, env=env)
    assert (warm.returncode, warm.stderr) == (0, "")
    assert json.loads(warm.stdout) == json.loads(cold.stdout)


@pytest.mark.parametrize(
    ("program", "code", "told"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import os; os.abort()", -signal.SIGABRT, ""),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import warnings; warnings.warn('beware')", 1, "beware"),
        ("import sys; file = open(sys.executable)", 0, "ResourceWarning"),
        ("import atexit, sys; atexit.register(lambda: sys.stderr.write('last words'))", 0, "last words"),
    ],
)
def test_it_ends_like_a_python_that_starts_from_nothing(program, code, told):
    cold = subprocess.run([*STRICT_PYTHON, "-c", program], capture_output=True, text=True, check=False)
    warm = run(["-c", program])
    assert warm.returncode == cold.returncode == code
    assert told in warm.stderr
    assert told in cold.stderr


def test_it_can_be_stopped_and_killed():
    its_input, to_it = os.pipe()
    process = Process(["-c", "import sys; sys.stdin.read()"], its_input, 1, 2)
    os.close(its_input)
    process.suspend()
    assert process.poll() is None
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert process.poll() == -signal.SIGKILL
    os.close(to_it)


def test_each_makes_luck_of_its_own():
    first, second = [run(["-c", "import random; print(random.random())"]).stdout for _ in range(2)]
    assert first != second


def test_it_is_a_process_of_its_own():
    assert int(run(["-c", "import os; print(os.getpid())"]).stdout) not in (os.getpid(), os.getppid())
    assert run(["-c", "import sys; print(sys.executable)"]).stdout.strip() == sys.executable
