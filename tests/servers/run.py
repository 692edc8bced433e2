"""One run of the tests: a folder that its processes share, and how servers are started in it."""

import atexit
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

FOLDER = "SIGNOFF_TEST_RUN"
"""The environment variable that tells the workers of a run its folder."""

START_TIMEOUT_S = 60.0

KEEPER = Path(__file__).with_name("keeper.py")

_keepers: list["subprocess.Popen[bytes]"] = []


class Run:
    """Held by the first process of a run. When it lets go, or dies, every server of the run ends."""

    def __init__(self) -> None:
        # Sockets have short names, and temporary folders, on some systems, long ones.
        short = "/tmp" if os.path.isdir("/tmp") else None
        self.folder = Path(tempfile.mkdtemp(prefix="signoff-", dir=short))
        self.folder.chmod(0o755)
        self._alive: TextIOWrapper = (self.folder / "alive").open("w")
        fcntl.flock(self._alive, fcntl.LOCK_EX)
        os.environ[FOLDER] = str(self.folder)

    def end(self) -> None:
        os.environ.pop(FOLDER, None)
        if any(path.is_dir() for path in self.folder.iterdir()):
            self._alive.close()  # the keepers clear up
            return
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()
        self._alive.close()


def folder() -> Path:
    """The folder of this run."""
    return Path(os.environ[FOLDER])


def once(name: str, start: Callable[[], str]) -> str:
    """What `start` returned in the first process of the run that asked; the others wait for it."""
    answer = folder() / f"{name}.started"
    with (folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            answer.write_text(start())
        return answer.read_text()


def keep(command: list[str], log: Path, end: signal.Signals, uid: int = 0) -> "subprocess.Popen[bytes]":
    """Start a server that ends with the run; what is returned ends when the server does."""
    keeping = [sys.executable, "-S", "-E", str(KEEPER), str(folder()), str(int(end)), str(uid), *command]
    with log.open("ab") as output:
        keeper = subprocess.Popen(
            keeping, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    _keepers.append(keeper)
    return keeper


def wait_until(is_ready: Callable[[], bool], keeper: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait for a server to answer; if it ends instead, or takes too long, show what it said."""
    give_up_at = time.monotonic() + START_TIMEOUT_S
    while not is_ready():
        if keeper.poll() is not None or time.monotonic() > give_up_at:
            raise RuntimeError(f"The server did not start; it said:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.01)


@atexit.register
def _let_go() -> None:
    # They outlive this process on purpose; Python would warn that nobody waited for them.
    for keeper in _keepers:
        keeper.returncode = keeper.poll() or 0
