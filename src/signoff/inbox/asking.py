"""What procedures of the inbox ask of a saver, and the two ways to perform it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from signoff.checkpoint.base import CheckpointTuple, Commit, Lease, Standing
from signoff.config import RunnableConfig
from signoff.drivers.saving import holding
from signoff.drivers.saving.piecewise import with_commits
from signoff.errors import ThreadBusy
from signoff.steps import Steps


@dataclass(frozen=True, slots=True)
class Ask:
    """Call a method of the saver: this one, or its async twin."""

    method: str
    argument: Any


@dataclass(slots=True)
class Walk:
    """The checkpoints that `list` finds, up to the first one that the caller has had enough at."""

    config: RunnableConfig | None
    is_enough: Callable[[CheckpointTuple], bool]
    """Told each checkpoint; true ends the walk."""
    named: dict[str, Any] = field(default_factory=dict)
    is_of_heads: bool = False
    """Whether to go through the newest checkpoint of each thread only, as the saver tells them."""


@dataclass(slots=True)
class Store:
    """Store commits in one transaction; with a lease, the thread is taken and given back in it."""

    commits: list[Commit]
    lease: Lease | None


def perform(saver: Any, effect: Ask | Walk | Store) -> Any:
    """Do it by calling."""
    if isinstance(effect, Ask):
        return getattr(saver, effect.method)(effect.argument)
    if isinstance(effect, Store):
        taker: Any = with_commits(saver)
        return taker.store(taker.prepare(effect.commits), effect.lease, ends=True)
    found: Iterator[CheckpointTuple]
    found = saver.heads() if effect.is_of_heads else saver.list(effect.config, **effect.named)
    for one in found:
        if effect.is_enough(one):
            break
    return None


async def aperform(saver: Any, effect: Ask | Walk | Store) -> Any:
    """Do it by awaiting."""
    if isinstance(effect, Ask):
        return await getattr(saver, f"a{effect.method}")(effect.argument)
    if isinstance(effect, Store):
        taker: Any = with_commits(saver)
        return await taker.astore(taker.prepare(effect.commits), effect.lease, ends=True)
    found: AsyncIterator[CheckpointTuple]
    found = saver.aheads() if effect.is_of_heads else saver.alist(effect.config, **effect.named)
    async with aclosing(found) as checkpoints:  # type: ignore[type-var]
        async for one in checkpoints:
            if effect.is_enough(one):
                break
    return None


def look(saver: Any, config: RunnableConfig) -> Steps[tuple[CheckpointTuple | None, Standing | None]]:
    """A thread and how it stands; without a standing from a saver that knows no leases."""
    if not getattr(saver, "has_leases", False):
        return (yield Ask("get_tuple", config)), None
    saved, standing = yield Ask("look", config)
    return saved, holding.seen(standing)


def refuse_if_held(thread_id: str, standing: Standing | None, what: str) -> None:
    """Refuse what cannot be done while a run has the thread."""
    if standing is not None and standing.holder is not None and not standing.is_expired:
        raise ThreadBusy(f"Another run has thread {thread_id!r} just now: {holding.shown(standing.holder)}. {what}")


def take_and_store(thread_id: str, standing: Standing | None, commits: list[Commit]) -> Store:
    """Store something in a thread, if that still stands as it was seen."""
    lease = None if standing is None else Lease(thread_id, holding.new_holder(), standing.seen)
    return Store(commits, lease)
