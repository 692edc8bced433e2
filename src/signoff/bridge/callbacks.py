"""Callbacks: LangChain's handlers, tracers and token streams see a graph's run and its nodes as chains."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from signoff import bridge
from signoff.bridge.messages import is_message_handler, message_handler, note_input, show_result
from signoff.bridge.tools import is_tool_handler, open_tools, tool_handler
from signoff.config import RunnableConfig, shown_metadata
from signoff.engine.chunks import levels
from signoff.engine.effects import Tell
from signoff.engine.run import Finish
from signoff.engine.task import Outcome, Task
from signoff.errors import GraphInterrupt
from signoff.steps import Steps

if TYPE_CHECKING:
    from signoff.drivers.host import Host
    from signoff.drivers.scope import Scope
    from signoff.drivers.sink import Sink


def observer_for(host: "Host", *, is_async: bool) -> "Observer | None":
    """What tells LangChain's callbacks about a run; None if nobody there would listen."""
    config = host.config if host.parent is None or host.parent.callbacks is None else host.parent.config
    is_followed = host.is_read("messages") or host.is_read("tools")
    if not is_followed and not bridge.is_heard(config):
        return None
    manager = _manager(config, is_async)
    if host.parent is None or host.has_reader:
        _follow(manager, host.sink)
    return Observer(manager, UUID(host.run_id) if host.run_id and host.parent is None else uuid4(), is_async)


def _follow(manager: Any, sink: "Sink | None") -> None:
    """Make the tokens and tools of a run show in its streams, and no longer in those of the run it is called from."""
    for handler in [handler for handler in manager.handlers if is_ours(handler)]:
        manager.remove_handler(handler)
    if sink is not None and sink.listens_to("messages"):
        manager.add_handler(message_handler(sink), inherit=True)
    if sink is not None and sink.listens_to("tools"):
        manager.add_handler(tool_handler(sink), inherit=True)


def is_ours(handler: Any) -> bool:
    """Whether a handler is there to fill a stream."""
    return is_message_handler(handler) or is_tool_handler(handler)


def _manager(config: RunnableConfig, is_async: bool) -> Any:
    from langchain_core.runnables.config import (
        get_async_callback_manager_for_config,
        get_callback_manager_for_config,
    )

    heard: Any = {name: value for name, value in config.items() if name in ("callbacks", "tags")}
    heard["metadata"] = shown_metadata(config)
    made = get_async_callback_manager_for_config if is_async else get_callback_manager_for_config
    return made(heard)


class Observer:
    """Tells LangChain's callbacks what happens in one run."""

    def __init__(self, manager: Any, run_id: UUID, is_async: bool) -> None:
        self.manager = manager
        self.is_async = is_async
        self.run_id = run_id
        self._tools = open_tools(manager)
        self._run: Any = None

    def watched_run(self, steps: Steps[Finish], host: "Host", name: str, input: Any) -> Steps[Finish]:
        """A run, told from its start to its end. A pause is an end like any other, and no error."""
        shown = host.config.get("run_name") or name
        host.run.on_resume = lambda checkpoint_id: self._tell_resume(checkpoint_id, levels(host.run.ns))
        self._run = yield Tell(lambda: self.manager.on_chain_start(None, input, name=shown, run_id=self.run_id))
        try:
            finish = yield from steps
        except BaseException as error:
            failure = error
            yield Tell(lambda: self._run.on_chain_error(failure))
            raise
        if finish.status != "done" and host.parent is None:
            yield Tell(lambda: self._tell_interrupt(finish))
        yield Tell(lambda: self._run.on_chain_end(finish.values))
        return finish

    def _tell_interrupt(self, finish: Finish) -> Any:
        from signoff.callbacks import GraphInterruptEvent

        event = GraphInterruptEvent(self.run_id, finish.status, finish.checkpoint_id, (), finish.questions)
        return self._tell("on_interrupt", event)

    def _tell_resume(self, checkpoint_id: str, ns: tuple[str, ...]) -> Any:
        from signoff.callbacks import GraphResumeEvent

        return self._tell("on_resume", GraphResumeEvent(self.run_id, "pending", checkpoint_id, ns))

    def _tell(self, method: str, event: Any) -> Any:
        """Tell the handlers that know of pauses. What one of them raises is logged, unless it has `raise_error` set."""
        from langchain_core.callbacks.manager import ahandle_event, handle_event

        from signoff.callbacks import GraphCallbackHandler

        handlers: list[Any] = [one for one in self.manager.handlers if isinstance(one, GraphCallbackHandler)]
        tell = ahandle_event if self.is_async else handle_event
        return tell(handlers, method, None, event)

    def watched(self, steps: Steps[Outcome], scope: "Scope") -> Steps[Outcome]:
        """A task, told from its start to its end; what it calls reports to the same handlers."""
        if scope.task.node.is_hidden:
            return (yield from steps)
        run = yield Tell(lambda: self._child(scope).on_chain_start(None, shown_input(scope.task), name=scope.task.name))
        scope.callbacks = run.get_child()
        shows_messages = scope.host.is_read("messages")
        if shows_messages:
            note_input(scope)
        with as_ambient(scope), _as_parent(scope.callbacks):
            outcome = yield from steps
        if shows_messages:
            show_result(scope, outcome)
        if self._tools.begun and (scope.led_by is not None or not outcome.is_done):
            yield from self._end_tools(run, scope, outcome)
        yield Tell(lambda: self._tell_end(run, scope, outcome), concludes=True)
        return outcome

    def _end_tools(self, run: Any, scope: "Scope", outcome: Outcome) -> Steps[None]:
        """End the tools that the task has left, since it asks, or hands over to the graph around."""
        from langchain_core.callbacks.manager import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun

        reason = outcome.error or scope.led_by or outcome.signal or GraphInterrupt(outcome.questions or ())
        kind: Any = AsyncCallbackManagerForToolRun if self.is_async else CallbackManagerForToolRun
        handlers = run.inheritable_handlers
        for id, around in self._tools.left_in(scope.task.ns_inside):
            tool = kind(run_id=id, handlers=handlers, inheritable_handlers=handlers, parent_run_id=around)
            yield Tell(partial(tool.on_tool_error, reason), concludes=True)

    def _child(self, scope: "Scope") -> Any:
        tag = f"graph:step:{scope.task.step}"
        around = bridge.ambient_config() if scope.task.is_call else None
        # A call belongs to the task that makes it: its config is the one that is found here.
        child = around["callbacks"].copy() if around else self._run.get_child(tag)
        child.add_metadata({**scope.metadata, **(scope.task.node.metadata or {})})
        child.add_tags(list(scope.task.node.tags))
        return child

    def _tell_end(self, run: Any, scope: "Scope", outcome: Outcome) -> Any:
        if outcome.error is not None:
            return run.on_chain_error(outcome.error)
        if not outcome.is_done:  # a pause is no failure
            return run.on_chain_end({})
        if self.is_async:
            return self._atell_output(run, scope.output)
        for handler in streaming_handlers(run):
            list(handler.tap_output_iter(run.run_id, iter([scope.output])))
        return run.on_chain_end(scope.output)

    async def _atell_output(self, run: Any, output: Any) -> None:
        for handler in streaming_handlers(run):
            async for _ in handler.tap_output_aiter(run.run_id, _once(output)):
                pass
        await run.on_chain_end(output)


def shown_input(task: Task) -> Any:
    """What a task is given, as traces show it: of a call, the arguments by their names."""
    if not task.is_call:
        return task.input
    action, (args, named) = task.node.action, task.input
    return signature(action.func or action.afunc).bind_partial(*args, **named).arguments  # type: ignore[arg-type]


def streaming_handlers(run: Any) -> list[Any]:
    """The handlers that want to see chunks of output, as astream_events does."""
    from langchain_core.tracers._streaming import _StreamingCallbackHandler

    return [h for h in run.handlers if isinstance(h, _StreamingCallbackHandler) and not is_message_handler(h)]


async def _once(value: Any) -> Any:
    yield value


@contextmanager
def as_ambient(scope: "Scope") -> Iterator[None]:
    """Make the task's config the one that LangChain runnables find when they are called without any."""
    from langchain_core.runnables.config import var_child_runnable_config

    token = var_child_runnable_config.set(scope.config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _as_parent(manager: Any) -> AbstractContextManager[None]:
    """Make a task's run the one that functions belong to which LangSmith traces by itself, where it traces the task."""
    helpers = sys.modules.get("langsmith.run_helpers")
    runs = (getattr(handler, "run_map", {}).get(str(manager.parent_run_id)) for handler in manager.handlers)
    run = next((run for run in runs if hasattr(run, "dotted_order")), None)
    if run is None or helpers is None:
        return nullcontext()
    told = {**helpers.get_tracing_context(), "parent": run, "distributed_parent_id": None}
    return helpers.tracing_context(**told)  # type: ignore[no-any-return]


__all__ = ["Observer", "as_ambient", "observer_for", "streaming_handlers"]
