"""Calling: which call it is that a task makes, of a `@task` function or of a graph."""

from collections.abc import Iterable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from signoff import _scope
from signoff._forks import in_child
from signoff._words.questions import Interrupt
from signoff.drivers.scopes import meanwhile
from signoff.drivers.scopes.callsite import way_to
from signoff.drivers.scopes.digests import digest, digest_of_arguments, digest_of_site
from signoff.drivers.scopes.lines import in_turn, line_of, looks_of
from signoff.engine.calls.called_graphs import GraphsCalled
from signoff.engine.calls.marks import on_way
from signoff.engine.calls.replay import CallsMade
from signoff.engine.program import Node, Write
from signoff.engine.task import Task
from signoff.errors import GraphBubbleUp, GraphInterrupt, OutsideOfRun, ReplayMismatch

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


def find(scope: "Scope", call: Task, frame: FrameType) -> None:
    """Find out whether the call of a function was made before; the frame is where it is made."""
    site, is_beside = way_to(frame)
    line, given = None, digest_of_arguments(call.input)
    if is_beside:
        line, scope.is_branched = line_of(scope, frame), True
    try:
        with in_turn:
            if scope.made is None:
                scope.made = CallsMade(scope.host.run, scope.task, is_first=scope.attempt == 1)
            if scope.stands_for is not None:
                name, input = scope.stands_for
                scope.made, scope.stands_for = scope.made.inside(name(), digest_of_arguments(input)), None
            place = on_way(digest_of_site(site), scope.way)
            if scope.made.find(call, given, place, line, lambda id: meanwhile.is_another(scope, id)):
                scope.way = call.id
            if call.node.passes_on:
                scope.passed = (*scope.passed, call.id)
    except ReplayMismatch as error:
        scope.refusal = error
        raise


class CalledGraph(NamedTuple):
    """What is known of the call of a graph."""

    number: int
    """Its place among those of its task."""
    mark: Write | None = None
    """What is to be stored of it, under an id."""
    line: str = ""
    """What stands for the coroutine or the thread that makes it, if it is not the task itself."""


def called_graph(
    scope: "Scope", name: str, nodes: Mapping[str, Node], input: Any, frame: FrameType | None
) -> CalledGraph:
    """Find out which call of a graph it is that a task makes; the frame is where it is made."""
    scope.make_room()
    scope.past = len(scope.failed)
    with in_turn:
        if scope.nested is None:
            scope.nested = GraphsCalled(scope.host.run, scope.task, is_first=scope.attempt == 1)
    site, is_beside = way_to(frame)
    if frame is None or not is_beside:
        return CalledGraph(scope.nested.number())
    scope.is_branched, given = True, "\0".join((name, *nodes, digest(input)))  # most graphs have the same name
    line, looks = line_of(scope, frame), looks_of(nodes, frame)
    try:
        with in_turn:
            number, mark = scope.nested.number_beside(given, digest_of_site(site), line, looks)
    except ReplayMismatch as error:
        scope.refusal = error
        raise
    return CalledGraph(number, mark, line)


def refused(scope: "Scope", name: str) -> GraphBubbleUp:
    """Stops what a task has left behind: it would work beside the run that does it again. No `except` may mend that."""
    return GraphBubbleUp(
        f"Node {scope.task.name!r} has paused or failed, and {name!r} is called by a coroutine or a thread that it "
        "has left behind. It was not run: that is done when the node runs again."
    )


def too_late(scope: "Scope", caller: str) -> OutsideOfRun:
    """For what a thread, a coroutine or a context does that a task has left behind, if nobody hears of it any more."""
    ended = "the run of node" if scope.host.is_over else "node"
    return OutsideOfRun(
        f"{caller} was called after {ended} {scope.task.name!r} had ended, by a thread, a coroutine or a context that "
        "it has left behind. Nobody was asked, and nothing was run. Let the node wait for what it starts."
    )


def questions_of(errors: Iterable[BaseException | None]) -> tuple[Interrupt[Any], ...]:
    """The questions among the errors of calls."""
    pauses = (error for error in errors if isinstance(error, GraphInterrupt))
    return tuple(question for pause in pauses for question in pause.interrupts)


def _forked_off() -> None:
    """In a forked child: the task is the parent's, which does not hear what is asked or called here."""
    scope = _scope.running.get()
    if scope is not None:
        scope.refusal = OutsideOfRun(
            f"This process was forked off by node {scope.task.name!r}, and has no part in its run. Nobody was asked, "
            "and nothing was run. Ask, and call tasks, in the node itself, and hand on to the process what comes of it."
        )


in_child(_forked_off)
