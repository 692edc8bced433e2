"""The tool step of an agent: middleware around each call, and the gate before each body."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig

from signoff.agents.admission import Admission, Run, undecided
from signoff.agents.asked_before import Shown, calls_shown, check_watched, decided_before, was_shown
from signoff.agents.gate import Check, Decided, Gate
from signoff.agents.middleware.base import AgentMiddleware, check_wraps_tools
from signoff.agents.rule_homes import aperform as aperform_store
from signoff.agents.rule_homes import keep_rules, known_rules, rules_in_state, rules_made, whole
from signoff.agents.rule_homes import perform as perform_store
from signoff.agents.standing import as_it_stands, check_ids
from signoff.engine.program import Node
from signoff.prebuilt._invoking import aperform, check_sync, perform, scope_of
from signoff.prebuilt.interrupt import check_asking
from signoff.prebuilt.made_before import MadeBefore, Passing
from signoff.prebuilt.one_call import ToolCallRequest, with_own_args
from signoff.prebuilt.tool_calls import AsyncOne, CallTasks, One, adone, digest_of, done, hidden
from signoff.prebuilt.tool_input import Wanted, read_input, sent_before
from signoff.prebuilt.tool_node import ToolNode
from signoff.prebuilt.tool_results import checked, combined
from signoff.steps import Steps, adrive, drive


@dataclass(frozen=True, slots=True)
class Aside:
    """Do something as a task of its own, so that its result is kept, whatever happens later."""

    node: Node


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
        rules: dict[str, Any] = {}
        decisions: dict[str, Decided] = {}
        watched = [call for call in wanted.calls if call["name"] in gate.policies]
        if watched:
            rules = rules_in_state(wanted.state)
            decisions = yield from self._screened(gate, watched, wanted, rules, config, shown)
        asked = [call for call in watched if decisions[str(call["id"])]["kind"] == "ask"]
        made = self._made_before(scope)
        if asked and gate.is_batched:
            review = partial(self._review, gate, wanted=wanted, config=config, is_async=is_async)
            requests = [self._request(call, wanted.state, config) for call in asked]
            known = decided_before(gate, requests, made, scope)
            left = [call for call in made.left_of(asked) if str(call["id"]) not in known.decided]
            decisions |= known.decided
            if left:
                decisions |= yield Aside(review(left, known.over))
            passing = [call for call in watched if decisions[str(call["id"])]["kind"] == "rule"]
            if passing:
                decisions |= yield Aside(self._second_look(gate, passing, decisions, known.over, wanted, rules, config))
            late = [call for call in passing if decisions[str(call["id"])]["kind"] == "ask"]
            if late := made.left_of(late):
                decisions |= yield Aside(review(late, known.over))
        results = yield Make(wanted, made, decisions, whole(rules))
        new_rules = yield from keep_rules(rules_made(results), config)
        together = combined(results, wanted.shape, self.messages_key)
        return _with_rules(together, new_rules) if new_rules else together

    def _screened(
        self,
        gate: Gate,
        calls: Sequence[ToolCall],
        wanted: Wanted,
        rules: dict[str, Any],
        config: RunnableConfig,
        shown: Collection[Shown],
    ) -> Steps[dict[str, Decided]]:
        """Which calls are to be asked about. It is looked at once: a rule may end, and a predicate change its mind,
        while a question is open. What was asked is asked, though the agent may have come to a rule since."""
        requests = [self._request(call, wanted.state, config) for call in calls]

        def screen() -> Steps[dict[str, Decided]]:
            known = yield from known_rules(rules, config)
            return {str(request.tool_call["id"]): gate.screened(request, known) for request in requests}

        found: dict[str, Decided] = {}
        if gate.needs_screening(calls, rules):
            found = yield Aside(_aside("screen", calls, screen))
        asked = [one for one in requests if not found or was_shown(one.tool_call, shown)]
        return {**found, **{str(one.tool_call["id"]): gate.unscreened(one) for one in asked}}

    def _review(
        self,
        gate: Gate,
        calls: Sequence[ToolCall],
        over: Sequence[str],
        wanted: Wanted,
        config: RunnableConfig,
        *,
        is_async: bool,
    ) -> Node:
        """One question about several calls. Its answer is kept: a preview may look different after the first ran."""
        # Later would be too late: a person had decided then on what cannot be done.
        check_wraps_tools(self.wraps, is_async=is_async)
        # A wrapper may answer in the place of a tool that cannot be called.
        may_stand_in = any(one.calls_unknown_tools for one in self.wraps)
        check = _any_tool if is_async or may_stand_in else check_sync
        requests = [self._request(call, wanted.state, config) for call in calls]

        def ask() -> Steps[dict[str, Decided]]:
            yield from ()
            decided = gate.ask_about_all(requests, check, over)
            return {str(call["id"]): one for call, one in zip(calls, decided, strict=True)}

        return _aside("review", calls, ask, over)

    def _second_look(
        self,
        gate: Gate,
        calls: Sequence[ToolCall],
        decisions: Mapping[str, Decided],
        over: Sequence[str],
        wanted: Wanted,
        rules: dict[str, Any],
        config: RunnableConfig,
    ) -> Node:
        """Whether calls pass by their rules still. It is kept: a tool that asks by itself starts over without it."""
        requests = [self._request(call, wanted.state, config) for call in calls]
        before = [decisions[str(call["id"])] for call in calls]

        def look() -> Steps[dict[str, Decided]]:
            known = yield from known_rules(rules, config)
            again = [gate.looked_again(one, it, known) for one, it in zip(before, requests, strict=True)]
            return {str(call["id"]): one for call, one in zip(calls, again, strict=True)}

        return _aside("look", calls, look, over)

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


def _aside(what: str, calls: Sequence[ToolCall], steps: Callable[[], Steps[Any]], over: Sequence[str] = ()) -> Node:
    name = f"{what}-{digest_of([*([call['id'], call['name'], call['args']] for call in calls), *over])}"
    return hidden(name, lambda _: drive(steps(), perform_store), lambda _: adrive(steps(), aperform_store))


def _with_rules(result: Any, rules: dict[str, Any]) -> Any:
    update = {"approval_rules": rules}
    return {**result, **update} if isinstance(result, dict) else [*result, update]
