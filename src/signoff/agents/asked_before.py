"""What a tool step has asked before, when it runs again: a decision is for the call that a person was shown.

The agent may be another one by then: a deploy has taken a tool out of `interrupt_on`, or has brought a rule.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import ToolCall

from signoff._words.questions import Interrupt
from signoff.agents.gate import Decided, Gate, call_asked_about
from signoff.constants import RETURN
from signoff.drivers.scopes.asking import asker_id
from signoff.engine import ids
from signoff.engine.calls.earlier_calls import finished_calls
from signoff.errors import ReplayMismatch
from signoff.prebuilt.asked_before import own_questions
from signoff.prebuilt.made_before import MadeBefore
from signoff.prebuilt.one_call import ToolCallRequest
from signoff.prebuilt.tool_calls import digest_of

__all__ = ["DecidedBefore", "Shown", "calls_shown", "check_watched", "decided_before", "decisions_kept", "was_shown"]


class Shown(NamedTuple):
    """A call that a person was asked about."""

    question_id: str
    name: str
    args: Any
    call_id: str | None
    """Known where each call is a question of its own."""


def calls_shown(scope: Any, calls: Sequence[ToolCall]) -> list[Shown]:
    """The calls that the running tool step has asked about: in questions that are open, or just answered, or before.

    calls: those that it is about to make.
    """
    if scope is None or scope.host.run.known is None:
        return []
    asked = [shown for question in own_questions(scope) for shown in _calls(question)]
    by_id = {str(call["id"]): call for call in calls}
    return [*asked, *(Shown(id, call["name"], call["args"], call["id"]) for id, call in _decided(scope, by_id))]


def was_shown(call: ToolCall, shown: Collection[Shown]) -> bool:
    """Whether a person was asked about a call."""
    # Not whether they are equal: what is not a number is not equal to itself.
    looks = digest_of([call["name"], call["args"]])
    return any(one.call_id == call["id"] if one.call_id else digest_of([one.name, one.args]) == looks for one in shown)


def check_watched(shown: Collection[Shown], watched: Collection[str], scope: Any) -> None:
    """Refuse to run with a decision on a tool that nobody watches over any more: it would run, whatever was decided."""
    gone = [one for one in shown if one.name not in watched]
    if gone:
        names = ", ".join(sorted({repr(one.name) for one in gone}))
        scope.refusal = ReplayMismatch(
            f"A person was asked about a call of {names}, and the agent does not watch over that tool any more, so the "
            f"decision would reach nobody. No such call was made, and question {gone[0].question_id!r} is kept. Put "
            "the tool back into interrupt_on; or drop the question: call the agent with new input and "
            'on_pending="discard".'
        )
        raise scope.refusal


def decisions_kept(scope: Any) -> dict[str, list[Any]]:
    """What was decided in questions about several calls, by call: of a changed one, there may be several decisions."""
    found: dict[str, list[Any]] = {}
    for name, writes in finished_calls(scope.host.run, scope.task) if scope is not None else ():
        if name.startswith("review-"):
            for call_id, decided in (dict(writes).get(RETURN) or {}).items():
                found.setdefault(call_id, []).append(decided)
    return found


@dataclass(frozen=True, slots=True)
class DecidedBefore:
    """What a person has decided about calls before their tool step started over."""

    decided: dict[str, Decided]
    """By call id."""
    over: list[str]
    """The questions whose answers do not count any more."""


def decided_before(gate: Gate, requests: Sequence[ToolCallRequest], made: MadeBefore, scope: Any) -> DecidedBefore:
    """What a person has decided about exactly these calls, though perhaps together with others than now.

    It does not count for a call that would do something else by now than its preview has shown, and is still to be
    made; nor if that was asked about since.
    """
    kept, found, over = decisions_kept(scope), dict[str, Decided](), list[str]()
    for request in requests if kept else ():
        call = request.tool_call
        own = [one for one in kept.get(str(call["id"]), ()) if one["digest"] == gate.digest(request)]
        is_left = bool(own and made.left_of([call])) and not made.was_let_pass(call)
        last = max(own, key=lambda one: one["record"].get("at") or "", default=None)
        if last is None:
            continue
        if is_left and (_asked_since(call, own, scope) or not gate.still_holds(last, request)):
            over += [one["record"]["question"] for one in own]
        else:
            found[str(call["id"])] = last
    return DecidedBefore(found, over)


def _asked_since(call: ToolCall, kept: Sequence[Decided], scope: Any) -> bool:
    """Whether a question about calls that is open, or just answered, is about a call that was decided on before."""
    known = {one["record"]["question"] for one in kept}
    since = [one for one in own_questions(scope) if one.id not in known and (one.key or "").startswith("review-")]
    return was_shown(call, [shown for question in since for shown in _calls(question)])


def _calls(question: Interrupt[Any]) -> Iterator[Shown]:
    value = question.value
    if question.key is None or not isinstance(value, Mapping):
        return  # a tool has asked this by itself
    if value.get("type") == "tool_approval" and "review_config" in value:
        yield Shown(question.id, value["name"], value["args"], value["tool_call_id"])
    elif "action_requests" in value and "review_configs" in value:
        yield from (Shown(question.id, one["name"], one["args"], None) for one in value["action_requests"])


def _decided(scope: Any, calls: Mapping[str, ToolCall]) -> Iterator[tuple[str, ToolCall]]:
    """The calls that were decided on before the step came to what it asks now: a tool may ask by itself, too.

    With the ids of the questions: the decision on several calls is kept, that on one is an answer to this task.
    """
    for call_id, kept in decisions_kept(scope).items():
        if call_id in calls:
            yield from ((one["record"]["question"], calls[call_id]) for one in kept)
    asker = asker_id(scope)
    for id, answer in scope.host.run.known.answers.items():
        key = answer.get("key") or ""
        call = calls.get(call_asked_about(key) or "")
        if call is not None and id == ids.question_id(asker, f"key\0{key}"):
            yield id, call
