"""ToolNode: makes the calls that a model wants."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from signoff import _scope
from signoff._loops import running_loop
from signoff._words.commands import Command
from signoff.drivers.aio_tasks import in_thread
from signoff.engine.program import Node
from signoff.prebuilt._invoking import Invoke, aperform, perform, runtime_of, scope_of
from signoff.prebuilt.carrying import carrying, uncarried
from signoff.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime, injected, injections_of
from signoff.prebuilt.interrupt import check_asking
from signoff.prebuilt.made_before import MadeBefore, Passing, made_before
from signoff.prebuilt.tool_calls import (
    AsyncOne,
    CallTasks,
    Noted,
    One,
    adone,
    aside_by_side,
    digest_of,
    done,
    hidden,
    name_of,
    own_config,
    side_by_side,
)
from signoff.prebuilt.tool_errors import (
    INVALID_TOOL_NAME_ERROR_TEMPLATE,
    TOOL_CALL_ERROR_TEMPLATE,
    TOOL_EXECUTION_ERROR_TEMPLATE,
    TOOL_INVOCATION_ERROR_TEMPLATE,
    ErrorHandler,
    HandleToolErrors,
    ToolInvocationError,
    error_message,
    misfit,
    tell_misfits,
    unknown_tool,
)
from signoff.prebuilt.tool_input import (
    ToolCallWithContext,
    Wanted,
    open_calls,
    read_input,
    sent_calls,
    tools_condition,
)
from signoff.prebuilt.tool_results import Made, Shape, checked, combined
from signoff.prebuilt.toolbox import by_name, check_list
from signoff.steps import Steps, adrive, drive

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


@dataclass
class ToolCallRequest:
    """A call on its way to its tool, as a wrapper sees it."""

    tool_call: ToolCall
    tool: BaseTool | None
    """None if the node has no tool of that name."""
    state: Any
    runtime: ToolRuntime[Any, Any]

    def override(self, **changes: Any) -> "ToolCallRequest":
        """A copy with some parts replaced."""
        return replace(self, **changes)


Answer = ToolMessage | Command[Any]
ToolCallWrapper = Callable[[ToolCallRequest, Callable[[ToolCallRequest], Answer]], Answer]
"""Stands around a call: `wrapper(request, execute)` may change the request, call execute never, once or often."""
AsyncToolCallWrapper = Callable[[ToolCallRequest, Callable[[ToolCallRequest], Awaitable[Answer]]], Awaitable[Answer]]
"""The same in an async run."""


class ToolNode(Runnable[Any, Any]):
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
        self.name = name
        self.tags = tags
        self.messages_key = messages_key
        check_list(tools)
        self.tools_by_name = by_name(tools)
        self._injections = {name: injections_of(tool) for name, tool in self.tools_by_name.items()}
        self._errors = ErrorHandler(handle_tool_errors)
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
        return CallTasks(self.name, self._one(wanted, made), self._aone(wanted, made), made.settled(wanted.calls))

    def calls_in(self, input: Any) -> dict[str | None, ToolCall]:
        """The calls that an input brings, by id: what came of them is kept, though another one takes its place."""
        return {call["id"]: call for call in sent_calls(input) or open_calls(input, self.messages_key)}

    # One call

    def _one(self, wanted: Wanted, made: MadeBefore) -> One:
        def one(call: ToolCall, config: RunnableConfig) -> Any:
            request = self._request(call, wanted.state, config)
            if self._wrap is None:
                return drive(self._execute(request, wanted.shape), perform)
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
            request = self._request(call, wanted.state, config)
            if self._awrap is None:
                return await adrive(self._execute(request, wanted.shape), aperform)
            passing = made.passing(call, wanted.calls)
            try:
                result = await self._awrap(request, lambda request: self._alet_pass(request, wanted, passing))
            except Exception as error:
                return self._told(call, error)
            return checked(result, self._made_around(call, wanted))

        return aone

    def _let_pass(self, request: ToolCallRequest, wanted: Wanted, passing: Passing) -> Any:
        """What a call comes to that a wrapper lets pass."""
        before = passing.result_before(request.tool_call)
        return self._run(request, wanted, passing.noted_for(request.tool_call)) if before is None else before

    async def _alet_pass(self, request: ToolCallRequest, wanted: Wanted, passing: Passing) -> Any:
        before = passing.result_before(request.tool_call)
        return await self._arun(request, wanted, passing.noted_for(request.tool_call)) if before is None else before

    def _run(self, request: ToolCallRequest, wanted: Wanted, noted: Noted | None, time: int | None = None) -> Any:
        """What a call comes to inside of a wrapper.

        In a run that is kept at once: the wrapper may ask a person afterwards, and then it starts over.
        """
        scope = _scope.running.get()
        if scope is None or wanted.holds_loop:
            return drive(self._execute(request, wanted.shape), perform)
        return done(self._kept(request, wanted, noted, time), scope)

    async def _arun(
        self, request: ToolCallRequest, wanted: Wanted, noted: Noted | None, time: int | None = None
    ) -> Any:
        scope = _scope.running.get()
        if scope is None or scope.host.loop is None:
            return await adrive(self._execute(request, wanted.shape), aperform)
        return await adone(self._kept(request, wanted, noted, time), scope)

    def _kept(self, request: ToolCallRequest, wanted: Wanted, noted: Noted | None, time: int | None) -> Node:
        """A call as a task of its own inside of the one that the wrapper runs in."""

        def steps() -> Steps[Any]:
            runtime = replace(request.runtime, config=own_config(request.runtime.config))
            return self._execute(request.override(runtime=runtime), wanted.shape)

        call = request.tool_call
        name = f"run-{digest_of([call['id'], call['name'], call['args'], time])}"
        run, arun = (lambda _: drive(steps(), perform)), (lambda _: adrive(steps(), aperform))
        return hidden(name, run, arun, passes_on=True, noted=noted)

    def _made_around(self, call: ToolCall, wanted: Wanted) -> Made:
        return Made(call, wanted.shape, wanted.state, self.messages_key, by_wrapper=True)

    def _request(self, call: ToolCall, state: Any, config: RunnableConfig) -> ToolCallRequest:
        runtime = runtime_of(config)
        return ToolCallRequest(
            call,
            self.tools_by_name.get(call["name"]),
            state,
            ToolRuntime(
                state=state,
                context=runtime.context,
                config=config,
                stream_writer=runtime.stream_writer,
                tool_call_id=call["id"],
                store=runtime.store,
                tools=list(self.tools_by_name.values()),
                execution_info=runtime.execution_info,
                server_info=runtime.server_info,
            ),
        )

    def _execute(self, request: ToolCallRequest, shape: Shape) -> Steps[Any]:
        """Make a call: the tool message, Command or list of these that it comes to."""
        call, tool = request.tool_call, request.tool or self.tools_by_name.get(request.tool_call["name"])
        if tool is None:
            return unknown_tool(call, list(self.tools_by_name))
        wants = self._injections[tool.name] if tool is self.tools_by_name.get(tool.name) else injections_of(tool)
        runtime = replace(request.runtime, state=request.state)
        args = injected(tool, wants, call["args"], runtime, self.messages_key)
        asked = {**call, "args": args, "type": "tool_call"}
        try:
            result = yield Invoke(carrying(tool), asked, request.runtime.config)
            return checked(uncarried(result), Made(call, shape, request.state, self.messages_key))
        except ValidationError as error:
            return self._told(call, misfit(tool.name, error, call["args"], wants.names), error)
        except Exception as error:
            return self._told(call, error)

    def _told(self, call: ToolCall, error: Exception, cause: Exception | None = None) -> ToolMessage:
        """The message that tells the model of an error; one that is not for the model is raised."""
        text = self._errors.text_for(error)
        if text is None:
            raise error from cause
        return error_message(call, text)


async def _in_thread_of_run(one: Callable[[], Any], scope: Any) -> Any:
    """What a sync function comes to, in a thread: on the loop it could not wait for tasks which that has to run."""
    return one() if scope is None or scope.host.loop is None else await in_thread(one, scope.host)
