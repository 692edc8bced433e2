"""Kinds of rows: what is compared with what."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.library import Library
from bench.measuring import Precision, Work, costs
from bench.rows import Pair, Row

Build = Callable[[Library], Work]
Counts = dict[str, Pair]


@dataclass(frozen=True, kw_only=True)
class _Budget:
    must: float | None = None
    stretch: float | None = None
    rounds: int | None = None
    """So many rounds, each as short as can be: few where it is slow (one is not warmed up), many where it varies."""
    is_counted: bool = True
    """Whether calls, statements, commits and bytes are shown, too; not where counting takes long."""

    @property
    def is_quick(self) -> bool:
        """Whether it is measured also where there is little time."""
        return self.must is not None and self.rounds is None


@dataclass(frozen=True)
class Comparison(_Budget):
    """The same program on both libraries; signoff needs so many times less."""

    name: str
    build: Build

    def row(self, group: str, libraries: list[Library], precision: Precision, counts: Counts) -> Row:
        ours, theirs = costs([self.build(lib) for lib in libraries], precision.in_rounds(self.rounds))
        return Row(group, self.name, ours, theirs, "s", self.must, self.stretch, counts=counts)


@dataclass(frozen=True)
class Growth(_Budget):
    """How much dearer a thing is in large than in small, on signoff alone; at most so much."""

    name: str
    small: Build
    large: Build

    def row(self, group: str, libraries: list[Library], precision: Precision, counts: Counts) -> Row:
        small, large = costs([self.small(libraries[0]), self.large(libraries[0])], precision.in_rounds(self.rounds))
        return Row(group, self.name, large / small, None, "x", self.must, self.stretch, is_limit=True)


@dataclass(frozen=True)
class Against(_Budget):
    """How much dearer a thing is than another one that neither library does; at most so much."""

    name: str
    build: Build
    bare: Build

    def row(self, group: str, libraries: list[Library], precision: Precision, counts: Counts) -> Row:
        works = [*(self.build(lib) for lib in libraries), self.bare(libraries[0])]
        ours, theirs, bare = costs(works, precision.in_rounds(self.rounds))
        return Row(group, self.name, ours / bare, theirs / bare, "x", self.must, self.stretch, is_limit=True)


@dataclass(frozen=True)
class Figure(_Budget):
    """A figure that is no time: signoff's is so many times less."""

    name: str
    unit: str
    figure: Callable[[Library], float]

    def row(self, group: str, libraries: list[Library], precision: Precision, counts: Counts) -> Row:
        ours, theirs = (self.figure(lib) for lib in libraries)
        return Row(group, self.name, ours, theirs, self.unit, self.must, self.stretch)


@dataclass(frozen=True)
class Limit(_Budget):
    """A figure of signoff that has a limit."""

    name: str
    unit: str
    figure: Callable[[Library], float]

    def row(self, group: str, libraries: list[Library], precision: Precision, counts: Counts) -> Row:
        ours = self.figure(libraries[0])
        return Row(group, self.name, ours, None, self.unit, self.must, self.stretch, is_limit=True)


Case = Comparison | Growth | Against | Figure | Limit
