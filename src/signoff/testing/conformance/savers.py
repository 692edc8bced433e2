"""What every saver promises. With pytest:

    @pytest.mark.parametrize("check", savers.CHECKS, ids=str)
    def test_my_saver(check):
        check(savers.World(MySaver))

An async saver is put to the same checks through a `BlockingSaver`. `CHECKS` are promises that LangGraph's
savers can keep, too; `OWN_CHECKS` are about leases, open questions, storage that is linear, and crashes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signoff.testing.conformance import (
    _saver_crashes,
    _saver_growth,
    _saver_injection,
    _saver_leases,
    _saver_lists,
    _saver_names,
    _saver_questions,
    _saver_reading,
    _saver_removing,
    _saver_retention,
    _saver_threads,
    _saver_values,
    _saver_writes,
)
from signoff.testing.conformance._saver_words import crowd_in, runs_in
from signoff.testing.conformance.checks import Check, checks_of
from signoff.testing.conformance.doors import LoopThread

__all__ = ["BlockingSaver", "CHECKS", "Check", "LOG_CHECKS", "OWN_CHECKS", "RANDOM_CHECKS", "World"]


@dataclass(frozen=True)
class World:
    """What the checks are given.

    open_saver: opens the saver, empty the first time, with `serde=` as it is told. Opened again, it is the same one,
        unless it is a saver that lives in its object.
    checkpoints: how many a long history has, in hundreds; signoff's own savers are tried with 10,000.
    """

    open_saver: Callable[..., Any]
    checkpoints: int = 200

    @cached_property
    def saver(self) -> Any:
        """The saver, opened without options."""
        return self.open_saver()

    @cached_property
    def crowd(self) -> Any:
        """The saver, with six checkpoints in two threads and three namespaces."""
        return crowd_in(self.saver)

    @cached_property
    def runs(self) -> Any:
        """The saver, with a thread in which three runs took turns."""
        return runs_in(self.saver)


CHECKS: list[Check] = checks_of(
    [_saver_reading, _saver_values, _saver_writes, _saver_lists, _saver_removing, _saver_names, _saver_threads]
)
"""The checks for every saver, in the order in which they are best read."""

OWN_CHECKS: list[Check] = checks_of([_saver_growth, _saver_leases, _saver_questions, _saver_crashes])
"""The checks for a saver that `has_leases` and `has_questions`."""

RANDOM_CHECKS: list[Check] = checks_of([_saver_injection])
"""Checks for every saver, too, with names and filters that hypothesis makes up (`pip install hypothesis`)."""

LOG_CHECKS: list[Check] = checks_of([_saver_retention])
"""The checks for a saver that has `cleanup_before` and `keep_last`, as those with a database have."""


class BlockingSaver:
    """A saver whose sync methods go through the async ones of another."""

    def __init__(self, inner: Any, loop: LoopThread) -> None:
        self.inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.inner, f"a{name}")
        return lambda *args, **named: self._loop.run(method(*args, **named))

    def list(self, *args: Any, **named: Any) -> Iterator[Any]:
        """The other's alist, waited for."""

        async def collected() -> Any:
            return [found async for found in self.inner.alist(*args, **named)]

        return iter(self._loop.run(collected()))
