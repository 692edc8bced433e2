"""Where an agent's files are: in the state of its thread, or in a folder that it cannot leave."""

from typing import NoReturn

from signoff._elsewhere import tell_where
from signoff.agents.backends.base import Backend, Executed, Executor, FileError, Files
from signoff.agents.backends.folder import FolderBackend
from signoff.agents.backends.shell import ShellBackend
from signoff.agents.backends.state import FilesState, StateBackend
from signoff.agents.elsewhere import BACKENDS, PAGE

__all__ = [
    "Backend",
    "Executed",
    "Executor",
    "FileError",
    "Files",
    "FilesState",
    "FolderBackend",
    "ShellBackend",
    "StateBackend",
]


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, BACKENDS, PAGE)
