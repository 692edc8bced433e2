"""A real pseudo-terminal: a program runs in it, keys are sent, the screen is read."""

import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path

import pyte

from strict import STRICT_PYTHON
from warm import Process

SCREENS = Path(__file__).parent / "screens"

PATHS = [path for path in [os.environ.get("PYTHONPATH")] if path]
"""Where the library is, if it is not installed."""

UP, DOWN, ENTER, CTRL_C, CTRL_D = "\x1b[A", "\x1b[B", "\r", "\x03", "\x04"


class Terminal:
    """A program in a terminal of 80 columns."""

    def __init__(self, command: Sequence[str], cwd: Path, env: dict[str, str] | None = None, lines: int = 40) -> None:
        self.screen = pyte.Screen(80, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "EDITOR", "VISUAL")}
        environment = {**kept, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": str(lines), "USER": "ana",
                       "LOGNAME": "ana", "PYTHONPATH": os.pathsep.join([str(cwd), *PATHS]), **(env or {})}  # fmt: skip
        self.process = Process(command, slave, slave, slave, cwd=cwd, env=environment, has_terminal=True)
        os.close(slave)
        self.seen = b""

    def press(self, *keys: str) -> None:
        """Send keys."""
        for key in keys:
            os.write(self._master, key.encode())

    def until(self, text: str, seconds: float = 30) -> None:
        """Read until the screen shows a text."""
        deadline = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < deadline, f"no {text!r} on the screen:\n{self.text}"
            assert self._read(), f"it ended without {text!r}:\n{self.text}"

    def until_typing(self, text: str, seconds: float = 30) -> None:
        """Read until the cursor stands in a line that begins with a text: then what is typed goes there."""
        deadline = time.monotonic() + seconds
        while not self.screen.display[self.screen.cursor.y].strip().startswith(text):
            assert time.monotonic() < deadline, f"no typing at {text!r}:\n{self.text}"
            assert self._read(), f"it ended without {text!r}:\n{self.text}"

    def end(self, seconds: float = 30) -> int:
        """Read until the program has ended: its exit code."""
        deadline = time.monotonic() + seconds
        while self._read():
            assert time.monotonic() < deadline, f"it does not end:\n{self.text}"
        return self.process.wait(seconds)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def colours_of(self, text: str) -> set[str]:
        """The colours that a text is shown in."""
        for number, line in enumerate(self.screen.display):
            if (place := line.find(text)) >= 0:
                return {self.screen.buffer[number][place + offset].fg for offset in range(len(text))}
        raise AssertionError(f"no {text!r} on the screen:\n{self.text}")

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 0.5)
        if not ready:
            return self.process.poll() is None or bool(select.select([self._master], [], [], 0)[0])
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the program has closed the terminal
            return False
        self.seen += data
        self._stream.feed(data)
        return bool(data)


def golden(name: str, shown: str) -> None:
    """Compare a screen with the one that is kept, but for how long things took; SIGNOFF_SCREENS=write keeps it anew."""
    shown = re.sub(r"  \(\d+\.\d s\)$", "", shown, flags=re.MULTILINE)
    file = SCREENS / f"{name}.txt"
    if os.environ.get("SIGNOFF_SCREENS") == "write":
        SCREENS.mkdir(exist_ok=True)
        file.write_text(f"{shown}\n", encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8").rstrip("\n")


SIGNOFF = [*STRICT_PYTHON, "-m", "signoff"]
