"""A Python that has loaded what programs load, and forks off a process for each program that it is told of.

    python warm_python.py SOCKET MODULE...

It ends when its standard input does. A program comes over a connection, with its standard files; back go the id of its
process, a word whenever it is stopped, and in the end how it ended. The process is as real as any: it has a folder,
environment, terminal and signals of its own, and ends as Python ends. Only what it would load first is there already.
"""

import fcntl
import gc
import json
import os
import runpy
import select
import socket
import sys
import termios
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def next_program(address: str) -> Any:
    """Fork off a process for each program; in that process, return what it is to run."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(64)
        os.write(1, b"ready\n")
        while door in select.select([0, door], [], [])[0]:
            connection, _ = door.accept()
            with connection:
                if os.fork() == 0:
                    door.close()
                    return _kept(connection)
            _forget_who_has_ended()
    sys.exit()


def _kept(connection: socket.socket) -> Any:
    """In a process of its own, that waits for the program's and tells how it ended."""
    said, files, *_ = socket.recv_fds(connection, 65536, 3)
    while more := connection.recv(65536):
        said += more
    process = os.fork()
    if process == 0:
        return _begun(json.loads(said), files)
    for file in [0, 1, 2, *files]:  # who reads what the program writes is told when it is gone
        os.close(file)
    connection.sendall(b"%d\n" % process)
    while os.WIFSTOPPED(status := os.waitpid(process, os.WUNTRACED)[1]):
        connection.sendall(b"stopped\n")
    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _forget_who_has_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _begun(program: Any, files: list[int]) -> Any:
    """In the program's process: its place in the world."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if program["has_terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(program["env"])
    os.chdir(program["cwd"])
    _open_standard_files()
    return program


def _open_standard_files() -> None:
    """As Python does when it starts: those that there are know the files that they had."""
    encoding = os.environ.get("PYTHONIOENCODING")
    buffering = 1 if os.isatty(1) else -1
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding=encoding, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", buffering, encoding, closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, encoding, "backslashreplace", closefd=False)


def run(arguments: list[str]) -> None:
    """Run `-m module ...`, `-c text ...` or `file ...`, as Python does."""
    first, *rest = arguments
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[1:1] = [path for path in paths if path not in ["", *sys.path[1:]]]
    if first == "-m":
        sys.path[0], sys.argv = os.getcwd(), rest
        runpy._run_module_as_main(rest[0])
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    if first == "-c":
        sys.path[0], sys.argv, text, file = "", ["-c", *rest[1:]], rest[0], "<string>"
    else:
        sys.path[0], sys.argv, text, file = str(Path(first).parent), arguments, Path(first).read_bytes(), first
        main.__file__ = first
    exec(compile(text, file, "exec"), main.__dict__)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        import_module(name)
    assert threading.active_count() == 1, "a thread would not be in the processes"
    gc.freeze()
    run(next_program(sys.argv[1])["arguments"])
