"""The tool step of an agent: middleware around each call, and the gate before each body."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig

from signoff.agents.admission import Admission, Run, undecided
from signoff.agents.asked_before import calls_shown, check_watched
from signoff.agents.deciding import Aside, Deciding
from signoff.agents.gate import Check, Decided, Gate
from signoff.agents.middleware.base import AgentMiddleware, check_wraps_tools
from signoff.agents.rule_homes import aperform as aperform_store
from signoff.agents.rule_homes import keep_rules, rules_in_state, rules_made, whole
from signoff.agents.rule_homes import perform as perform_store
from signoff.agents.standing import as_it_stands, check_ids
from signoff.prebuilt._invoking import aperform, check_sync, perform, scope_of
from signoff.prebuilt.interrupt import check_asking
from signoff.prebuilt.made_before import MadeBefore, Passing
from signoff.prebuilt.one_call import ToolCallRequest, with_own_args
from signoff.prebuilt.tool_calls import AsyncOne, CallTasks, One, adone, done
from signoff.prebuilt.tool_input import Wanted, read_input, sent_before
from signoff.prebuilt.tool_node import ToolNode
from signoff.prebuilt.tool_results import checked, combined
from signoff.steps import Steps, adrive, drive


@dataclass(frozen=True, slots=True)
class Make:
    """Make the calls, each as a task of its own."""

    wanted: Wanted
    made: MadeBefore
    decisions: dict[str, Decided]
    """What is decided before, by call id."""
    rules: dict[str, Any]


class ToolStep(ToolNode):
    """Makes the calls that the model wants: those that nobody watches over at once, the others as it is decided."""

    def __init__(self, tools: Sequence[Any], wraps: Sequence[AgentMiddleware[Any, Any]] = ()) -> None:
        super().__init__(tools)
        self.wraps = list(wraps)
        self.gate: Gate | None = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Make the calls."""
        if self.gate is None:
            self._check_unwatched(input, config)
            return super().invoke(input, config, **kwargs)
        config = self._config(config)
        return drive(self._watched(self.gate, input, config, is_async=False), partial(self._do, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Make the calls."""
        if self.gate is None:
            self._check_unwatched(input, config)
            return await super().ainvoke(input, config, **kwargs)
        config = self._config(config)
        steps = self._watched(self.gate, input, config, is_async=True)
        return await adrive(steps, partial(self._ado, config))

    def _check_unwatched(self, input: Any, config: RunnableConfig | None) -> None:
        """Refuse to make calls unasked that a person was asked about by an earlier version of the agent."""
        scope = scope_of(config or {})
        if scope is not None and scope.host.run.known:
            check_watched(calls_shown(scope, read_input(input, self.messages_key, scope).calls), (), scope)

    # Decisions first

    def _watched(self, gate: Gate, input: Any, config: RunnableConfig, *, is_async: bool) -> Steps[Any]:
        scope = scope_of(config)
        wanted = read_input(input, self.messages_key, scope)
        check_ids(wanted, gate.policies)
        wanted = as_it_stands(wanted, {call["id"] for call in sent_before(scope)})
        check_asking(self.tools_by_name, scope)
        shown = calls_shown(scope, wanted.calls)
        check_watched(shown, gate.policies, scope)
        made = self._made_before(scope)
        rules: dict[str, Any] = {}
        decisions: dict[str, Decided] = {}
        watched = [call for call in wanted.calls if call["name"] in gate.policies]
        if watched:
            rules = rules_in_state(wanted.state)
            requests = [self._request(call, wanted.state, config) for call in watched]
            deciding = Deciding(gate, rules, config, partial(self._check_of_review, is_async=is_async), made, shown)
            decisions = yield from deciding.decided(requests, scope)
        results = yield Make(wanted, made, decisions, whole(rules))
        new_rules = yield from keep_rules(rules_made(results), config)
        together = combined(results, wanted.shape, self.messages_key)
        return _with_rules(together, new_rules) if new_rules else together

    def _check_of_review(self, *, is_async: bool) -> Check:
        """What refuses a tool that cannot be called, before a person is asked about it: later would be too late."""
        check_wraps_tools(self.wraps, is_async=is_async)
        # A wrapper may answer in the place of a tool that cannot be called.
        may_stand_in = any(one.calls_unknown_tools for one in self.wraps)
        return _any_tool if is_async or may_stand_in else check_sync

    # Performing

    def _do(self, config: RunnableConfig, effect: Any) -> Any:
        match effect:
            case Make(wanted, made):
                return self._results(wanted, made, self._tasks_of(effect), config)
            case Aside(node):
                return done(node, scope_of(config))
        return perform_store(effect)

    async def _ado(self, config: RunnableConfig, effect: Any) -> Any:
        match effect:
            case Make(wanted, made):
                return await self._aresults(wanted, made, self._tasks_of(effect), config)
            case Aside(node):
                return await adone(node, scope_of(config))
        return await aperform_store(effect)

    def _tasks_of(self, make: Make) -> CallTasks:
        how, settled = (make.wanted, make.made, make), make.made.settled(make.wanted.calls)
        return CallTasks(self.name, self._one(*how), self._aone(*how), settled, self._is_in_thread)

    def _is_in_thread(self, call: ToolCall) -> bool:
        return not self.wraps and super()._is_in_thread(call)

    # One call

    def _one(self, wanted: Wanted, made: MadeBefore, make: Make | None = None) -> One:
        def one(call: ToolCall, config: RunnableConfig) -> Any:
            passing = made.passing(call, wanted.calls) if self.wraps else None
            admission = self._admission(call, make, check_sync)
            handler = self._entrance(wanted, passing, admission)
            request = self._request(with_own_args(call) if self.wraps else call, wanted.state, config)
            request = self._given(request, passing, admission, is_async=False)
            for middleware in reversed(self._wraps_of(admission)):
                handler = partial(_around, middleware.wrap_tool_call, handler)
            result = handler(request)
            return self._told_of(result, call, wanted, admission)

        return one

    def _aone(self, wanted: Wanted, made: MadeBefore, make: Make | None = None) -> AsyncOne:
        async def aone(call: ToolCall, config: RunnableConfig) -> Any:
            passing = made.passing(call, wanted.calls) if self.wraps else None
            admission = self._admission(call, make, _any_tool)
            handler = self._aentrance(wanted, passing, admission)
            request = self._request(with_own_args(call) if self.wraps else call, wanted.state, config)
            request = self._given(request, passing, admission, is_async=True)
            for middleware in reversed(self._wraps_of(admission)):
                handler = partial(_around, middleware.awrap_tool_call, handler)
            result = await handler(request)
            return self._told_of(result, call, wanted, admission)

        return aone

    def _given(
        self, request: ToolCallRequest, passing: Passing | None, admission: Admission | None, *, is_async: bool
    ) -> ToolCallRequest:
        """A call as wrappers are given it."""
        if admission is None:
            return request
        if admission.is_open(request) and not (passing is not None and passing.before):
            check_wraps_tools(self.wraps, is_async=is_async)
            admission.ask(request)
        return admission.given(request)

    def _told_of(self, result: Any, call: ToolCall, wanted: Wanted, admission: Admission | None) -> Any:
        """What came of a call, with what people have decided about it, and with nothing that others say of that."""
        result = checked(result, self._made_around(call, wanted)) if self.wraps else result
        return undecided(result) if admission is None else admission.told(result)

    def _entrance(self, wanted: Wanted, passing: Passing | None, admission: Admission | None) -> Callable[[Any], Any]:
        """The innermost handler: the gate, and behind it the body."""

        def body(run: Run, request: ToolCallRequest) -> Any:
            if passing is not None:
                return self._run(run.request, wanted, passing.noted_for(request.tool_call), run.time)
            return drive(self._execute(run.request, wanted), perform)

        def enter(request: ToolCallRequest) -> Any:
            request = request if admission is None else admission.taken(request)
            return drive(_entering(request, passing, admission), partial(body, request=request))

        return enter

    def _aentrance(self, wanted: Wanted, passing: Passing | None, admission: Admission | None) -> Callable[[Any], Any]:
        async def body(run: Run, request: ToolCallRequest) -> Any:
            if passing is not None:
                return await self._arun(run.request, wanted, passing.noted_for(request.tool_call), run.time)
            return await adrive(self._execute(run.request, wanted), aperform)

        async def enter(request: ToolCallRequest) -> Any:
            request = request if admission is None else admission.taken(request)
            return await adrive(_entering(request, passing, admission), partial(body, request=request))

        return enter

    def _wraps_of(self, admission: Admission | None) -> Sequence[AgentMiddleware[Any, Any]]:
        """The middleware around a call, the outermost first."""
        return () if admission is not None and admission.is_settled else self.wraps

    def _admission(self, call: ToolCall, make: Make | None, check: Check) -> Admission | None:
        if self.gate is None:
            return None
        assert make is not None, "where somebody watches, calls are made as it is decided"
        return Admission(self.gate, make.decisions.get(str(call["id"])), make.rules, check)


def _entering(request: ToolCallRequest, passing: Passing | None, admission: Admission | None) -> Steps[Any]:
    """Ask for the body of a call, where the gate lets it pass; not again, if it has run before a person changed it."""
    before = passing.result_before(request.tool_call) if passing is not None else None
    if before is not None:
        return before
    return (yield Run(request)) if admission is None else (yield from admission.enter(request))


def _any_tool(tool: Any) -> None:
    """An async run can call every tool."""


def _around(wrap: Callable[[Any, Any], Any], inner: Callable[[Any], Any], request: ToolCallRequest) -> Any:
    return wrap(request, inner)


def _with_rules(result: Any, rules: dict[str, Any]) -> Any:
    update = {"approval_rules": rules}
    return {**result, **update} if isinstance(result, dict) else [*result, update]
