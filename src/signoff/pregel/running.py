"""Running: the procedure of a call, who listens to it, and what it returns."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

from signoff import _scope
from signoff._copies import apart
from signoff._snapshots import GraphOutput
from signoff.bridge import ambient_config, is_heard
from signoff.bridge.life import heard
from signoff.config import shown_metadata, shown_tags
from signoff.constants import INTERRUPT
from signoff.drivers.host import Host
from signoff.drivers.scopes.scope import Scope
from signoff.drivers.sink import Sink
from signoff.engine import origin
from signoff.engine.effects import Chunk, Emit
from signoff.engine.run import Finish
from signoff.engine.showing.chunks import OF_TASKS, levels
from signoff.engine.threads.begin import run_thread
from signoff.errors import GraphInterrupt, InvalidAnswer, ProgramChanged
from signoff.pregel.showing import DICTS
from signoff.pregel.streaming import Reader
from signoff.steps import Steps

if TYPE_CHECKING:
    from signoff.pregel.base import Base


def steps_of(graph: "Base", host: Host, input: Any, *, is_async: bool = False) -> Steps[Finish]:
    """The procedure of a run. A pause in a nested one goes on as a pause of the task around it."""
    steps = run_thread(host.run, input)
    has_code_between = host.run.program.has_code_between or bool(host.run.terms.caches)
    if has_code_between and (host.parent is not None or _scope.running.get() is not None):
        steps = _between_tasks(steps)
    if host.context is None and graph.context_schema is not None:
        steps = _without_context(graph, steps)
    if is_async:
        host.hear_life = heard
    is_inside = host.parent is not None and (host.parent.callbacks is not None or ambient_config() is not None)
    if host.sink is not None or is_inside or is_heard(host.config):
        from signoff.bridge.callbacks import observer_for

        host.observer = observer = observer_for(host, is_async=is_async)
        if observer is not None:
            host.ambient = None
            steps = observer.watched_run(steps, host, graph.name, input)
            # A task that is called off while its end is being told has still come to its end.
            host.runs_in_place &= not is_async
    if host.parent is None:
        return steps
    if host.sink is not None and graph.forms is not DICTS:
        host.sink.come_from(levels(host.run.ns), graph.forms)
    if host.sink is not None and not host.run.modes:
        host.run.modes = host.sink.inner_modes
        host.run.told = _told(host)
    return _nested(host, host.parent, steps) if not host.is_beside else _beside(host, host.parent, steps)


def _between_tasks(steps: Steps[Finish]) -> Steps[Finish]:
    """A run that is called in a task. What it does itself, between its own tasks, is none of the work of that one."""
    result: Any = None
    thrown: BaseException | None = None
    while True:
        try:
            try:
                effect = _scope.outside(steps.send, result) if thrown is None else _scope.outside(steps.throw, thrown)
            finally:
                thrown = None  # an error that its own traceback leads to is not freed at once
            result = yield effect
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except BaseException as error:
            if steps.gi_frame is None:  # type: ignore[attr-defined]
                raise
            thrown = error


def _without_context(graph: "Base", steps: Steps[Finish]) -> Steps[Finish]:
    """A run that was given no context, though its graph declares one: nodes may do without. One that fails says so."""
    try:
        return (yield from steps)
    except (AttributeError, TypeError) as error:
        if "'NoneType' object" in str(error):
            name = getattr(graph.context_schema, "__name__", repr(graph.context_schema))
            error.add_note(
                f"The {graph.program.shown} was called without a context, and it declares one. If runtime.context is "
                f"the None here, call it with context={name}(...)."
            )
        raise


def _nested(host: Host, parent: Scope, steps: Steps[Finish]) -> Steps[Finish]:
    parent.show_life()
    try:
        finish = yield from steps
    except (ProgramChanged, InvalidAnswer) as error:
        parent.refusal = error
        parent.left_open(host.run.beside)
        raise
    except Exception as error:
        host.tell_around(error)
        host.fail(error)
        parent.left_open(host.run.beside)
        raise
    parent.show_life()
    if finish.status != "done":
        parent.pause = GraphInterrupt(finish.questions)
        if not host.is_beside:
            parent.own = finish.questions
        raise parent.pause
    if host.run.is_saved and host.run.durability == "exit":
        finish.values = apart(finish.values)  # which is stored only later, as it was returned
    host.come_to(finish.values)
    return finish


def _beside(host: Host, parent: Scope, steps: Steps[Finish]) -> Steps[Finish]:
    """The same for a run that a coroutine or a thread beside the task has called: the task ends after it."""
    future = parent.also_wait(host.loop)
    try:
        if host.announces is not None:
            yield host.announces
        return (yield from _nested(host, parent, steps))
    except GraphInterrupt as asked:
        pause = parent.pause = GraphInterrupt(origin.beside(asked.interrupts))
        future.set_exception(pause)
        future.exception()  # nobody has to hear of it: a task that is called off does not ask
        raise pause from None
    finally:
        if not future.done():
            future.set_result(None)


def listen(graph: "Base", host: Host, reader: Reader, push: Callable[[Chunk], None]) -> None:
    """Make a reader hear what happens in a run, beside the reader of a run around it if there is one."""
    outer, modes = host.sink, reader.listens_to
    host.run.modes = modes if outer is None else modes | outer.inner_modes
    host.run.told = _told(host)
    host.sink = Sink(push, modes, reader.with_ns, host.depth, outer, with_events=reader.with_events)
    host.sink.come_from(levels(host.run.ns), graph.forms)
    host.runs_in_place &= not (reader.looks_inside or host.run.program.is_one_function)


def _told(host: Host) -> dict[str, Any]:
    """What a config says of its own about the tasks of a run: metadata and tags, without what we put there."""
    if host.run.modes.isdisjoint(OF_TASKS):
        return {}
    told = {name: value for name, value in shown_metadata(host.config).items() if not name.startswith(_OURS)}
    tags = shown_tags(host.config.get("tags"))
    return {**told, "tags": tags} if tags else told


_OURS = ("langgraph_", "checkpoint_", "thread_id")


def result_of(graph: "Base", finish: Finish, version: str) -> Any:
    """What a call returns: the state, and the questions beside it."""
    values = finish.values
    if finish.questions and not isinstance(values, dict):
        values = {}  # one bare value, beside which there is no place for a key
    if version == "v2":
        return GraphOutput(graph.forms.returned(values), finish.questions)
    return {**values, INTERRUPT: list(finish.questions)} if finish.questions else values


def with_result(graph: "Base", steps: Steps[Finish], version: str, results: list[Any] | None) -> Steps[Finish]:
    """The procedure of a run that somebody follows, which adds what the call returns to `results`."""
    finish = yield from steps
    if results is not None:
        results.append(result_of(graph, finish, version))
    return finish


async def shaped_chunks(host: Host, reader: Reader, effects: AsyncIterator[Emit]) -> AsyncIterator[Any]:
    """The chunks of a run as its reader wants them."""
    async for effect in effects:
        for shaped in shape(host, reader, effect):
            yield shaped


def shape(host: Host, reader: Reader, effect: Emit) -> Iterator[Any]:
    """Chunks as their reader wants them, one after the other; the readers of the runs around get them, too."""
    if not effect.is_from_inside and host.sink is not None and host.sink.outer is not None:
        for chunk in effect.chunks:
            host.sink.outer.send(*chunk)
    forms = host.sink.forms if host.sink is not None else {}
    depth = host.depth
    for ns, mode, payload in effect.chunks:
        yield from reader.shaped((ns[depth:], mode, payload), forms.get(ns, DICTS))


def tapped(host: Host, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The chunks, seen on their way by whoever follows the output of runs."""
    return chunks if host.observer is None else host.observer.tapped(chunks)
