"""What is decided about the calls of a turn before any of them is made: by rules, and by a person for all in one."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig

from signoff.agents.asked_before import DecidedBefore, Shown, decided_before, was_shown
from signoff.agents.gate import Check, Decided, Gate
from signoff.agents.rule_homes import aperform, known_rules, perform
from signoff.engine.program import Node
from signoff.prebuilt.made_before import MadeBefore
from signoff.prebuilt.one_call import ToolCallRequest
from signoff.prebuilt.tool_calls import digest_of, hidden
from signoff.steps import Steps, adrive, drive

__all__ = ["Aside", "Deciding"]

Decisions = dict[str, Decided]
"""By the id of the call."""
Requests = Sequence[ToolCallRequest]


@dataclass(frozen=True, slots=True)
class Aside:
    """Do something as a task of its own, so that its result is kept, whatever happens later."""

    node: Node


@dataclass(frozen=True, slots=True)
class Deciding:
    """Decides what is to be decided at once."""

    gate: Gate
    rules: dict[str, Any]
    config: RunnableConfig
    check: Callable[[], Check]
    """Refuses what cannot be asked about; gives what refuses a tool."""
    made: MadeBefore
    shown: Collection[Shown]
    """What a person was asked about when the task ran before."""

    def decided(self, requests: Requests, scope: Any) -> Steps[Decisions]:
        """What is decided about calls that are watched over."""
        decisions = yield from self._screened(requests)
        asked = _of_kind("ask", requests, decisions)
        if not asked or not self.gate.is_batched:
            return decisions
        known = decided_before(self.gate, asked, self.made, scope)
        decisions |= known.decided
        decisions |= yield from self._reviewed(asked, known)
        passing = _of_kind("rule", requests, decisions)
        if passing:
            decisions |= yield Aside(self._second_look(passing, decisions, known.over))
        decisions |= yield from self._reviewed(_of_kind("ask", passing, decisions), known)
        return decisions

    def _screened(self, requests: Requests) -> Steps[Decisions]:
        """Which calls are to be asked about. It is looked at once: a rule may end, and a predicate change its mind,
        while a question is open. What was asked is asked, though the agent may have come to a rule since."""

        def screen() -> Steps[Decisions]:
            known = yield from known_rules(self.rules, self.config)
            return {_id(one): self.gate.screened(one, known) for one in requests}

        found: Decisions = {}
        if self.gate.needs_screening([one.tool_call for one in requests], self.rules):
            found = yield Aside(_aside("screen", requests, screen))
        asked = [one for one in requests if not found or was_shown(one.tool_call, self.shown)]
        return {**found, **{_id(one): self.gate.unscreened(one) for one in asked}}

    def _reviewed(self, requests: Requests, known: DecidedBefore) -> Steps[Decisions]:
        """What a person says in one question about several calls, but for those that were made or decided before."""
        to_make = {call["id"] for call in self.made.left_of([one.tool_call for one in requests])}
        left = [one for one in requests if one.tool_call["id"] in to_make and _id(one) not in known.decided]
        if not left:
            return {}
        check = self.check()

        def ask() -> Steps[Decisions]:
            yield from ()
            decided = self.gate.ask_about_all(left, check, known.over)
            return {_id(request): one for request, one in zip(left, decided, strict=True)}

        # Its answer is kept: a preview may look different after the first call ran.
        decisions: Decisions = yield Aside(_aside("review", left, ask, known.over))
        return decisions

    def _second_look(self, requests: Requests, decisions: Decisions, over: Sequence[str]) -> Node:
        """Whether calls pass by their rules still. It is kept: a tool that asks by itself starts over without it."""

        def look() -> Steps[Decisions]:
            known = yield from known_rules(self.rules, self.config)
            return {_id(one): self.gate.looked_again(decisions[_id(one)], one, known) for one in requests}

        return _aside("look", requests, look, over)


def _id(request: ToolCallRequest) -> str:
    return str(request.tool_call["id"])


def _of_kind(kind: str, requests: Requests, decisions: Decisions) -> list[ToolCallRequest]:
    return [one for one in requests if decisions[_id(one)]["kind"] == kind]


def _aside(what: str, requests: Requests, steps: Callable[[], Steps[Any]], over: Sequence[str] = ()) -> Node:
    calls = [one.tool_call for one in requests]
    name = f"{what}-{digest_of([*([call['id'], call['name'], call['args']] for call in calls), *over])}"
    return hidden(name, lambda _: drive(steps(), perform), lambda _: adrive(steps(), aperform))
