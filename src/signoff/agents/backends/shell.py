"""A folder in which commands of the shell may be run, with a limit to their time and to what they print."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from signoff.agents.backends.base import Executed, FileError
from signoff.agents.backends.folder import FolderBackend
from signoff.errors import InvalidInput

__all__ = ["ShellBackend"]


class ShellBackend(FolderBackend):
    """Keeps files in a folder and runs commands in it. A command may leave the folder: let a person look at each.

    timeout_s: a command is stopped after so many seconds, with all that it started.
    max_output: so many bytes of what it prints are kept.
    env: the environment of commands; by default only PATH, HOME and LANG, so that no secret gets into it.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        timeout_s: float = 120.0,
        max_output: int = 50_000,
        env: Mapping[str, str] | None = None,
    ) -> None:
        if os.name != "posix":
            raise InvalidInput(
                "ShellBackend stops a command with all that it started, which Windows has no way to do. Use "
                "FolderBackend there, or run the agent in a container or in WSL."
            )
        super().__init__(root)
        self.timeout_s = timeout_s
        self.max_output = max_output
        self.env = _plain_env(self.root) if env is None else dict(env)

    def execute(self, command: str) -> Executed:
        """Run a command in the folder."""
        process = self._started(command)
        printed, ends_at = Printed(self.max_output), time.monotonic() + self.timeout_s
        try:
            is_late = not printed.read(process, ends_at)
            code = process.wait(max(0.0, ends_at - time.monotonic()))
        except subprocess.TimeoutExpired:  # it has closed its output, and goes on
            is_late = True
        finally:
            _stop(process)
            process.wait()
        return Executed(printed.kept.decode("utf-8", "replace"), None if is_late else code, printed.is_cut, is_late)

    def _started(self, command: str) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                command,
                shell=True,
                cwd=self.root,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # too long, or with characters that no command can have
            raise FileError(f"The command could not be run: {error}.") from error


@dataclass(slots=True)
class Printed:
    """What a command prints, as far as it may be kept; the rest is read, but dropped, so that it can end."""

    most: int
    kept: bytes = b""
    is_cut: bool = False

    def read(self, process: "subprocess.Popen[bytes]", ends_at: float) -> bool:
        """Read to the end, but no longer than to a moment: somebody who left the group may keep the output open."""
        assert process.stdout is not None, "it is a pipe"
        with process.stdout as stream, selectors.DefaultSelector() as waiting:
            waiting.register(stream, selectors.EVENT_READ)
            while waiting.select(max(0.0, ends_at - time.monotonic())):
                chunk = os.read(stream.fileno(), 65536)
                if not chunk:
                    return True
                self.is_cut = self.is_cut or len(self.kept) + len(chunk) > self.most
                self.kept = (self.kept + chunk)[: self.most]
        return False


def _plain_env(root: Path) -> dict[str, str]:
    known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**known, "HOME": str(root)}


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop a command and all that it started; what it left in the background, too."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
