"""Random entrypoints: the same streams on both libraries.

A flow is data: what the entrypoint and each of its tasks do. What LangGraph shows is the reference; what is different
on purpose is taken out of both, and `test_differences` has it.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .harness import Boom, Failure, Library, observe, thread
from .plain import masked, plain

pytestmark = pytest.mark.parity

MODES = ("values", "updates", "custom", "tasks", "debug", "checkpoints", "messages")
TASKS = ("t", "u", "v")
"""Each may call those before it."""


@dataclass(frozen=True)
class Call:
    """Call tasks side by side, or one; catch what it fails with, perhaps."""

    names: tuple[str, ...]
    catches: bool = False


@dataclass(frozen=True)
class Ask:
    text: str


@dataclass(frozen=True)
class Say:
    text: str


Act = Call | Ask | Say


@dataclass(frozen=True)
class Function:
    """What a task does, or the entrypoint; it fails so many times before, and is tried again at once, or is not."""

    acts: tuple[Act, ...]
    failures: int
    is_retried: bool


@dataclass(frozen=True)
class Flow:
    tasks: dict[str, Function]
    entry: Function
    returns: str
    modes: tuple[str, ...] | str
    version: str
    subgraphs: bool
    runs: int

    @property
    def is_side_by_side(self) -> bool:
        return any(isinstance(act, Call) and len(act.names) > 1 for acts in self._acts() for act in acts)

    def _acts(self) -> list[tuple[Act, ...]]:
        return [self.entry.acts, *(function.acts for function in self.tasks.values())]


@st.composite
def flows(draw: Any, *, is_side_by_side: bool) -> Flow:
    """Side by side, tasks neither ask nor fail for good: which of them is heard of then, LangGraph leaves to chance.

    Nor is anything asked where failures are caught: a call that has failed before a question is different on purpose.
    """
    catches = not is_side_by_side and draw(st.booleans())
    tasks = {
        name: draw(_functions(TASKS[:place], is_side_by_side, catches, may_ask=not (is_side_by_side or catches)))
        for place, name in enumerate(TASKS)
    }
    some_modes = st.lists(st.sampled_from(MODES), min_size=1, unique=True).map(tuple)
    return Flow(
        tasks,
        draw(_functions(TASKS, is_side_by_side, catches, may_ask=not catches)),
        draw(st.sampled_from(("log", "final", "nothing", "previous"))),
        draw(st.one_of(st.sampled_from(MODES), some_modes)),
        draw(st.sampled_from(("v1", "v2"))),
        draw(st.booleans()),
        draw(st.integers(1, 2)),
    )


def _functions(names: tuple[str, ...], is_side_by_side: bool, catches: bool, *, may_ask: bool) -> Any:
    texts = st.sampled_from(("one", "two", "three"))
    kinds: list[Any] = [st.builds(Say, texts)]
    if may_ask:
        kinds.append(st.builds(Ask, texts))
    if names:
        most = 3 if is_side_by_side else 1
        called = st.lists(st.sampled_from(names), min_size=1, max_size=most).map(tuple)
        kinds += [st.builds(Call, called, st.just(catches))] * 2
    acts = st.lists(st.one_of(kinds), max_size=3).map(tuple)
    # An entrypoint that is retried is different on purpose, and so is what it calls.
    is_retried = st.just(True) if is_side_by_side else st.booleans() if names != TASKS else st.just(False)
    failures = st.sampled_from((0, 0, 0, 1)) if not (is_side_by_side and names == TASKS) else st.just(0)
    return st.builds(Function, acts, failures, is_retried)


class _Made:
    """A flow as functions of one of the libraries."""

    def __init__(self, lib: Library, flow: Flow) -> None:
        self.lib = lib
        self.flow = flow
        self.failed: Counter[str] = Counter()
        self.tasks = {name: self._task(name, function) for name, function in flow.tasks.items()}

    def _task(self, name: str, function: Function) -> Any:
        def work(number: int) -> Any:
            self._fail(f"{name}{number}", function)
            return [name, number, *self._do(function.acts)]

        policy = self.lib.RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Boom)
        return self.lib.task(name=name, retry_policy=policy if function.is_retried else None)(work)

    def entry(self, number: int, *, previous: Any = None) -> Any:
        self._fail(f"entry{number}", self.flow.entry)
        log = self._do(self.flow.entry.acts)
        match self.flow.returns:
            case "final":
                return self.lib.entrypoint.final(value=log, save=number)
            case "nothing":
                return None
            case "previous":
                return [previous, len(log)]
        return log

    def _fail(self, place: str, function: Function) -> None:
        if self.failed[place] < function.failures:
            self.failed[place] += 1
            raise Boom(place)

    def _do(self, acts: tuple[Act, ...]) -> list[Any]:
        log: list[Any] = []
        for act in acts:
            match act:
                case Say(text):
                    self.lib.get_stream_writer()(text)
                case Ask(text):
                    log.append(self.lib.interrupt(text))
                case Call(names, catches):
                    log.append(self._call(names, catches))
        return log

    def _call(self, names: tuple[str, ...], catches: bool) -> Any:
        try:
            futures = [self.tasks[name](number) for number, name in enumerate(names)]
            return [future.result() for future in futures]
        except Boom as error:
            if not catches:
                raise
            return f"caught {error}"


def _streamed(flow: Flow):
    """The program: run the flow to its end, answering every question and starting again after every failure."""

    def program(lib: Library):
        app = lib.flow(_Made(lib, flow).entry, checkpointer=lib.saver())
        # Many at a time: in LangGraph, a call waits for ever if all threads are taken by those that wait for it.
        config = {**thread(), "max_concurrency": 50}
        modes = list(flow.modes) if isinstance(flow.modes, tuple) else flow.modes
        finished: set[str] = set()
        for number in range(flow.runs):
            input: Any = number
            for _ in range(30):
                chunks = app.stream(
                    input, config, mode=modes, version=flow.version, subgraphs=flow.subgraphs, fails="maybe"
                )
                shown = _without_differences([_taken_apart(flow, chunk) for chunk in chunks], finished)
                yield sorted((masked([plain(chunk)]) for chunk in shown), key=repr) if flow.is_side_by_side else shown
                questions = app.get_state(thread()).interrupts
                if not questions and not (chunks and isinstance(chunks[-1], Failure)):
                    break
                input = lib.Command(resume={one.id: f"to {one.value}" for one in questions}) if questions else None

    return program


Shown = tuple[Any, str, Any]
"""(namespace, mode, data) of a chunk, whatever the form of the stream."""


def _taken_apart(flow: Flow, chunk: Any) -> Shown:
    if isinstance(chunk, Failure):
        return None, "failure", chunk
    if flow.version == "v2":
        data = {**chunk["data"], "__interrupt__": ()} if chunk.get("interrupts") else chunk["data"]
        return chunk["ns"], chunk["type"], data
    parts = list(chunk) if flow.subgraphs or isinstance(flow.modes, tuple) else [chunk]
    ns = parts.pop(0) if flow.subgraphs else ()
    return ns, parts.pop(0) if isinstance(flow.modes, tuple) else flow.modes, *parts


def _without_differences(chunks: list[Shown], finished: set[str]) -> list[Shown]:
    """Without what is different on purpose; `finished` are the tasks that were over before."""
    kept = [chunk for chunk in chunks if not _is_different(chunk, finished)]
    if chunks and isinstance(chunks[-1][-1], Failure):
        kept = [chunk for chunk in kept if chunk[1:] != ("updates", {"entry": None})]  # 148: it has failed
    ended = [task for chunk in chunks if (task := _task_in(chunk)) is not None and "result" in task]
    finished |= {task["id"] for task in ended if not task["interrupts"] and task["error"] is None}
    return [_same_in_both(chunk) for chunk in kept]


def _is_different(chunk: Shown, finished: set[str]) -> bool:
    _, mode, data = chunk
    if mode == "values":
        return isinstance(data, dict) and "__interrupt__" in data  # 57: where a pause is shown
    task = _task_in(chunk)
    if task is None:
        return False
    if "result" not in task:
        return task["id"] in finished  # 67: what has finished does not begin again
    return task["name"] in TASKS and bool(task["interrupts"])  # 145: a call that asks has come out


def _task_in(chunk: Shown) -> dict[str, Any] | None:
    """A task that begins or ends."""
    _, mode, data = chunk
    if mode == "debug":
        return data["payload"] if data["type"] != "checkpoint" else None
    return data if mode == "tasks" else None


def _same_in_both(chunk: Shown) -> Shown:
    """LangGraph takes the questions out of an update if the same stream shows values, too."""
    ns, mode, data = chunk
    is_pause = mode == "updates" and isinstance(data, dict) and data.keys() <= {"__interrupt__"}
    return (ns, mode, "a pause") if is_pause else chunk


FEW = settings(max_examples=11, derandomize=True, database=None)
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@WAYS
@FEW
@given(flow=flows(is_side_by_side=False))
def test_a_random_flow_streams_the_same(is_async: bool, flow: Flow) -> None:
    ours = observe(_streamed(flow), "signoff", is_async=is_async)
    assert ours == observe(_streamed(flow), "langgraph", is_async=is_async)


@WAYS
@FEW
@given(flow=flows(is_side_by_side=True))
def test_a_random_flow_with_tasks_side_by_side_streams_the_same(is_async: bool, flow: Flow) -> None:
    ours = observe(_streamed(flow), "signoff", is_async=is_async)
    assert ours == observe(_streamed(flow), "langgraph", is_async=is_async)
