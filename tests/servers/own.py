"""A server of a test's own, to be stopped, killed and started again."""

import shutil
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen


class OwnServer(ABC):
    """What all of them can do."""

    ends_with: signal.Signals
    """What it is told to end in an orderly way."""
    crashes_with: signal.Signals
    """What it is told to end as a crash would."""
    folder: Path
    url: str
    _keeper: "Popen[bytes]"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def kill_connections(self) -> int:
        """Cut every connection but the one that does it, and say how many."""

    @abstractmethod
    def _end(self, how: signal.Signals) -> None: ...

    def stop(self) -> None:
        """End it in an orderly way; every connection is cut."""
        self._end(self.ends_with)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(self.crashes_with)

    def restart(self) -> None:
        self.stop()
        self.start()

    def interruptions(self) -> Iterator[Callable[[], object]]:
        """Each way in which connections die between two uses."""
        yield self.kill_connections
        yield self.restart
        yield lambda: (self.kill(), self.start())

    def remove(self) -> None:
        if self._keeper.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)
