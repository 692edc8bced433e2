"""Files in a folder, which an agent cannot leave: not with `..`, not with a link."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from signoff._forks import free
from signoff._locks import RLock
from signoff.agents.backends.base import FileError, clean
from signoff.agents.backends.state import replaced
from signoff.errors import InvalidInput

__all__ = ["FolderBackend"]

MAX_BYTES = 10_000_000


class FolderBackend:
    """Keeps files in a folder of this machine. To the agent the folder is the root, `/`.

    max_bytes: a bigger file is neither read nor written.
    """

    is_virtual = False

    def __init__(self, root: str | Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.root = Path(root).resolve()
        self.max_bytes = max_bytes
        self._turn = free(RLock())
        """Calls of one turn are made side by side, perhaps on the same file."""
        if not self.root.is_dir():
            raise InvalidInput(f"{str(root)!r} is no folder. Make it first, or give the backend another one.")

    def open(self, state: Any) -> "FolderBackend":
        return self

    def place(self, path: str) -> Path:
        """Where a file is. A path that leads out of the folder, also by a link, is refused."""
        inside = self.root.joinpath(clean(path).lstrip("/"))
        with _telling(path):
            real = inside.resolve()
            real.exists()  # a name that no file can have is found out here
        if real != self.root and self.root not in real.parents:
            raise FileError(f"The path {path!r} leads out of the folder.")
        return real

    def paths(self) -> Iterator[str]:
        found = []
        # Links to folders are not followed: they may lead out, or in circles.
        for folder, _, names in os.walk(self.root, followlinks=False):
            found += [Path(folder, name) for name in names]
        inside = ("/" + path.relative_to(self.root).as_posix() for path in found if self._is_inside(path))
        yield from sorted(filter(_is_text, inside))

    def _is_inside(self, path: Path) -> bool:
        try:
            return not path.is_symlink() or self.root in path.resolve(strict=True).parents
        except (OSError, RuntimeError):  # nobody may look at it, or it leads nowhere, or in a circle
            return False

    def has(self, path: str) -> bool:
        return self.place(path).is_file()

    def read(self, path: str) -> str:
        return self.read_exactly(path).replace("\r\n", "\n")

    def read_exactly(self, path: str) -> str:
        """The text of a file, with the ends of its lines as they are."""
        place = self.place(path)
        if not place.is_file():
            raise FileError(f"There is no file {path!r}. See what there is with ls or glob.")
        try:
            with _telling(path), self._turn:
                size = place.stat().st_size
                if size > self.max_bytes:
                    raise FileError(f"The file {path!r} has {size} bytes, more than {self.max_bytes}.")
                return place.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileError(f"The file {path!r} is not text in UTF-8.") from error

    def write(self, path: str, text: str) -> dict[str, Any] | None:
        place = self.place(path)
        if place.exists() and not place.is_file():
            raise FileError(f"{path!r} is a folder, or no file that can be written.")
        with _telling(path):
            # Before the file is opened: what was in it would be lost.
            data = text.encode("utf-8")
        if len(data) > self.max_bytes:
            raise FileError(f"The text for {path!r} has more than {self.max_bytes} bytes.")
        with _telling(path), self._turn:
            place.parent.mkdir(parents=True, exist_ok=True)
            _replace(place, data)
        return None

    def edit(self, path: str, old: str, new: str, *, everywhere: bool) -> dict[str, Any] | None:
        with self._turn:
            text = self.read_exactly(path)
            plain = text.replace("\r\n", "\n")
            if plain.count(old) > 1 and not everywhere:  # somebody has changed it since it was looked at
                raise FileError(f"The text to replace is in {path} several times. Read the file, and edit it then.")
            changed = replaced(plain, old, new, everywhere)
            # The model does not see how lines end, so nobody has said yes to other ends.
            return self.write(path, changed.replace("\n", "\r\n") if "\r\n" in text else changed)


def _is_text(path: str) -> bool:
    """Whether a path can be told to a model: the bytes of a name may be no text."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _replace(place: Path, data: bytes) -> None:
    """Write a file as a whole: after a crash, and on a full disk, it has its old text or its new one."""
    is_there = place.exists()
    if is_there and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = place.with_name(f".{uuid4().hex}.new")
    try:
        beside.write_bytes(data)
        if is_there:
            shutil.copymode(place, beside)
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def _telling(path: str) -> Iterator[None]:
    """What the system has against a path or a text is for the model, and does not end the run."""
    try:
        yield
    except UnicodeDecodeError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"The file {path[:200]!r} cannot be used: {reason}.") from error
