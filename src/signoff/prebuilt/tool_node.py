"""ToolNode: makes the calls that a model wants."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.tools import BaseTool

from signoff._loops import running_loop
from signoff.drivers.tasks.aio_threads import in_thread as in_thread_of
from signoff.prebuilt._invoking import aperform, perform, scope_of
from signoff.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime
from signoff.prebuilt.interrupt import check_asking, in_thread
from signoff.prebuilt.made_before import MadeBefore, made_before
from signoff.prebuilt.one_call import (
    AsyncToolCallWrapper,
    MakesCalls,
    ToolCallRequest,
    ToolCallWrapper,
    with_own_args,
)
from signoff.prebuilt.tool_calls import (
    AsyncOne,
    CallTasks,
    One,
    aside_by_side,
    name_of,
    side_by_side,
)
from signoff.prebuilt.tool_errors import (
    INVALID_TOOL_NAME_ERROR_TEMPLATE,
    TOOL_CALL_ERROR_TEMPLATE,
    TOOL_EXECUTION_ERROR_TEMPLATE,
    TOOL_INVOCATION_ERROR_TEMPLATE,
    HandleToolErrors,
    ToolInvocationError,
    tell_misfits,
)
from signoff.prebuilt.tool_input import (
    ToolCallWithContext,
    Wanted,
    open_calls,
    read_input,
    sent_calls,
    tools_condition,
)
from signoff.prebuilt.tool_results import Made, checked, combined
from signoff.prebuilt.toolbox import by_name, check_list
from signoff.steps import adrive, drive

__all__ = [
    "INVALID_TOOL_NAME_ERROR_TEMPLATE",
    "TOOL_CALL_ERROR_TEMPLATE",
    "TOOL_EXECUTION_ERROR_TEMPLATE",
    "TOOL_INVOCATION_ERROR_TEMPLATE",
    "AsyncToolCallWrapper",
    "InjectedState",
    "InjectedStore",
    "ToolCallRequest",
    "ToolCallWithContext",
    "ToolCallWrapper",
    "ToolInvocationError",
    "ToolNode",
    "ToolRuntime",
    "tools_condition",
]


class ToolNode(MakesCalls, Runnable[Any, Any]):
    """Makes the tool calls in the last message of the model, side by side, and returns their tool messages.

    As a node of a graph, or called with messages. In a run each call is a task of its own: one that finished is
    not made again because another one asked a person or failed.
    """

    name: str

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        name: str = "tools",
        tags: list[str] | None = None,
        handle_tool_errors: HandleToolErrors = tell_misfits,
        messages_key: str = "messages",
        wrap_tool_call: ToolCallWrapper | None = None,
        awrap_tool_call: AsyncToolCallWrapper | None = None,
    ) -> None:
        check_list(tools)
        super().__init__(by_name(tools), handle_tool_errors, messages_key)
        self.name = name
        self.tags = tags
        self._wrap = wrap_tool_call
        self._awrap = awrap_tool_call

    # Called

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Make the calls."""
        config = self._config(config)
        scope = scope_of(config)
        check_asking(self.tools_by_name, scope)
        wanted = read_input(input, self.messages_key, scope)
        if scope is not None and scope.host.loop is not None and scope.host.loop is running_loop():
            wanted = replace(wanted, holds_loop=True)
        made = self._made_before(scope)
        results = self._results(wanted, made, self._tasks(wanted, made), config)
        return combined(results, wanted.shape, self.messages_key)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Make the calls."""
        config = self._config(config)
        scope = scope_of(config)
        check_asking(self.tools_by_name, scope)
        wanted = read_input(input, self.messages_key, scope)
        made = self._made_before(scope)
        results = await self._aresults(wanted, made, self._tasks(wanted, made), config)
        return combined(results, wanted.shape, self.messages_key)

    def _config(self, config: RunnableConfig | None) -> RunnableConfig:
        config = ensure_config(config)
        return {**config, "tags": [*config.get("tags", ()), *self.tags]} if self.tags else config

    def _made_before(self, scope: Any) -> MadeBefore:
        """What the node has made before, if the running task is the node: then its calls are those of one message."""
        if scope is None or scope.host.run.known is None or scope.task.node.action.func != self.invoke:
            return MadeBefore(self.name)
        return made_before(self.name, self.messages_key, scope)

    def _results(self, wanted: Wanted, made: MadeBefore, tasks: CallTasks, config: RunnableConfig) -> list[Any]:
        """What the calls come to, in order."""
        scope = scope_of(config)
        if self._is_lone(wanted, scope, made):
            return side_by_side(tasks.one, wanted.calls, config)
        return tasks.make(wanted.calls, config, scope)

    async def _aresults(self, wanted: Wanted, made: MadeBefore, tasks: CallTasks, config: RunnableConfig) -> list[Any]:
        scope = scope_of(config)
        # On a loop of its own inside of a sync run, nobody could wait there for the tasks of that run.
        if self._is_lone(wanted, scope, made) or scope.host.loop is None:
            return await aside_by_side(tasks.aone, wanted.calls, config)
        return await tasks.amake(wanted.calls, config, scope)

    def _is_lone(self, wanted: Wanted, scope: Any, made: MadeBefore) -> bool:
        """Whether the calls are not tasks: outside of a run, or where the running task is this one call and no more."""
        if scope is None or not wanted.calls or wanted.holds_loop:
            return True
        is_one = len(wanted.calls) == 1 and not (wanted.are_several or made.results or made.were_tasks)
        if not is_one or scope.task.node.action.func != self.invoke:
            return False
        scope.stand_for(partial(name_of, self.name, wanted.calls[0]), wanted.calls[0])
        return True

    def _tasks(self, wanted: Wanted, made: MadeBefore) -> CallTasks:
        one, aone = self._one(wanted, made), self._aone(wanted, made)
        return CallTasks(self.name, one, aone, made.settled(wanted.calls), self._is_in_thread)

    def _is_in_thread(self, call: ToolCall) -> bool:
        """Whether an async run, too, calls a sync function for a call, right away."""
        return self._awrap is None and (self._wrap is not None or in_thread(self.tools_by_name.get(call["name"])))

    def calls_in(self, input: Any) -> dict[str | None, ToolCall]:
        """The calls that an input brings, by id: what came of them is kept, though another one takes its place."""
        return {call["id"]: call for call in sent_calls(input) or open_calls(input, self.messages_key)}

    # One call

    def _one(self, wanted: Wanted, made: MadeBefore) -> One:
        def one(call: ToolCall, config: RunnableConfig) -> Any:
            if self._wrap is None:
                return drive(self._execute(self._request(call, wanted.state, config), wanted), perform)
            request = self._request(with_own_args(call), wanted.state, config)
            passing = made.passing(call, wanted.calls)
            try:
                result = self._wrap(request, lambda request: self._let_pass(request, wanted, passing))
            except Exception as error:
                return self._told(call, error)
            return checked(result, self._made_around(call, wanted))

        return one

    def _aone(self, wanted: Wanted, made: MadeBefore) -> AsyncOne:
        async def aone(call: ToolCall, config: RunnableConfig) -> Any:
            if self._awrap is None and self._wrap is not None:
                return await _in_thread_of_run(partial(self._one(wanted, made), call, config), scope_of(config))
            if self._awrap is None:
                return await adrive(self._execute(self._request(call, wanted.state, config), wanted), aperform)
            request = self._request(with_own_args(call), wanted.state, config)
            passing = made.passing(call, wanted.calls)
            try:
                result = await self._awrap(request, lambda request: self._alet_pass(request, wanted, passing))
            except Exception as error:
                return self._told(call, error)
            return checked(result, self._made_around(call, wanted))

        return aone

    def _made_around(self, call: ToolCall, wanted: Wanted) -> Made:
        return Made(call, wanted.shape, wanted.state, self.messages_key, by_wrapper=True)


async def _in_thread_of_run(one: Callable[[], Any], scope: Any) -> Any:
    """What a sync function comes to, in a thread: on the loop it could not wait for tasks which that has to run."""
    return one() if scope is None or scope.host.loop is None else await in_thread_of(one, scope.host)
