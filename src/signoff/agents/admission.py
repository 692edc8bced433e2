"""Admission: one call on its way through the gate, and what the transcript says about it."""

import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage

from signoff.agents.gate import Check, Decided, Gate, action_of, key_of
from signoff.prebuilt.one_call import ToolCallRequest
from signoff.prebuilt.tool_calls import was_called_off
from signoff.prebuilt.tool_errors import error_message
from signoff.prebuilt.tool_results import messages_in
from signoff.steps import Steps

DECISION = "decision"
"""Where a tool message keeps the record of the decision on its call."""


@dataclass(frozen=True, slots=True)
class Run:
    """Let the body of the tool start."""

    request: ToolCallRequest
    time: int | None = None
    """How often it has run by a decision; None if it needs none."""


@dataclass(slots=True)
class Admission:
    """The decision on one call, and how often its body has run."""

    gate: Gate
    decided: Decided | None
    rules: dict[str, Any]
    check: Check
    """What refuses a tool that the run cannot call, before anybody is asked about it."""
    ran: int = 0
    answers: dict[str, Decided] = field(default_factory=dict)
    """What was asked on the way: a wrapper that tries again after a failure does not ask again."""
    edited: tuple[ToolCallRequest, ToolCallRequest] | None = None
    """The call as the model wanted it, and what wrappers are given: what a person has put in its place."""
    is_entered: bool = False
    """Whether a wrapper has let a call pass."""

    @property
    def is_settled(self) -> bool:
        """Whether a person has said already what the call comes to: no wrapper may make it then, or stand in for it."""
        return self.decided is not None and self.decided["kind"] in ("reject", "respond")

    def given(self, request: ToolCallRequest) -> ToolCallRequest:
        """A call as wrappers are given it: as a person has put it. One may make it by itself, or stand in for it."""
        decided = self.decided
        if decided is None or decided["kind"] != "edit" or decided["digest"] != self.gate.digest(request):
            return request
        put = self._put(request, decided)
        self.edited = request, put
        return put

    def taken(self, request: ToolCallRequest) -> ToolCallRequest:
        """A call as a wrapper lets it pass: what was put in the place of another stands for that one again."""
        self.is_entered = True
        if self.edited is None:
            return request
        proposed, put = self.edited
        is_put = request.tool is put.tool and action_of(request.tool_call) == action_of(put.tool_call)
        return request.override(tool_call=proposed.tool_call, tool=proposed.tool) if is_put else request

    def told(self, result: Any) -> Any:
        """What came of a call around which wrappers stand; if they have let none pass, with what a person has put."""
        if self.is_entered or self.decided is None or self.edited is None:
            return result
        return self._told_of_change(result, self.decided, *self.edited)

    def enter(self, request: ToolCallRequest, changes: int = 0) -> Steps[Any]:
        """Run the call, or answer in its place; where there is no live decision for exactly this call, ask.

        changes: how often a person has turned it into a call of another tool.
        """
        request = self.gate.straightened(request)
        if request.tool_call["name"] not in self.gate.policies:
            return _undecided((yield Run(request)))
        decided = self._decision(request, changes)
        match decided["kind"]:
            case "misfit":
                return error_message(request.tool_call, f"It was not run: {decided['message']}.")
            case "reject":
                return _noted(_rejection(request.tool_call, decided), decided["record"])
            case "respond":
                call = request.tool_call
                said = ToolMessage(decided["message"], name=call["name"], tool_call_id=call["id"])
                return _noted(said, decided["record"])
            case "edit":
                return (yield from self._changed(request, decided, changes))
        return _noted((yield from self._run(request)), decided["record"])

    def _decision(self, request: ToolCallRequest, changes: int) -> Decided:
        known, gate, time = self.decided, self.gate, (self.ran, changes)
        is_live = known is not None and time == (0, 0) and known["digest"] == gate.digest(request)
        if is_live and known is not None and known["kind"] != "ask":
            return known
        proposal = gate.proposal(request)
        key = key_of(proposal, time)
        if not is_live and not gate.was_asked(key):
            screened = gate.screened(request, self.rules)
            if screened["kind"] != "ask":
                return screened
        if key not in self.answers:
            self.answers[key] = gate.ask_about_one(request, proposal, key, self.check)
        return self.answers[key]

    def _run(self, request: ToolCallRequest) -> Steps[Any]:
        """Run the body. A decision is for one run: a wrapper that runs the call again asks again, unless it failed, or
        was called off.

        It counts from its start: a wrapper may run the call twice at the same time.
        """
        time, self.ran = self.ran, self.ran + 1
        try:
            return _undecided((yield Run(request, time)))
        except BaseException as error:
            if isinstance(error, Exception) or was_called_off(error):
                self.ran -= 1
            raise

    def _changed(self, request: ToolCallRequest, decided: Decided, changes: int) -> Steps[Any]:
        """Run what a person put in the place of a call; another tool passes the gate for itself."""
        changed = self._put(request, decided)
        is_other = changed.tool_call["name"] != request.tool_call["name"]
        result = yield from (self.enter(changed, changes + 1) if is_other else self._run(changed))
        if is_other and not _has_run(result):
            return _noted(result, {**decided["record"], "proposed": action_of(request.tool_call)})
        return self._told_of_change(result, decided, request, changed)

    def _put(self, request: ToolCallRequest, decided: Decided) -> ToolCallRequest:
        """What a person put in the place of a call."""
        proposed, action = request.tool_call, decided["action"]
        call: ToolCall = {**proposed, "name": action["name"], "args": action["args"]}
        is_other = call["name"] != proposed["name"]
        return request.override(tool_call=call, tool=self.gate.tools.get(call["name"]) if is_other else request.tool)

    def _told_of_change(self, result: Any, decided: Decided, proposed: ToolCallRequest, put: ToolCallRequest) -> Any:
        """A result that says what a person has put in the place of a call."""
        ran, notice = action_of(put.tool_call), self.gate.watch.edit_notice
        record = {**decided["record"], "proposed": action_of(proposed.tool_call), "ran": ran}
        if notice is not None:
            notice = f"{notice} {ran['name']} with {json.dumps(ran['args'], ensure_ascii=False, default=repr)}."
        return _noted(result, record, notice)


def _has_run(result: Any) -> bool:
    """Whether the call of another tool was made."""
    later = (message.additional_kwargs.get(DECISION) or {} for message in messages_in(result))
    return not any(one.get("type") in ("reject", "respond") for one in later)


def _rejection(call: ToolCall, decided: Decided) -> ToolMessage:
    reason = decided.get("message")
    text = f"A person rejected this call of {call['name']}; it was not made."
    text += f" The reason: {reason}" if reason else " Do not make it again unless you are asked to."
    return error_message(call, text)


# What the transcript says


def _noted(result: Any, record: dict[str, Any], notice: str | None = None) -> Any:
    """A result with the record of its decision in its tool message, and a notice before its text."""
    for message in messages_in(result):
        earlier = message.additional_kwargs.get(DECISION)
        known = {**record, "then": earlier} if earlier else record
        message.additional_kwargs = {**message.additional_kwargs, DECISION: known}
        if notice is not None:
            message.content = _behind(notice, message.content)
    return result


def _undecided(result: Any) -> Any:
    """The result of a body, without what it says of decisions: only the gate says what people have decided."""
    for message in messages_in(result):
        if DECISION in message.additional_kwargs:
            others = {key: value for key, value in message.additional_kwargs.items() if key != DECISION}
            message.additional_kwargs = others
    return result


def _behind(notice: str, content: Any) -> Any:
    if isinstance(content, str):
        return f"{notice}\n\n{content}"
    return [{"type": "text", "text": notice}, *content]
