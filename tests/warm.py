"""Processes that run Python programs, forked off a Python that has loaded already what they load.

Most of what a short program takes is to load LangChain or Typer. Which of it is loaded when is not to be seen here:
tests of that start a Python of their own.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import servers.run
from strict import STRICT_PYTHON

PYTHON = Path(__file__).with_name("warm_python.py")

MODULES = [
    "signoff.cli.app", "signoff.cli.apps", "signoff.cli.commands.demo", "signoff.cli.commands.questions",
    "signoff.cli.commands.running", "signoff.cli.commands.threads", "signoff.cli.prompt.asking",
    "signoff.cli.prompt.panel", "signoff.cli.screen", "prompt_toolkit", "prompt_toolkit.input.vt100", "rich.table",
    "signoff.checkpoint.serde.codec", "signoff.checkpoint.serde.explain", "signoff.checkpoint.sqlite.aio",
    "signoff.agents", "signoff.prebuilt", "signoff.inbox.desk", "signoff.func", "signoff.store.sqlite",
    "signoff.bridge.watch", "signoff.engine.planning.remaining_work", "signoff.graph.compiled",
    "signoff.graph.validating",
    "signoff.types", "signoff.checkpoint.postgres.aio", "signoff.checkpoint.redis.aio",
    "langchain_core.language_models.fake_chat_models", "langchain_core.tracers.langchain", "langsmith.run_helpers",
]  # fmt: skip
"""What is loaded beforehand."""


class Process:
    """A process, as `subprocess.Popen` shows one. For a warning it fails."""

    def __init__(
        self, arguments: Sequence[str | Path], stdin: int, stdout: int, stderr: int, *,
        cwd: Path | None = None, env: Mapping[str, str] | None = None, has_terminal: bool = False,
    ) -> None:  # fmt: skip
        self.arguments = [str(argument) for argument in arguments]
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(_address())
        environment = dict(os.environ if env is None else env)
        program = {"arguments": self.arguments, "cwd": str(cwd or Path.cwd()), "env": environment,
                   "has_terminal": has_terminal}  # fmt: skip
        socket.send_fds(self._connection, [json.dumps(program).encode()], [stdin, stdout, stderr])
        self._connection.shutdown(socket.SHUT_WR)
        self._told = self._connection.makefile("rb", buffering=0)  # so that nothing is read that nobody has asked for
        self.pid = int(self._told.readline())

    def poll(self) -> int | None:
        """How it ended, if it has."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended: how."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
            while (told := self._told.readline()) == b"stopped\n":
                pass
            self.returncode = int(told)
            self._told.close()
            self._connection.close()
        return self.returncode

    def suspend(self) -> None:
        """Stop it, and wait until all of it has stopped."""
        self.send_signal(signal.SIGSTOP)
        assert self._told.readline() == b"stopped\n"

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    arguments: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None,
    input: str = "", timeout: float = 60,
) -> "subprocess.CompletedProcess[str]":  # fmt: skip
    """Run a program without a terminal, and keep what it prints."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(input.encode())
        given.seek(0)
        process = Process(arguments, given.fileno(), out.fileno(), err.fileno(), cwd=cwd, env=env)
        try:
            process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        texts = [(file.seek(0), file.read().decode())[1] for file in (out, err)]
        return subprocess.CompletedProcess(process.arguments, process.returncode or 0, *texts)


@cache
def _address() -> str:
    """Where the Python is that forks: one for each worker of the test run. It ends with this process."""
    address = str(servers.run.folder() / f"warm-{os.getpid()}")
    command = [*STRICT_PYTHON, str(PYTHON), address, *MODULES]
    python = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(sys.prefix))
    assert python.stdout.readline() == b"ready\n", "it does not start"
    atexit.register(python.communicate)
    return address
