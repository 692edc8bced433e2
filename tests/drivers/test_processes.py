"""Whether the process that holds a thread has ended: asked on Linux, and on systems that tell less of processes."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from signoff.drivers import processes

PROGRAM = """
import sys
from signoff.drivers import processes
processes._PROC = sys.argv[1]
print(processes.this_process(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=["/proc", "/nowhere"], ids=["linux", "elsewhere"])
def proc(request, monkeypatch):
    monkeypatch.setattr(processes, "_PROC", request.param)
    return request.param


@contextmanager
def another(proc):
    """Another process, and the name that it has for itself."""
    command = [sys.executable, "-c", PROGRAM, proc]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_process_that_runs_has_not_ended(proc):
    with another(proc) as (_, name):
        assert not processes.has_ended(name)


def test_a_process_that_was_killed_has_ended(proc):
    with another(proc) as (process, name):
        process.kill()
        process.wait()
        assert processes.has_ended(name)


def test_of_another_machine_nothing_is_known(proc):
    with another(proc) as (process, name):
        process.kill()
        process.wait()
        assert not processes.has_ended(f"another-{name}")


def test_where_a_process_cannot_be_asked_nothing_is_known(monkeypatch):
    monkeypatch.setattr(processes, "_PROC", "/nowhere")
    with another("/nowhere") as (process, name):
        process.kill()
        process.wait()
        monkeypatch.setattr(os, "name", "nt")  # there, to ask would be to send it Ctrl-C
        assert not processes.has_ended(name)
