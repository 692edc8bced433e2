"""The groups of rows: which programs are compared, and what they must reach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench import programs
from bench.library import Library
from bench.measuring import Precision, Work, costs
from bench.rows import Row

Build = Callable[[Library], Work]


@dataclass(frozen=True)
class Comparison:
    """The same program on both libraries."""

    name: str
    build: Build
    at_least: float | None = None
    """How many times less signoff must need."""
    is_counted: bool = True
    """Whether its Python calls are shown, too."""

    def row(self, libraries: list[Library], precision: Precision, calls: list[float] | None) -> Row:
        ours, theirs = costs([self.build(lib) for lib in libraries], precision)
        return Row(self.name, ours, theirs, "s", at_least=self.at_least, calls=(calls[0], calls[1]) if calls else None)


@dataclass(frozen=True)
class Growth:
    """How much dearer a thing is in large than in small, on signoff alone."""

    name: str
    small: Build
    large: Build
    at_most: float

    def row(self, libraries: list[Library], precision: Precision, calls: list[float] | None) -> Row:
        small, large = costs([self.small(libraries[0]), self.large(libraries[0])], precision)
        return Row(self.name, large / small, None, "x", at_most=self.at_most)


@dataclass(frozen=True)
class Calls:
    """How many Python calls a thing takes."""

    name: str
    build: Build
    at_most: float

    def row(self, libraries: list[Library], precision: Precision, calls: list[float] | None) -> Row:
        assert calls is not None, "calls are counted"
        return Row(self.name, calls[0], calls[1], "calls", at_most=self.at_most)


Case = Comparison | Growth | Calls

GROUPS: dict[str, list[Case]] = {
    "step": [
        Comparison("step, no saver", programs.step, at_least=25),
        Comparison("step, no saver, async", programs.async_step, at_least=30),
        Calls("step, no saver, Python calls", programs.step, at_most=60),
        Comparison("step, stream of updates", programs.streamed_step),
        Comparison("step of a loop (conditional edge)", programs.looping_step),
        Comparison("call of a graph with one node", programs.one_node),
    ],
    "saver": [
        Comparison("step, memory saver", programs.saved_step, at_least=25),
        Comparison('step, memory saver, durability="sync"', partial(programs.saved_step, durability="sync")),
        Comparison('step, memory saver, durability="exit"', partial(programs.saved_step, durability="exit")),
        Comparison("step, memory saver, async", programs.async_saved_step),
    ],
    "question": [
        Comparison("question and answer, memory saver", programs.question, at_least=30),
        Comparison("question and answer, SQLite, FULL", partial(programs.question, on_disk=True), at_least=8),
        Comparison("100 parallel questions, one by one", programs.parallel_questions, at_least=100, is_counted=False),
        Comparison("@task call, memory saver", programs.task_call, at_least=60),
    ],
    "size": [
        Growth(
            "step among 1,000 nodes, against 10",
            partial(programs.step_among, nodes=10),
            partial(programs.step_among, nodes=1000),
            at_most=1.2,
        ),
        Comparison("step, 1,000 keys in the state", programs.step_with_many_keys, at_least=60),
        Comparison("compile 10 nodes", partial(programs.compiling, nodes=10), is_counted=False),
        Comparison("compile 1,000 nodes", partial(programs.compiling, nodes=1000), is_counted=False),
    ],
    "send": [
        Comparison("Send of 100 tasks", programs.sends, at_least=20),
        Comparison("Send of 100 tasks, async", programs.async_sends, at_least=12),
        Growth(
            "a task of 1,000, against one of 100",
            partial(programs.one_send, tasks=100),
            partial(programs.one_send, tasks=1000),
            at_most=1.2,
        ),
        Comparison("Send of 100 tasks that wait 5 ms, wall", programs.waiting_sends, is_counted=False),
    ],
    "nested": [Comparison("step that is a nested graph", programs.nested_call)],
}
"""By name; the group `import` is measured apart, in fresh processes."""


def counted_programs(groups: Sequence[str]) -> dict[str, Build]:
    """The programs whose Python calls are counted, by the names of their rows."""
    cases = [case for group in groups for case in GROUPS[group] if not isinstance(case, Growth)]
    return {case.name: case.build for case in cases if isinstance(case, Calls) or case.is_counted}
