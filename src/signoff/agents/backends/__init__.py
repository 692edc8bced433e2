"""Where an agent's files are: in the state of its thread, or in a folder that it cannot leave."""

from signoff.agents.backends.base import Backend, Executed, Executor, FileError, Files
from signoff.agents.backends.folder import FolderBackend
from signoff.agents.backends.shell import ShellBackend
from signoff.agents.backends.state import FilesState, StateBackend

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
