"""The calls of one tool step, side by side. In a run each is a task of its own.

A call that finished is found again by what it is: its place, its id, the tool and the arguments. So it is not
made again because its neighbour asked a person, or failed; and a question belongs to exactly one call.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, cast

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_executor_for_config
from langchain_core.runnables.utils import gather_with_concurrency

from signoff import _scope
from signoff._loops import hear
from signoff.constants import CONF, RETURN
from signoff.engine.program import Action, Node, Write
from signoff.errors import GraphInterrupt

One = Callable[[ToolCall, RunnableConfig], Any]
AsyncOne = Callable[[ToolCall, RunnableConfig], Awaitable[Any]]
"""Makes one call."""
Noted = Callable[[Any], list[Write]]
"""What is kept beside a result."""


def side_by_side(one: One, calls: Sequence[ToolCall], config: RunnableConfig) -> list[Any]:
    """The results of calls that are made in threads, in order."""
    if len(calls) == 1:
        return [one(calls[0], config)]
    with get_executor_for_config(config) as executor:
        return list(executor.map(lambda call: one(call, config), calls))


async def aside_by_side(one: AsyncOne, calls: Sequence[ToolCall], config: RunnableConfig) -> list[Any]:
    """The results of calls that are made on the event loop, in order."""
    if len(calls) == 1:
        return [await one(calls[0], config)]  # what is gathered is lost when the task is called off
    return await gather_with_concurrency(config.get("max_concurrency"), *(one(call, config) for call in calls))  # type: ignore[arg-type]


class CallTasks:
    """Makes calls as tasks inside of the task that is running."""

    def __init__(
        self,
        name: str,
        one: One,
        aone: AsyncOne,
        settled: Mapping[str | None, Any],
        in_thread: Callable[[ToolCall], bool],
    ) -> None:
        """settled: what came of calls that are not made any more, by their ids.

        in_thread: which of them an async run, too, calls a sync function for.
        """
        self.name = name
        self.in_thread = in_thread
        self.one = one
        self.aone = aone
        self.settled = settled

    def make(self, calls: Sequence[ToolCall], config: RunnableConfig, scope: Any) -> list[Any]:
        """The results, in order; each is kept as soon as it is there."""
        return self._results(calls, self._start(calls, config, scope))

    async def amake(self, calls: Sequence[ToolCall], config: RunnableConfig, scope: Any) -> list[Any]:
        """The results, in order; each is kept as soon as it is there."""
        futures = self._start(calls, config, scope)
        if futures:
            await _over(futures)
        return self._results(calls, futures)

    def _start(self, calls: Sequence[ToolCall], config: RunnableConfig, scope: Any) -> list[Any]:
        return [scope.call(self._node(call, config), call) for call in calls if call["id"] not in self.settled]

    def _results(self, calls: Sequence[ToolCall], futures: Sequence[Any]) -> list[Any]:
        _raise_worst([future.exception() for future in futures])
        made = (future.result() for future in futures)
        return [self.settled[call["id"]] if call["id"] in self.settled else next(made) for call in calls]

    def _node(self, call: ToolCall, config: RunnableConfig) -> Node:
        """A node for one call. Its name holds what the call is, and so does the id of its task."""
        return hidden(
            name_of(self.name, call),
            lambda call: self.one(call, own_config(config)),
            lambda call: self.aone(call, own_config(config)),
            in_thread=self.in_thread(call),
        )


def hidden(
    name: str,
    func: Callable[[Any], Any],
    afunc: Callable[[Any], Any],
    *,
    passes_on: bool = False,
    in_thread: bool = False,
    noted: Noted | None = None,
) -> Node:
    """A node for something that is done inside of a task, as a task of its own: its result is kept at once.

    passes_on: whether that task makes something else of it, so that what cannot be kept need not be.
    in_thread: whether an async run, too, calls a sync function for it.
    """
    return Node(
        name,
        Action(name, func, afunc),
        triggers=(),
        read=lambda values, step, stop: None,
        updates=lambda result: [(RETURN, result), *(noted(result) if noted is not None else ())],
        is_hidden=True,
        passes_on=passes_on,
        in_thread=in_thread,
    )


def done(node: Node, scope: Any, given: str | None = None) -> Any:
    """What a node comes to that is done as a task of its own. It is found again if it is given the same."""
    return _result(scope.call(node, given))


async def adone(node: Node, scope: Any, given: str | None = None) -> Any:
    """What a node comes to that is done as a task of its own. It is found again if it is given the same."""
    future = scope.call(node, given)
    try:
        await _over([future])
    except asyncio.CancelledError as error:
        making = getattr(future, "making", None)
        setattr(error, _CALLED_OFF, making is not None and making.cancelled())
        raise
    return _result(future)


def was_called_off(error: BaseException) -> bool:
    """Whether what was done as a task of its own came to nothing, since whoever waited for it has given up.

    It may have come to its end all the same, and a thread goes on.
    """
    return bool(getattr(error, _CALLED_OFF, False))


_CALLED_OFF = "signoff_called_off"


async def _over(futures: Sequence["asyncio.Future[Any]"]) -> None:
    """Wait for calls. Whoever gives up on them calls them off; that one fails then, too, is nothing to warn of."""
    for future in futures:
        future.add_done_callback(hear)
    try:
        await asyncio.wait(futures)
    except asyncio.CancelledError:
        for future in futures:
            future.cancel()
        await asyncio.wait(futures)
        raise


def _result(future: Any) -> Any:
    error = future.exception()
    if error is not None:
        raise error
    return future.result()


def _raise_worst(errors: Sequence[BaseException | None]) -> None:
    """Failures go before questions: what failed has to be seen, and the questions stay open beside it."""
    raised = [error for error in errors if error is not None]
    for error in raised:
        if not isinstance(error, GraphInterrupt):
            raise error
    if raised:
        raise GraphInterrupt([question for pause in raised for question in cast(GraphInterrupt, pause).interrupts])


def own_config(config: RunnableConfig) -> RunnableConfig:
    """The config of the node for one of its calls: graphs that the tool calls belong to the call's task."""
    scope = _scope.current("A tool call")
    return {**config, CONF: {**config.get(CONF, {}), **scope.config[CONF]}}


def name_of(node: str, call: ToolCall) -> str:
    """The name of the task that makes a call."""
    return f"{node}-{digest_of([call['id'], call['name'], call['args']])}"


def digest_of(parts: Any) -> str:
    """Sixteen hex digits that stand for plain values."""
    try:
        told = json.dumps(parts, sort_keys=True, default=repr)
    except TypeError:  # keys that are no texts: they have no order, or JSON no place for them
        told = json.dumps(_listed(parts), default=repr)
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _listed(part: Any) -> Any:
    """Values with each dict as a list of its pairs, in an order of their own."""
    if isinstance(part, Mapping):
        return sorted(([repr(key), _listed(value)] for key, value in part.items()), key=lambda pair: pair[0])
    return [_listed(one) for one in part] if isinstance(part, list | tuple) else part
