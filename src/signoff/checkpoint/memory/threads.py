"""Threads in memory: their namespaces, who has the thread, what it asks."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from signoff.checkpoint.base import Lease
from signoff.checkpoint.lease import lost, moved, next_epoch
from signoff.checkpoint.memory.spaces import Space
from signoff.checkpoint.questions import Filing, Question
from signoff.checkpoint.remembered import Made, rebased

__all__ = ["Thread", "made_of", "rebase", "tasks_of"]


class Thread:
    """A thread: its namespaces, who has it, how often anything was stored in it, and what it asks."""

    __slots__ = ("changes", "epoch", "heard_at", "holder", "questions", "spaces")

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}
        self.questions: dict[str, tuple[Question, Any]] = {}
        """The open questions by id, each with its packed interrupt."""
        self.epoch = self.changes = 0
        self.holder: str | None = None
        self.heard_at = 0.0
        """When a run last took it, gave it back, or gave a sign of life."""

    @property
    def seen(self) -> tuple[int, int]:
        return self.epoch, self.changes

    def new_space(self, thread_id: str, ns: str) -> Space:
        """A namespace that nothing was stored in so far."""
        space = self.spaces[ns] = Space(thread_id, ns)
        return space

    @property
    def has_begun(self) -> bool:
        """Whether anything was stored in it."""
        return any(space.moments or space.writes for space in self.spaces.values())

    def copy_to(self, other: "Thread", thread_id: str) -> None:
        """Give another thread, which has not begun, the same history and the same questions."""
        other.spaces = {ns: space.copy_to(thread_id) for ns, space in self.spaces.items()}
        other.questions = {
            id: (replace(question, thread_id=thread_id), packed) for id, (question, packed) in self.questions.items()
        }
        other.changes += 1

    def check(self, lease: Lease) -> None:
        """Refuse a lease that cannot be taken, or that was lost."""
        if lease.epoch not in (0, self.epoch):
            raise lost(lease)
        if lease.epoch == 0 and self.seen != lease.seen:
            raise moved(lease)

    def follow(self, lease: Lease, now: float, *, ends: bool) -> None:
        """Note that the holder of a lease has stored something."""
        if lease.epoch == 0:
            lease.epoch = self.epoch = next_epoch(lease, self.epoch)
        self.holder = None if ends else lease.holder
        self.heard_at = now

    def take_away(self) -> None:
        """Take the thread from a run that has it, or is about to: what it stands on is gone."""
        self.epoch += 1
        self.holder = None

    def file(self, filing: Filing, packed: Sequence[Any]) -> None:
        """Change the index of open questions."""
        if filing.closed is None:
            self.questions.clear()
        else:
            for id in filing.closed:
                self.questions.pop(id, None)
        for question, interrupt in zip(filing.asked, packed, strict=True):
            self.questions.setdefault(question.id, (question, interrupt))


def rebase(spaces: Mapping[str, Space], going: Set[str]) -> None:
    """Have branches that begin at checkpoints of the root which go say what these say."""
    for id, branch in rebased(made_of(spaces), {("", id) for id in going}).items() if going else ():
        spaces[""].moments[id].go_on_from(branch)


def made_of(spaces: Mapping[str, Space]) -> Made:
    """The metadata of all checkpoints of a thread."""
    return {ns: {id: moment.metadata() for id, moment in space.moments.items()} for ns, space in spaces.items()}


def tasks_of(spaces: Mapping[str, Space]) -> dict[str, set[str]]:
    """The tasks that something is kept of with a checkpoint of the root."""
    root = spaces.get("")
    return {id: {write[0] for write in root.kept(id)} for id in root.writes} if root is not None else {}
