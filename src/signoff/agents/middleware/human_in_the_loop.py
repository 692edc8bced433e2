"""A person decides on calls of tools before they run: the shapes of the question and the answer, and the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from signoff.agents.decisions import KINDS
from signoff.agents.middleware.base import AgentMiddleware, StateT
from signoff.agents.middleware.state import AgentState, PrivateStateAttr, ResponseT
from signoff.agents.rules import Rule, as_rules, check_predicate, merge_rules
from signoff.errors import InvalidInput
from signoff.prebuilt.one_call import ToolCallRequest
from signoff.runtime import Runtime
from signoff.typing import ContextT

__all__ = [
    "Action",
    "ActionRequest",
    "ApproveDecision",
    "Decision",
    "DecisionType",
    "EditDecision",
    "FromHereOn",
    "HITLRequest",
    "HITLResponse",
    "HumanInTheLoopMiddleware",
    "InterruptMode",
    "InterruptOnConfig",
    "RejectDecision",
    "RespondDecision",
    "ReviewConfig",
    "ToolApprovalRequest",
]

DecisionType = Literal["approve", "edit", "reject", "respond"]
InterruptMode = Literal["batched", "per_call"]


class Action(TypedDict):
    """A call of a tool: its name and arguments."""

    name: str
    args: dict[str, Any]


class ActionRequest(TypedDict):
    """A call that waits for a decision."""

    name: str
    args: dict[str, Any]
    description: NotRequired[str]
    preview: NotRequired[str]
    """What the call would do, such as a unified diff."""


class ReviewConfig(TypedDict):
    """What may be decided about a call."""

    action_name: str
    allowed_decisions: list[DecisionType]
    args_schema: NotRequired[dict[str, Any]]
    """What edited arguments must look like."""


class HITLRequest(TypedDict):
    """The question in the mode "batched": one for all calls of a turn that wait."""

    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]
    path: NotRequired[list[str]]
    """The names of the subagents from the root to the one that asks."""


class ToolApprovalRequest(TypedDict):
    """The question in the mode "per_call": one for each call."""

    type: Literal["tool_approval"]
    tool_call_id: str
    name: str
    args: dict[str, Any]
    description: str
    preview: NotRequired[str]
    review_config: NotRequired[ReviewConfig]
    path: NotRequired[list[str]]


class FromHereOn(TypedDict, total=False):
    """Which calls need no question any more: of this tool (or a pattern), with such arguments, until this time."""

    tool: str
    args: dict[str, Any]
    until: str


class ApproveDecision(TypedDict):
    """The call may run as it is; `from_here_on` lets later ones of this thread run, too, without a question."""

    type: Literal["approve"]
    from_here_on: NotRequired[Literal[True] | FromHereOn]


class EditDecision(TypedDict):
    """Another call runs in its place. If it is of another tool, that tool's decision is asked for."""

    type: Literal["edit"]
    edited_action: Action


class RejectDecision(TypedDict):
    """The call does not run, and the model is told why."""

    type: Literal["reject"]
    message: NotRequired[str]


class RespondDecision(TypedDict):
    """The call does not run; the message is its result."""

    type: Literal["respond"]
    message: str


Decision = ApproveDecision | EditDecision | RejectDecision | RespondDecision


class HITLResponse(TypedDict):
    """The answer in the mode "batched": a decision for each call, in order. In "per_call" it is a bare decision."""

    decisions: list[Decision]


class InterruptOnConfig(TypedDict, total=False):
    """What is asked about the calls of one tool."""

    allowed_decisions: list[DecisionType]
    description: str | Callable[..., str]
    """The text, or a function (tool_call, state, runtime) that makes it."""
    args_schema: dict[str, Any]
    """What edited arguments must look like; by default the schema of the tool."""
    when: Callable[[ToolCallRequest], bool]
    """Whether to ask about this call at all."""
    preview: Callable[[ToolCallRequest], str | None]
    """What the call would do. If it says something else by the time of the answer, the person is asked again."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is asked about the calls of one tool, checked."""

    allowed: tuple[str, ...] = KINDS
    description: Any = None
    args_schema: dict[str, Any] | None = None
    when: Callable[[ToolCallRequest], bool] | None = None
    preview: Callable[[ToolCallRequest], str | None] | None = None


class WatchedState(AgentState):
    """The state of an agent that a person watches over."""

    approval_rules: NotRequired[Annotated[dict[str, Any], merge_rules, PrivateStateAttr]]
    """The rules that people made with `from_here_on`, by id."""


PREFIX = "May this tool run?"
NOTICE = (
    "A person changed this call before it ran. What you asked for was not done; do not ask for it again. This was done "
    "in its place:"
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class HumanInTheLoopMiddleware(AgentMiddleware[StateT, ContextT, ResponseT]):
    """Calls of the named tools wait for a person: approve, edit, reject or respond.

    interrupt_on: for each tool True (every decision is allowed), False (nobody is asked), or an InterruptOnConfig.
    interrupt_mode: "batched" asks once for all calls of a turn, "per_call" once for each.
    description_prefix: the beginning of the description of calls that have none of their own.
    edit_notice: what the model is told before the result of a call that a person changed; None tells it nothing.
    rules: calls that need no question: rules, or names of tools and patterns of names.
    """

    state_schema = WatchedState

    def __init__(
        self,
        interrupt_on: Mapping[str, bool | InterruptOnConfig],
        *,
        interrupt_mode: InterruptMode = "batched",
        description_prefix: str = PREFIX,
        edit_notice: str | None = NOTICE,
        rules: Sequence[Rule | str] = (),
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        if interrupt_mode not in ("batched", "per_call"):
            raise InvalidInput(f'interrupt_mode must be "batched" or "per_call", not {interrupt_mode!r}.')
        if not isinstance(interrupt_on, Mapping):
            raise InvalidInput(f"interrupt_on is {interrupt_on!r}. Give a dict of tools, such as {{'pay': True}}.")
        self.interrupt_on = interrupt_on
        self.policies = {name: policy for name, given in interrupt_on.items() if (policy := _policy(name, given))}
        self.watched_tools = self.policies.keys()
        self.interrupt_mode = interrupt_mode
        self.description_prefix = description_prefix
        self.edit_notice = edit_notice
        self.rules = as_rules(rules)
        self.clock = clock
        self.is_on_guard = False
        """Whether an agent has it: then it asks where that calls its tools, and not in a hook."""

    def after_model(self, state: StateT, runtime: Runtime[ContextT]) -> None:
        """Nothing, in an agent; elsewhere nobody would be asked, which is refused."""
        if not self.is_on_guard:
            raise InvalidInput(
                f"{self.name} asks nobody here: it asks where an agent calls its tools. Give it to create_agent(..., "
                "middleware=[...]). In a graph of your own, ask with interrupt() before the tools run."
            )

    async def aafter_model(self, state: StateT, runtime: Runtime[ContextT]) -> None:
        """The same in an async run."""
        self.after_model(state, runtime)

    def _uses(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(HumanInTheLoopMiddleware, method)


def _policy(name: str, given: bool | InterruptOnConfig) -> Policy | None:
    if isinstance(given, bool):
        return Policy() if given else None
    allowed = given.get("allowed_decisions", KINDS) if isinstance(given, Mapping) else ()
    if not allowed or set(allowed) - set(KINDS) or set(given) - set(InterruptOnConfig.__annotations__):
        raise InvalidInput(
            f"interrupt_on[{name!r}] is {given!r}. Give it True, False, or a dict with allowed_decisions (some of "
            f"{', '.join(KINDS)}) and perhaps description, args_schema, when and preview."
        )
    rest: Any = {key: value for key, value in given.items() if key != "allowed_decisions"}
    for key in ("when", "preview", *(["description"] if not isinstance(rest.get("description"), str) else [])):
        check_predicate(rest.get(key), f"{key!r} of interrupt_on[{name!r}]")
    if not isinstance(rest.get("args_schema", {}), dict):
        raise InvalidInput(f"'args_schema' of interrupt_on[{name!r}] is a JSON Schema, not {rest['args_schema']!r}.")
    return Policy(tuple(allowed), **rest)
