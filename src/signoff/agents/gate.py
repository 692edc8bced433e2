"""The gate before the tools: a body starts only with a live decision for exactly this call.

A decision belongs to the task that asked for it, and to a digest of the tool's name, the arguments and the version of
the tool. Whatever changed one of these on the way (middleware, an edit, another history, a deploy) finds no decision
and is asked about anew.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool

from signoff import _scope
from signoff._words.questions import interrupt
from signoff.agents.decisions import Proposal, args_schema_of, check_schema, form_for_all, form_for_one, misfit
from signoff.agents.inlining import inlined
from signoff.agents.rules import StoredRule, as_moment, holds
from signoff.agents.versions import version_of
from signoff.constants import CONF
from signoff.drivers.scopes.asking import asker_id
from signoff.engine import ids
from signoff.forms import Form
from signoff.prebuilt.one_call import ToolCallRequest
from signoff.prebuilt.tool_calls import digest_of
from signoff.prebuilt.toolbox import call_schema

if TYPE_CHECKING:
    from signoff.agents.middleware.human_in_the_loop import HumanInTheLoopMiddleware, Policy

AGENTS = "signoff_agents"
"""Where a config keeps the names of the subagents on the way to the one that runs."""


Check = Callable[[Any], None]
"""What refuses a tool that a run cannot call."""


class Decided(TypedDict, total=False):
    """What was decided about a call, as it is stored."""

    kind: str
    """approve, edit, reject, respond; rule if none was needed; ask if it is still to be asked; misfit if the tool
    would refuse the call."""
    digest: str
    """The call that it was decided about."""
    action: dict[str, Any]
    message: str
    record: dict[str, Any]
    """What the history says of it."""
    preview: str
    """Stands for what the call would have done when it was asked about."""


class Gate:
    """Who is asked about which calls of an agent."""

    def __init__(self, watch: "HumanInTheLoopMiddleware", tools: Mapping[str, BaseTool]) -> None:
        watch.is_on_guard = True
        self.watch = watch
        self.tools = tools
        self.policies = watch.policies
        self.is_batched = watch.interrupt_mode == "batched"
        self._versions = {name: version_of(tool) for name, tool in tools.items()}
        for name, policy in self.policies.items():
            check_schema(policy.args_schema, f"'args_schema' of interrupt_on[{name!r}]")
            if name in tools:
                check_schema(call_schema(tools[name]), f"The args_schema of the tool {name!r}")

    @property
    def together(self) -> frozenset[str]:
        """The tools whose calls are asked about in one question."""
        return frozenset(self.policies) if self.is_batched else frozenset()

    def digest(self, request: ToolCallRequest) -> str:
        """Stands for a call and the version of its tool."""
        call, tool = request.tool_call, request.tool
        is_own = tool is self.tools.get(call["name"])
        version = self._versions.get(call["name"], "") if is_own else "" if tool is None else version_of(tool)
        return digest_of([call["name"], call["args"], version])

    def is_about(self, decided: Decided, request: ToolCallRequest) -> bool:
        """Whether a decision is about a call; if the agent does not have the tool, about any that a wrapper brings."""
        if decided["digest"] == self.digest(request):
            return True
        is_unknown = request.tool_call["name"] not in self.tools
        return is_unknown and decided["digest"] == self.digest(request.override(tool=None))

    def straightened(self, request: ToolCallRequest) -> ToolCallRequest:
        """A request whose name is that of the tool that would run, whichever of the two middleware has changed."""
        call, tool = request.tool_call, request.tool
        if tool is not None and tool.name == call["name"]:
            return request
        if call["name"] in self.tools:
            return request.override(tool=self.tools[call["name"]])
        return request if tool is None else request.override(tool_call={**call, "name": tool.name})

    # Screening

    def needs_screening(self, calls: Sequence[ToolCall], rules: Mapping[str, Any]) -> bool:
        """Whether some of these calls may pass without a question, so that somebody has to look."""
        policies = [self.policies[call["name"]] for call in calls]
        return bool(self.watch.rules or rules) or any(policy.when is not None for policy in policies)

    def unscreened(self, request: ToolCallRequest) -> Decided:
        """A call is to be asked about, unless its tool would refuse it: that is not worth anybody's time."""
        wrong = misfit(request.tool, request.tool_call["args"])
        if wrong is not None:
            return {"kind": "misfit", "digest": self.digest(request), "message": wrong}
        return {"kind": "ask", "digest": self.digest(request)}

    def misfit_of_brought(self, request: ToolCallRequest) -> str | None:
        """Why a tool that a wrapper has brought would refuse a call: nobody could tell when it was asked about."""
        is_own = request.tool is self.tools.get(request.tool_call["name"])
        return None if is_own else misfit(request.tool, request.tool_call["args"])

    def screened(self, request: ToolCallRequest, rules: Mapping[str, StoredRule]) -> Decided:
        """Whether a call is to be asked about, or by what it passes."""
        plain = self.unscreened(request)
        if plain["kind"] == "misfit":
            return plain
        record = self._pass(request, rules, self.watch.clock())
        return plain if record is None else {"kind": "rule", "digest": plain["digest"], "record": record}

    def looked_again(self, decided: Decided, request: ToolCallRequest, rules: Mapping[str, StoredRule]) -> Decided:
        """What is to be done about a call that passed by a rule, if that may have ended since, or been taken back."""
        rule = decided["record"]["rule"]
        is_there = "id" not in rule or rule["id"] in rules
        is_over = "until" in rule and self.watch.clock() >= as_moment(rule["until"])
        return decided if is_there and not is_over else self.screened(request, rules)

    def _pass(self, request: ToolCallRequest, rules: Mapping[str, StoredRule], now: datetime) -> dict[str, Any] | None:
        policy = self.policies[request.tool_call["name"]]
        if policy.when is not None and not policy.when(request):
            return {"type": "rule", "rule": {"name": f"when: {getattr(policy.when, '__name__', 'a function')}"}}
        for written in self.watch.rules:
            if written.covers(request, now):
                return written.record()
        stored = next((rule for rule in rules.values() if holds(rule, request, now)), None)
        return None if stored is None else {"type": "rule", "rule": stored}

    # Asking

    def proposal(self, request: ToolCallRequest) -> Proposal:
        """A call as a person is asked about it."""
        call = request.tool_call
        policy = self.policies[call["name"]]
        schema = inlined(policy.args_schema) if policy.args_schema else args_schema_of(request.tool)
        preview = self._preview(request)
        return Proposal(call, policy.allowed, self._described(policy, request), schema, self.digest(request), preview)

    def _preview(self, request: ToolCallRequest) -> str | None:
        preview = self.policies[request.tool_call["name"]].preview
        return None if preview is None else preview(request)

    def still_holds(self, decided: Decided, request: ToolCallRequest) -> bool:
        """Whether a call would do what it would have done when it was decided on. A no holds whatever it would do."""
        return decided["kind"] in ("reject", "respond") or decided.get("preview") == _digest_of(self._preview(request))

    def _described(self, policy: "Policy", request: ToolCallRequest) -> str:
        call, text = request.tool_call, policy.description
        if callable(text):
            text = text(call, request.state, request.runtime)
        return text or f"{self.watch.description_prefix}\n\nTool: {call['name']}\nArgs: {call['args']}"

    def ask_about_all(
        self, requests: Sequence[ToolCallRequest], check: Check, over: Sequence[str] = ()
    ) -> list[Decided]:
        """What a person decides about several calls, in one question; `check` refuses those that cannot be made.

        over: the questions about them whose answers do not count any more.
        """
        proposals = [self.proposal(request) for request in requests]
        key = f"review-{digest_of([*([p.call['id'], p.digest, p.preview] for p in proposals), *over])}"
        return self._ask_together(requests, proposals, key, check)

    def ask_about_one(self, request: ToolCallRequest, proposal: Proposal, key: str, check: Check) -> Decided:
        """What a person decides about a call; the key is that of the proposal."""
        if self.is_batched:
            return self._ask_together([request], [proposal], key, check)[0]
        value = {
            "type": "tool_approval",
            "tool_call_id": proposal.call["id"],
            **proposal.request,
            "review_config": proposal.review,
        }
        answer = self._ask([request], value, form_for_one(proposal, self._tools(request)), key, check)
        return _decided(proposal, answer, _facts(key))

    def _ask_together(
        self, requests: Sequence[ToolCallRequest], proposals: Sequence[Proposal], key: str, check: Check
    ) -> list[Decided]:
        value = {
            "action_requests": [proposal.request for proposal in proposals],
            "review_configs": [proposal.review for proposal in proposals],
        }
        answer = self._ask(requests, value, form_for_all(proposals, self._tools(*requests)), key, check)
        facts = _facts(key)
        return [_decided(p, said, facts) for p, said in zip(proposals, answer["decisions"], strict=True)]

    def _ask(
        self, requests: Sequence[ToolCallRequest], value: dict[str, Any], form: Form, key: str, check: Check
    ) -> Any:
        # Later would be too late: a person had decided then on what cannot be done. What was decided stands.
        if not self.was_asked(key):
            for request in requests:
                check(request.tool)
        return interrupt({**value, **_path(requests[0])}, response_schema=form, key=key)

    def _tools(self, *requests: ToolCallRequest) -> dict[str, BaseTool]:
        """The tools that calls may be changed to: those of the agent, and those that a wrapper has brought."""
        brought = {request.tool.name: request.tool for request in requests if request.tool is not None}
        return {**self.tools, **brought}

    def was_asked(self, key: str) -> bool:
        """Whether a person has answered this question: then the answer counts, whatever the rules say now."""
        return _facts(key).get("question") is not None


def key_of(proposal: Proposal, time: tuple[int, int]) -> str:
    """What the question about a call goes by. A second one about the same call needs another `time`.

    time: how often the call has run, and how often a person has turned it into another one.
    """
    return f"{proposal.call['id']}-{digest_of([proposal.digest, proposal.preview, time])}"


def call_asked_about(key: str) -> str | None:
    """The id of the call that a question is about; None if the key is one that a tool has given to its own question."""
    found = _KEY.fullmatch(key)
    return None if found is None else found[1]


_KEY = re.compile(r"(.*)-[0-9a-f]{16}", re.DOTALL)
"""What key_of() makes."""


def _decided(proposal: Proposal, said: Mapping[str, Any], facts: dict[str, Any]) -> Decided:
    call = proposal.call
    record: dict[str, Any] = {"type": said["type"], **facts, "call": proposal.digest}
    decided: Decided = {"kind": said["type"], "digest": proposal.digest, "record": record}
    if (preview := _digest_of(proposal.preview)) is not None:
        decided["preview"] = preview
    if said["type"] == "edit":
        decided["action"] = action_of(said["edited_action"])
    if "message" in said:
        decided["message"] = said["message"]
    if said.get("from_here_on") is not None:
        record["from_here_on"] = _rule(call, said["from_here_on"], facts, proposal.digest)
    return decided


def _rule(call: Mapping[str, Any], wanted: Any, facts: dict[str, Any], digest: str) -> dict[str, Any]:
    """The rule that a person makes by approving a call from here on."""
    scope = {} if wanted is True else dict(wanted)
    because = {"question": facts.get("question"), "tool_call_id": call["id"], **action_of(call)}
    id = digest_of([because, scope])
    return {"id": id, "tool": call["name"], **scope, "by": facts.get("by"), "at": facts.get("at"), "because": because}


def action_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call without its id."""
    return {"name": call["name"], "args": call["args"]}


def _facts(key: str) -> dict[str, Any]:
    """Which question of the running task has a key, and who answered it when; nothing if it is open."""
    scope = _scope.current("A decision")
    id = ids.question_id(asker_id(scope), f"key\0{key}")
    answer = scope.host.run.answers.get(id)
    return {} if answer is None else {"question": id, "by": answer.get("by"), "at": answer.get("at")}


def _path(request: ToolCallRequest) -> dict[str, Any]:
    names = (request.runtime.config.get(CONF) or {}).get(AGENTS)
    return {"path": list(names)} if names else {}


# Digests


def _digest_of(preview: str | None) -> str | None:
    return None if preview is None else digest_of(preview)
