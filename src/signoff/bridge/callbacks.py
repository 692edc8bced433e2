"""Callbacks: LangChain's handlers, tracers and token streams see a graph's run and its nodes as chains."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from signoff import bridge
from signoff.bridge.messages import is_message_handler, message_handler
from signoff.bridge.tools import is_tool_handler, open_tools, tool_handler
from signoff.bridge.watch import Watch, streaming_handlers
from signoff.config import RunnableConfig, merge_configs, shown_metadata
from signoff.constants import CONF, SCOPE
from signoff.engine.effects import Tell
from signoff.engine.run import Finish
from signoff.engine.showing.chunks import levels
from signoff.engine.task import Outcome
from signoff.steps import Steps

if TYPE_CHECKING:
    from signoff.drivers.host import Host
    from signoff.drivers.scopes.scope import Scope
    from signoff.drivers.sink import Sink


def observer_for(host: "Host", *, is_async: bool) -> "Observer | None":
    """What tells LangChain's callbacks about a run; None if nobody there would listen."""
    config = _told_with(host)
    is_followed = host.is_read("messages") or host.is_read("tools")
    if not is_followed and not bridge.is_heard(config):
        return None
    manager = _manager(config, is_async)
    if host.parent is None or host.has_reader:
        _follow(manager, host.sink)
    return Observer(manager, UUID(host.run_id) if host.run_id and host.parent is None else uuid4(), is_async)


def _told_with(host: "Host") -> RunnableConfig:
    """The config that says who hears of a run: of a nested one, that of the call which it is part of, and its own."""
    parent = host.parent
    if parent is None:
        return host.config
    around = bridge.ambient_config()
    if not around or (around.get(CONF) or {}).get(SCOPE) is not parent:
        around = None if parent.callbacks is None else parent.config
    if around is None:
        return host.config
    return around if host.given is None else merge_configs(around, host.given)


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
    if isinstance(heard.get("callbacks"), tuple):  # LangChain takes only lists
        heard["callbacks"] = list(heard["callbacks"])
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
        said = host.config if host.parent is None else host.given or {}
        shown = said.get("run_name") or name
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
        node = scope.task.node
        if node.is_hidden and not node.branches:
            return steps
        return Watch(self._run, self._tools, scope, self.is_async).followed(steps)

    def tapped(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The chunks of the run, seen on their way by handlers that follow output, as astream_events does."""
        for handler in streaming_handlers(self.manager):
            chunks = handler.tap_output_aiter(self.run_id, chunks)
        return chunks


__all__ = ["Observer", "observer_for"]
