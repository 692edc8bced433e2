"""A simulated world: run a graph in it, break it everywhere, and see that nothing is lost and nothing done twice."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from signoff.errors import InvalidInput
from signoff.testing._caller import Notebook, play
from signoff.testing._picture import Picture, difference, false_chunk, picture_of
from signoff.testing._process import Crash
from signoff.testing._scene import Scene
from signoff.testing._wires import laid
from signoff.testing._witness import Violation, Witness
from signoff.testing.acts import Act, Answers, Script
from signoff.testing.stores import MakeStore, memory

if TYPE_CHECKING:
    from signoff.testing._schedule import Schedule

__all__ = ["Clean", "Report", "World"]


@dataclass(frozen=True, slots=True)
class Clean:
    """A run in which nothing went wrong."""

    picture: Picture
    notebook: Notebook
    witness: Witness
    moments: dict[str, int]
    """How many moments there were to crash at: of effects, calls of the saver, statements sent to the store."""

    @property
    def values(self) -> Any:
        """The state in the end."""
        return self.picture.state[0]


@dataclass(frozen=True, slots=True)
class Report:
    """What a world was put through without a violation."""

    crashes: int = 0
    effects: int = 0
    saver_calls: int = 0
    statements: int = 0
    schedules: int = 0
    kills: int = 0
    stalls: int = 0
    takeovers: int = 0
    """How many times a process has taken a thread over from another one."""
    refused: int = 0
    """How many times one that had been stalled was told so."""


class World:
    """Runs a graph in simulated processes.

    Args:
        build: Makes the graph, compiled with the saver that it is given. Each process calls it once.
        script: What callers do, one act after the other.
        answers: What they answer, by the key or the payload of a question; or a function of the question.
        answers_together: Whether one call answers all questions that are open.
        store: Makes an empty store.
        is_async: Whether the graph is run with ainvoke instead of invoke.
        streams: Whether callers read a stream; then nothing may be shown that a clean run does not show.
        lease_s: How many simulated seconds a process keeps a thread without a sign of life.
        rebuilds: Whether each process builds a graph of its own; if not, which is quicker, they share one.
        same_history: Whether the history must be that of a clean run, too. With compile(pause="branch") it depends
            on when answers come.
        options: What else `invoke` is called with: durability, interrupt_before, ...
    """

    def __init__(
        self,
        build: Callable[[Any], Any],
        script: Sequence[Act],
        *,
        answers: Answers | None = None,
        answers_together: bool = False,
        store: MakeStore = memory,
        is_async: bool = False,
        streams: bool = False,
        lease_s: float = 30.0,
        rebuilds: bool = True,
        same_history: bool = True,
        **options: Any,
    ) -> None:
        _check_callable("build", build, "that makes the graph with a saver: lambda saver: builder.compile(saver)")
        _check_callable("store", store, "that makes an empty store, such as signoff.testing.memory or sqlite(folder)")
        _check_options(options, [name for name in World.__init__.__annotations__ if name not in ("options", "return")])
        self._build = build
        self._built: Any = None
        self.rebuilds = rebuilds
        self.same_history = same_history
        self.script = Script(script, answers or {}, answers_together)
        self.make_store = store
        self.is_async = is_async
        self.streams = streams
        self.lease_s = lease_s
        self.options = options
        self._clean: Clean | None = None

    def build(self, saver: Any) -> Any:
        """The graph, for a process with this saver."""
        if self.rebuilds:
            return _checked_graph(self._build(saver), saver)
        if self._built is None:
            self._built = _checked_graph(self._build(saver), saver)
        graph = copy(self._built)
        graph.checkpointer = saver
        return graph

    def run(self) -> Clean:
        """Play the script without any mishap. What it comes to is what everything else is compared with."""
        if self._clean is None:
            clean = self._run_clean(self.make_store)
            if self.make_store is not memory:
                # A store that is wrong all the time would be wrong here, too.
                wrong = difference(self._run_clean(memory).picture, clean.picture, leaving_out=("nested",))
                if wrong is not None:
                    raise Violation(f"{wrong}\nas it is with a store in memory. world.run() shows it again.")
            self._clean = clean
        return self._clean

    def _run_clean(self, make_store: MakeStore) -> Clean:
        scene, how = Scene(self, make_store), "world.run() shows it again."
        with laid(is_async=self.is_async):
            process = scene.start("first")
            try:
                scene.work(process, play(self.script, scene.notebook))
            except Violation as violation:
                raise Violation(f"{'; '.join([*scene.witness.violations[:3], str(violation)])}\n{how}") from None
            picture = picture_of(process.app, process.saver)
            scene.end(process)
        _raise_any(scene.witness, how)
        return Clean(picture, scene.notebook, scene.witness, dict(process.moments))

    def crash_everywhere(self, every: int = 1) -> Report:
        """Crash before and after each effect, each call of the saver and each statement; with `every`, at some."""
        moments = self.run().moments
        crashes = range(0, sum(moments.values()), every)
        with laid(is_async=self.is_async):
            for moment in crashes:
                self.crash(moment)
        return Report(
            len(crashes), moments.get("effects", 0), moments.get("saver calls", 0), moments.get("statements", 0)
        )

    def crash(self, moment: int) -> Scene:
        """Crash at one moment, go on in another process, and compare."""
        how = f"world.crash({moment}) shows it again."
        clean, scene = self.run(), Scene(self, self.make_store)
        with laid(is_async=self.is_async):
            first = scene.start("first", crash_at=moment)
            # Every third one was on another machine: nobody sees that it is gone, its lease has to run out.
            first.is_seen_dead = moment % 3 != 2
            try:
                scene.work(first, play(self.script, scene.notebook))
            except Crash:
                pass
            if not first.is_dead:
                raise Violation(f"the run never came to moment {moment}: it takes another way each time. {how}")
            scene.end(first)
            self._finish(scene, clean, how)
        return scene

    def schedules(self, count: int, first: int = 0) -> Report:
        """Let several processes work on the thread at once, in random orders, each by a seed of its own."""
        with laid(is_async=True):
            done = [self.schedule(seed) for seed in range(first, first + count)]
        return Report(
            schedules=count,
            kills=sum(one.kills for one in done),
            stalls=sum(one.stalls for one in done),
            takeovers=sum(one.scene.witness.takeovers for one in done),
            refused=sum(one.scene.witness.refused for one in done),
        )

    def schedule(self, seed: int) -> "Schedule":
        """Let several processes work on the thread at once, in the order that a seed decides, and compare."""
        from signoff.testing._schedule import Schedule

        how = f"world.schedule({seed}) shows it again."
        clean = self.run()
        schedule = Schedule(self, seed, max(20, clean.moments["effects"]))
        with laid(is_async=True):
            try:
                schedule.run()
            except Exception as error:
                raise Violation(f"{type(error).__name__}: {error}\n{how}") from error
            self._finish(schedule.scene, clean, how)
        return schedule

    def _finish(self, scene: Scene, clean: Clean, how: str) -> None:
        """Play the script to its end in a fresh process, and compare what it comes to."""
        last = scene.start("last")
        try:
            scene.work(last, play(self.script, scene.notebook))
        except Exception as error:
            raise Violation(f"after it, {type(error).__name__} is raised: {error}\n{how}") from error
        self._compare(scene, clean, picture_of(last.app, last.saver), how)
        scene.end(last)

    def _compare(self, scene: Scene, clean: Clean, picture: Picture, how: str) -> None:
        witness = scene.witness
        _raise_any(witness, how)
        # With "exit", what was not stored when the process died begins anew, with other ids.
        is_exact = self.options.get("durability") != "exit"
        left_out = {*(() if is_exact else ("nested",)), *(() if self.same_history else ("history", "nested"))}
        wrong = difference(clean.picture, picture, leaving_out=left_out)
        wrong = wrong or false_chunk(clean.notebook, scene.notebook)
        if wrong is None and is_exact and witness.kept != clean.witness.kept:
            wrong = f"finished tasks did {dict(witness.kept)} and not {dict(clean.witness.kept)}"
        lost = clean.witness.done - witness.done
        if wrong is None and lost:
            wrong = f"this was not done: {dict(lost)}"
        if wrong is not None:
            raise Violation(f"{wrong}\n{how}")


def _raise_any(witness: Witness, how: str) -> None:
    if witness.violations:
        more = len(witness.violations) - 3
        also = f"; and {more} more" if more > 0 else ""
        raise Violation(f"{'; '.join(witness.violations[:3])}{also}\n{how}")


def _check_options(options: Iterable[str], own: Sequence[str]) -> None:
    """Refuse what is nearly an argument of the world, before `invoke` is blamed for it."""
    for name in options:
        if guess := get_close_matches(name, own, 1, cutoff=0.8):
            raise InvalidInput(f"World() has no keyword {name}=. Did you mean {guess[0]}=?")


def _check_callable(name: str, thing: Any, what: str) -> None:
    if not callable(thing):
        raise InvalidInput(f"World(..., {name}=) is {thing!r}. Give a function {what}.")


def _checked_graph(graph: Any, saver: Any) -> Any:
    if not hasattr(graph, "get_state"):
        raise InvalidInput(f"build(saver) made {graph!r}, which is no compiled graph. Return builder.compile(saver).")
    if graph.checkpointer is not saver:
        raise InvalidInput("build(saver) made a graph without this saver. Return builder.compile(saver).")
    return graph
