"""Whether the process that holds a thread has ended: asked on Linux, and on systems that tell less of processes."""

import os
import subprocess
import sys
import uuid
from contextlib import contextmanager

import pytest

from signoff.drivers.saving import processes

PROGRAM = """
import sys, uuid
from signoff.drivers.saving import processes
processes._PROC, uuid.getnode = sys.argv[1], lambda: int(sys.argv[2])
print(processes.this_process(), flush=True)
sys.stdin.read()
"""


HERE, ELSEWHERE = 0x02FC00000001, 0x02FC00000002


@pytest.fixture(params=["/proc", "/nowhere"], ids=["linux", "elsewhere"])
def proc(request, monkeypatch):
    monkeypatch.setattr(processes, "_PROC", request.param)
    monkeypatch.setattr(uuid, "getnode", lambda: HERE)
    return request.param


@contextmanager
def another(proc, machine=HERE):
    """Another process, and the name that it has for itself."""
    command = [sys.executable, "-c", PROGRAM, proc, str(machine)]
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


@pytest.mark.parametrize("proc", ["/nowhere"], indirect=True)
def test_of_another_machine_of_the_same_name_nothing_is_known(proc):
    with another(proc, ELSEWHERE) as (process, name):
        process.kill()
        process.wait()
        assert not processes.has_ended(name)


def test_where_a_process_cannot_be_asked_nothing_is_known(monkeypatch):
    monkeypatch.setattr(processes, "_PROC", "/nowhere")
    monkeypatch.setattr(uuid, "getnode", lambda: HERE)
    with another("/nowhere") as (process, name):
        process.kill()
        process.wait()
        monkeypatch.setattr(os, "name", "nt")  # there, to ask would be to send it Ctrl-C
        assert not processes.has_ended(name)
