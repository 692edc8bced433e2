"""Node caches: results of earlier runs with the same input, in this thread or in another."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from signoff._reprs import repr_of
from signoff.engine.effects import FullKey, Recall, Remember
from signoff.engine.own_copies import anew
from signoff.engine.pending import Pending
from signoff.engine.planning.edge_questions import go_to_edges
from signoff.engine.program import Action, Program, Write
from signoff.engine.task import Outcome, Task
from signoff.errors import InvalidInput, NotStorable, Undecodable
from signoff.steps import Steps

WRITES_NS = "__writes__"


def recall(tasks: Sequence[Task], program: Program, settled: dict[Task, Outcome]) -> Steps[list[Task]]:
    """Settle the tasks whose results are cached. Returns those that have to run: of some, just the edges."""
    cached = [task for task in tasks if task.node.cache is not None]
    if not cached:
        return list(tasks)
    for task in cached:
        task.cache_key = _key_of(task)
    found = yield from recalled([task.cache_key for task in cached])
    for task in cached:
        came_to: Any = found.get(task.cache_key)
        if not _is_result(came_to):
            continue
        if task.node.branches:
            go_to_edges(task, program, came_to)
        else:
            settled[task] = Outcome(task, (*came_to, *task.node.edges), is_cached=True)
    return [task for task in tasks if task not in settled]


def _is_result(found: Any) -> bool:
    """Whether this is what a task wrote; a cache that others write to may have anything."""
    return isinstance(found, list | tuple) and all(isinstance(one, list | tuple) and len(one) == 2 for one in found)


def recalled(keys: Sequence[FullKey]) -> Steps[dict[FullKey, Any]]:
    """What the cache has under keys. A result that cannot be read, since a class has changed say, is made again."""
    try:
        return (yield Recall(keys))  # type: ignore[no-any-return]
    except Undecodable:
        if len(keys) == 1:
            return {}
    found: dict[FullKey, Any] = {}
    for key in keys:
        found |= yield from recalled([key])
    return found


def remember(outcomes: Sequence[Outcome], known: Pending | None) -> Steps[None]:
    """Cache the results of the tasks that have a policy for it, and have asked nobody: an answer is for one thread.

    Where they lead is not part of it: that is for their edges to say, each time.
    """
    for outcome in outcomes:
        outcome.is_cached |= _was_recalled(outcome.task)
    asked = () if known is None else known.asked.keys() | known.asking_calls.keys()
    pairs = {
        outcome.task.cache_key: (_came_to(outcome), policy.ttl)
        for outcome in outcomes
        if outcome.is_done
        and outcome.signal is None
        and (policy := outcome.task.node.cache) is not None
        and hasattr(outcome.task, "cache_key")  # an error handler has none: nobody looks for what it came to
        and outcome.task.id not in asked
    }
    if pairs:
        yield Remember(pairs)


def _was_recalled(task: Task) -> bool:
    """Whether just the edges of a task were left to do."""
    return hasattr(task, "cache_key") and task.node.cache is None


def _came_to(outcome: Outcome) -> list[Write]:
    node = outcome.task.node
    return list(outcome.came_to if node.branches else outcome.writes[: len(outcome.writes) - len(node.edges)])


def _key_of(task: Task) -> FullKey:
    """The key of a task's result: its function, its node, its input. A call is given what its function is given."""
    assert task.node.cache is not None, "asked only for nodes with a policy"
    given = anew(task.input)  # a key_func may take something out of it
    args, kwargs = ((given,), {}) if task.caller is None else given
    key_func = task.node.cache.key_func
    key = key_func(*args, **kwargs) if key_func else _digest(task.name, args, kwargs)
    if not isinstance(key, str | bytes | int):  # all inputs would have the same, or each another one every time
        raise InvalidInput(
            f"The key_func of {task.name!r} returned {repr_of(key)}: return a text that tells inputs apart."
        )
    return cache_ns(task.node.action, task.name), _short(key)


def cache_ns(action: Action, name: str) -> tuple[str, ...]:
    """The namespace of the results of one function in one place; cleared as a whole."""
    return (WRITES_NS, action.identity, name)


def _short(key: str | bytes | int) -> str:
    text = hex(key) if isinstance(key, int) else key  # of any number of digits
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(data, digest_size=16).hexdigest()


def _digest(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer

    try:
        return JsonPlusSerializer().dumps_typed([list(args), sorted(kwargs.items())])[1]
    except NotStorable as error:
        raise NotStorable(
            f"The input of {name!r} cannot be looked up in a cache: {error} Or give its CachePolicy a key_func."
        ) from error
