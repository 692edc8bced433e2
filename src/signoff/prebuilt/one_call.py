"""One call: what a tool comes to, also inside of wrappers, in a run and outside of one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from signoff import _scope
from signoff._copies import copied
from signoff._words.commands import Command
from signoff.engine.program import Node
from signoff.prebuilt._invoking import Invoke, Keep, aperform, is_in_saved_run, perform, runtime_of
from signoff.prebuilt.argument_classes import Misfit
from signoff.prebuilt.carrying import carrying, uncarried
from signoff.prebuilt.injection import Injections, ToolRuntime, injected, injections_of
from signoff.prebuilt.interrupt import in_thread
from signoff.prebuilt.made_before import Passing
from signoff.prebuilt.tool_calls import Noted, adone, digest_of, done, hidden, own_config
from signoff.prebuilt.tool_errors import ErrorHandler, HandleToolErrors, error_message, misfit, unknown_tool
from signoff.prebuilt.tool_input import Wanted
from signoff.prebuilt.tool_results import Made, Shape, checked
from signoff.steps import Steps, adrive, drive

__all__ = ["AsyncToolCallWrapper", "MakesCalls", "ToolCallRequest", "ToolCallWrapper"]


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


def with_own_args(call: ToolCall) -> ToolCall:
    """A call whose arguments may be changed in place: those that it has from elsewhere stay as they were."""
    return {**call, "args": copied(call["args"])}


Answer = ToolMessage | Command[Any]
ToolCallWrapper = Callable[[ToolCallRequest, Callable[[ToolCallRequest], Answer]], Answer]
"""Stands around a call: `wrapper(request, execute)` may change the request, call execute never, once or often."""
AsyncToolCallWrapper = Callable[[ToolCallRequest, Callable[[ToolCallRequest], Awaitable[Answer]]], Awaitable[Answer]]
"""The same in an async run."""


class MakesCalls:
    """Has tools, and makes single calls of them."""

    def __init__(
        self, tools_by_name: dict[str, BaseTool], handle_tool_errors: HandleToolErrors, messages_key: str
    ) -> None:
        self.tools_by_name = tools_by_name
        self.messages_key = messages_key
        self._injections = {name: injections_of(tool) for name, tool in tools_by_name.items()}
        self._errors = ErrorHandler(handle_tool_errors)

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

    def _execute(self, request: ToolCallRequest, wanted: Wanted) -> Steps[Any]:
        """Make a call: the tool message, Command or list of these that it comes to."""
        call, tool = request.tool_call, request.tool or self.tools_by_name.get(request.tool_call["name"])
        if tool is None:
            return unknown_tool(call, list(self.tools_by_name))
        wants = self._injections[tool.name] if tool is self.tools_by_name.get(tool.name) else injections_of(tool)

        def called(request: ToolCallRequest) -> Steps[Any]:
            return self._called(tool, self._args(tool, wants, request), request, wanted.shape)

        args = self._args(tool, wants, request)  # what is missing for it is nothing to tell the model
        try:
            if self._errors.may_ask and not wanted.holds_loop and is_in_saved_run():
                return (yield Keep(_as_task("body", request, called)))
            return (yield from self._called(tool, args, request, wanted.shape))
        except Misfit as error:
            return self._told(call, misfit(tool.name, error, call["args"], wants.names), error)
        except Exception as error:
            return self._told(call, error)

    def _args(self, tool: BaseTool, wants: Injections, request: ToolCallRequest) -> dict[str, Any]:
        runtime = replace(request.runtime, state=request.state)
        # Copies, since the tool may change them, too.
        return injected(tool, wants, copied(request.tool_call["args"]), runtime, self.messages_key)

    def _called(self, tool: BaseTool, args: dict[str, Any], request: ToolCallRequest, shape: Shape) -> Steps[Any]:
        """What the tool itself comes to, whatever the model is told of a failure."""
        call = request.tool_call
        result = yield Invoke(carrying(tool), {**call, "args": args, "type": "tool_call"}, request.runtime.config)
        return checked(uncarried(result), Made(call, shape, request.state, self.messages_key))

    def _told(self, call: ToolCall, error: Exception, cause: Exception | None = None) -> ToolMessage:
        """The message that tells the model of an error; one that is not for the model is raised."""
        text = self._errors.text_for(error)
        if text is None:
            raise error from cause
        return error_message(call, text)

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
            return drive(self._execute(request, wanted), perform)
        return done(self._kept(request, wanted, noted, time), scope)

    async def _arun(
        self, request: ToolCallRequest, wanted: Wanted, noted: Noted | None, time: int | None = None
    ) -> Any:
        scope = _scope.running.get()
        if scope is None or scope.host.loop is None:
            return await adrive(self._execute(request, wanted), aperform)
        return await adone(self._kept(request, wanted, noted, time), scope)

    def _kept(self, request: ToolCallRequest, wanted: Wanted, noted: Noted | None, time: int | None) -> Node:
        """A call as a task of its own inside of the one that the wrapper runs in."""
        return _as_task("run", request, lambda request: self._execute(request, wanted), noted, time)


def _as_task(
    what: str,
    request: ToolCallRequest,
    steps: Callable[[ToolCallRequest], Steps[Any]],
    noted: Noted | None = None,
    time: int | None = None,
) -> Node:
    """What is done about a call, as a task of its own inside of the running one."""

    def own() -> Steps[Any]:
        runtime = replace(request.runtime, config=own_config(request.runtime.config))
        return steps(request.override(runtime=runtime))

    call = request.tool_call
    name = f"{what}-{digest_of([call['id'], call['name'], call['args'], time])}"
    run, arun = (lambda _: drive(own(), perform)), (lambda _: adrive(own(), aperform))
    return hidden(name, run, arun, passes_on=True, in_thread=in_thread(request.tool), noted=noted)
