"""A folder in which commands of the shell may be run, with a limit to their time and to what they print."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from signoff.agents.backends.base import Executed
from signoff.agents.backends.folder import FolderBackend

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
        super().__init__(root)
        self.timeout_s = timeout_s
        self.max_output = max_output
        self.env = _plain_env(self.root) if env is None else dict(env)

    def execute(self, command: str) -> Executed:
        """Run a command in the folder."""
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = threading.Event()

        def end() -> None:
            late.set()
            _stop(process)

        watch = threading.Timer(self.timeout_s, end)
        watch.start()
        try:
            kept, is_cut = self._read(process)
            code = process.wait()
        finally:
            watch.cancel()
            _stop(process)
        return Executed(kept.decode("utf-8", "replace"), None if late.is_set() else code, is_cut, late.is_set())

    def _read(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, bool]:
        """What the command prints, as far as it may be kept; the rest is read, but dropped, so that it can end."""
        assert process.stdout is not None, "it is a pipe"
        kept, is_cut = b"", False
        with process.stdout as stream:
            while chunk := stream.read1(65536):  # type: ignore[attr-defined]
                is_cut = is_cut or len(kept) + len(chunk) > self.max_output
                kept = (kept + chunk)[: self.max_output]
        return kept, is_cut


def _plain_env(root: Path) -> dict[str, str]:
    known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**known, "HOME": str(root)}


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop a command and all that it started; what it left in the background, too."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
