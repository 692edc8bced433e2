"""A test that hangs fails: it is named, with what its threads were doing, and the run ends."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

SETTINGS = Path(__file__).parent.parent / "pyproject.toml"

HANGS = """
import threading

def wait_for_what_never_happens():
    threading.Event().wait()

def test_it():
    thread = threading.Thread(target=wait_for_what_never_happens, daemon=True)
    thread.start()
    thread.join()
"""


def run_that_hangs(folder, workers):
    """A run with the settings of this one, but for the time that a test may take."""
    (folder / "test_hanging.py").write_text(HANGS)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "SIGNOFF", "COV"))}
    options = ["-c", str(SETTINGS), "-o", "faulthandler_timeout=0.1", "-p", "no:cacheprovider", "-n", str(workers)]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(folder), "test_hanging.py"]
    return subprocess.run(command, env=env, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


def test_a_test_that_hangs_is_reported_as_failed(tmp_path):
    done = run_that_hangs(tmp_path, workers=1)
    assert done.returncode == 1
    assert "crashed while running 'test_hanging.py::test_it'" in done.stdout
    assert "1 failed" in done.stdout


def test_it_is_shown_what_each_thread_was_doing(tmp_path):
    done = run_that_hangs(tmp_path, workers=0)
    assert done.returncode == 1
    assert "Timeout (0:00:00.1" in done.stderr
    assert "in wait_for_what_never_happens" in done.stderr
    assert "in test_it" in done.stderr


def test_it_is_given_minutes():
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert settings["faulthandler_timeout"] == 300
