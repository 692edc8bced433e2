"""Keeps one server: starts it, and ends it when the test run is over, however the run ended.

    python keeper.py RUN_FOLDER SIGNAL UID COMMAND...

The test run holds a lock on RUN_FOLDER/alive. The kernel lets go of it when the run ends or is killed; whoever
waits for it, as this process does, then knows. Of the run's folder nothing is left.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path


def main(folder: Path, end: signal.Signals, uid: int, command: list[str]) -> None:
    whom = {"user": uid, "group": uid, "extra_groups": []} if os.geteuid() == 0 and uid else {}
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, **whom)
    threading.Thread(target=watch, args=(folder, end, server), daemon=True).start()
    server.wait()
    if is_over(folder):
        shutil.rmtree(folder, ignore_errors=True)


def watch(folder: Path, end: signal.Signals, server: "subprocess.Popen[bytes]") -> None:
    with (folder / "alive").open() as alive:
        fcntl.flock(alive, fcntl.LOCK_SH)
    server.send_signal(end)


def is_over(folder: Path) -> bool:
    try:
        with (folder / "alive").open() as alive:
            fcntl.flock(alive, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        pass
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), signal.Signals(int(sys.argv[2])), int(sys.argv[3]), sys.argv[4:])
