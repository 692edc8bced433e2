"""What a backend can do, whatever keeps its files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from langchain_core.tools import ToolException

__all__ = ["Backend", "Exact", "Executed", "Executor", "FileError", "Files"]


class FileError(ToolException):
    """Something is wrong with a file or a path; the model is told."""


class Files(Protocol):
    """The files as one call of a tool sees them. A path begins with a slash, the root of the backend."""

    def paths(self) -> Iterator[str]:
        """The files, sorted."""

    def read(self, path: str) -> str:
        """The text of a file."""

    def has(self, path: str) -> bool:
        """Whether there is such a file."""

    def write(self, path: str, text: str) -> dict[str, Any] | None:
        """Make or replace a file. What is returned has to be written to the state."""

    def edit(self, path: str, old: str, new: str, *, everywhere: bool) -> dict[str, Any] | None:
        """Replace a part of a file that was found in it. What is returned has to be written to the state."""


@runtime_checkable
class Exact(Protocol):
    """Files whose lines may end otherwise than what is read of them says."""

    def read_exactly(self, path: str) -> str:
        """The text of a file, with the ends of its lines as they are."""


class Backend(Protocol):
    """Keeps files."""

    is_virtual: bool
    """Whether its files are only in the state of the thread, so that nothing outside is touched."""

    def open(self, state: Any) -> Files:
        """The files, for an agent in this state."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of a command."""

    output: str
    """What it printed, to both streams."""
    exit_code: int | None
    """None if it was stopped."""
    is_cut: bool = False
    """Whether it printed more than may be kept."""
    is_late: bool = False
    """Whether it was stopped because its time was over."""


@runtime_checkable
class Executor(Protocol):
    """A backend that runs commands, too."""

    def execute(self, command: str) -> Executed:
        """Run a command of the shell."""


def clean(path: str) -> str:
    """A path as backends know it: from the root, without detours. One that climbs is refused."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in path:
        raise FileError(f"The path {path!r} climbs with '..'. Give a path from the root, such as /notes.md.")
    return "/" + "/".join(parts)
