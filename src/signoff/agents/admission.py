"""Admission: one call on its way through the gate, and what the transcript says about it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage

from signoff.agents.gate import Check, Decided, Gate, action_of, key_of
from signoff.prebuilt.one_call import ToolCallRequest, with_own_args
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


@dataclass(frozen=True, slots=True)
class Note:
    """What the transcript says of a call that people have decided on."""

    record: dict[str, Any] | None = None
    notice: str | None = None
    """What stands before the result, if it is of another call than the model wanted."""


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
    unmade: Note = Note()
    """What is said of the call if wrappers let none pass."""
    notes: list[Note] = field(default_factory=list)
    """What is said of the calls that wrappers have let pass, in order."""

    @property
    def is_settled(self) -> bool:
        """Whether a person has said already what the call comes to: no wrapper may make it then, or stand in for it."""
        return self.decided is not None and self.decided["kind"] in ("reject", "respond")

    def is_open(self, request: ToolCallRequest) -> bool:
        """Whether somebody is to be asked about a call before wrappers are given it: of its tool they alone know, and
        may run it by themselves."""
        is_asked = self.decided is not None and self.decided["kind"] == "ask"
        return is_asked and request.tool is None

    def ask(self, request: ToolCallRequest) -> None:
        """Ask about a call before wrappers are given it."""
        self.decided = self._decision(request, 0)

    def given(self, request: ToolCallRequest) -> ToolCallRequest:
        """A call as wrappers are given it: as a person has put it. One may make it by itself, or stand in for it."""
        decided = self.decided
        if decided is None or "record" not in decided or decided["digest"] != self.gate.digest(request):
            return request
        if decided["kind"] != "edit":
            self.unmade = Note(decided["record"])
            return request
        put = self._put(request, decided)
        self.edited = request, put
        self.unmade = self._note([_proposed(request, decided)], put)
        return _with_own_args(put)

    def taken(self, request: ToolCallRequest) -> ToolCallRequest:
        """A call as a wrapper lets it pass: what was put in the place of another stands for that one again."""
        if self.edited is None:
            return request
        proposed, put = self.edited
        is_put = put.tool in (None, request.tool) and action_of(request.tool_call) == action_of(put.tool_call)
        tool = proposed.tool or request.tool
        return request.override(tool_call=proposed.tool_call, tool=tool) if is_put else request

    def told(self, result: Any) -> Any:
        """What came of a call, be it in the words of a wrapper, with what people have decided about it."""
        otherwise = self.notes[-1] if self.notes else self.unmade
        for message in messages_in(result):
            known = message.additional_kwargs.get(DECISION)
            note = next((one for one in self.notes if one.record == known), otherwise)
            _mark(message, note.record)
            if note.notice is not None:
                message.content = _behind(note.notice, message.content)
        return result

    def enter(self, request: ToolCallRequest, before: Sequence[dict[str, Any]] = ()) -> Steps[Any]:
        """Run the call, or answer in its place; where there is no live decision for exactly this call, ask.

        before: the decisions by which people have turned it into a call of another tool, one after the other.
        """
        # A wrapper that has the request may change it before the body starts.
        request = self.gate.straightened(_with_own_args(request))
        if request.tool_call["name"] not in self.gate.policies:
            return (yield from self._run(request, before, is_counted=False))
        decided = self._decision(request, len(before))
        match decided["kind"]:
            case "misfit":
                return self._answered(_misfit(request.tool_call, decided["message"]), before)
            case "reject":
                return self._answered(_rejection(request.tool_call, decided), [*before, decided["record"]])
            case "respond":
                call = request.tool_call
                said = ToolMessage(decided["message"], name=call["name"], tool_call_id=call["id"])
                return self._answered(said, [*before, decided["record"]])
            case "edit":
                put, way = self._put(request, decided), [*before, _proposed(request, decided)]
                is_other = put.tool_call["name"] != request.tool_call["name"]
                return (yield from (self.enter(put, way) if is_other else self._run(put, way)))
        return (yield from self._run(request, [*before, decided["record"]]))

    def _decision(self, request: ToolCallRequest, changes: int) -> Decided:
        known, gate, time = self.decided, self.gate, (self.ran, changes)
        is_live = known is not None and time == (0, 0) and gate.is_about(known, request)
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

    def _run(
        self, request: ToolCallRequest, decisions: Sequence[dict[str, Any]], *, is_counted: bool = True
    ) -> Steps[Any]:
        """Run the body. A decision is for one run: a wrapper that runs the call again asks again, unless it failed, or
        was called off.

        It counts from its start: a wrapper may run the call twice at the same time. So does what is said of it: a
        wrapper may tell of the failure.
        """
        if (wrong := self.gate.misfit_of_brought(request)) is not None:
            return self._answered(_misfit(request.tool_call, wrong), decisions)
        time, self.ran = self.ran, self.ran + is_counted
        note = self._note(decisions, request)
        self.notes.append(note)
        try:
            return _marked((yield Run(request, time if is_counted else None)), note.record)
        except BaseException as error:
            if isinstance(error, Exception) or was_called_off(error):
                self.ran -= is_counted
            raise

    def _answered(self, message: ToolMessage, decisions: Sequence[dict[str, Any]]) -> ToolMessage:
        """What is said in the place of a call that is not made."""
        note = Note(_chained(decisions))
        self.notes.append(note)
        _mark(message, note.record)
        return message

    def _put(self, request: ToolCallRequest, decided: Decided) -> ToolCallRequest:
        """What a person put in the place of a call."""
        proposed, action = request.tool_call, decided["action"]
        call: ToolCall = {**proposed, "name": action["name"], "args": action["args"]}
        is_other = call["name"] != proposed["name"]
        return request.override(tool_call=call, tool=self.gate.tools.get(call["name"]) if is_other else request.tool)

    def _note(self, decisions: Sequence[dict[str, Any]], made: ToolCallRequest) -> Note:
        """What is said of a call that is made as these decisions want it."""
        ran, notice = action_of(made.tool_call), self.gate.watch.edit_notice
        if notice is None or not any("proposed" in one for one in decisions):
            return Note(_chained(decisions, ran))
        args = json.dumps(ran["args"], ensure_ascii=False, default=repr)
        return Note(_chained(decisions, ran), f"{notice} {ran['name']} with {args}.")


def _with_own_args(request: ToolCallRequest) -> ToolCallRequest:
    return request.override(tool_call=with_own_args(request.tool_call))


def _misfit(call: ToolCall, wrong: str) -> ToolMessage:
    return error_message(call, f"It was not run: {wrong}.")


def _rejection(call: ToolCall, decided: Decided) -> ToolMessage:
    reason = decided.get("message")
    text = f"A person rejected this call of {call['name']}; it was not made."
    text += f" The reason: {reason}" if reason else " Do not make it again unless you are asked to."
    return error_message(call, text)


# What the transcript says


def _proposed(request: ToolCallRequest, decided: Decided) -> dict[str, Any]:
    """The record of a decision that has put another call in the place of one."""
    return {**decided["record"], "proposed": action_of(request.tool_call)}


def _chained(decisions: Sequence[dict[str, Any]], ran: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The records of decisions that led from call to call, each with what was decided then; and what ran in the end."""
    told: dict[str, Any] | None = None
    for record in reversed(decisions):
        what = {"ran": ran} if ran is not None and "proposed" in record else {}
        told = {**record, **what, **({"then": told} if told is not None else {})}
    return told


def _marked(result: Any, record: dict[str, Any] | None) -> Any:
    for message in messages_in(result):
        _mark(message, record)
    return result


def undecided(result: Any) -> Any:
    """A result without what it says of decisions: only the gate says what people have decided."""
    return _marked(result, None)


def _mark(message: ToolMessage, record: dict[str, Any] | None) -> None:
    """Have a message say what people have decided, and nothing else of decisions."""
    if record is None and DECISION not in message.additional_kwargs:
        return
    others = {key: value for key, value in message.additional_kwargs.items() if key != DECISION}
    message.additional_kwargs = others if record is None else {**others, DECISION: record}


def _behind(notice: str, content: Any) -> Any:
    if isinstance(content, str):
        return f"{notice}\n\n{content}"
    return [{"type": "text", "text": notice}, *content]
