"""create_deep_agent: an agent that plans, keeps files, and hands work to subagents."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never

from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool

from signoff.agents.backends.base import Backend
from signoff.agents.backends.state import FilesState, StateBackend
from signoff.agents.defaults import merged_policies
from signoff.agents.elsewhere import NAMES, PAGE, SKILLS
from signoff.agents.factory import create_agent
from signoff.agents.file_tools import file_tools
from signoff.agents.middleware.base import AgentMiddleware, wraps_tools
from signoff.agents.middleware.human_in_the_loop import (
    HumanInTheLoopMiddleware,
    InterruptMode,
    InterruptOnConfig,
)
from signoff.agents.middleware.prompting import with_more
from signoff.agents.middleware.summarization import SummarizationMiddleware
from signoff.agents.middleware.todo import TodoListMiddleware
from signoff.agents.parts import check_parts, check_subagents
from signoff.agents.rules import Rule
from signoff.agents.subagents import GENERAL, CompiledSubAgent, SubAgent, check_names, task_tool
from signoff.errors import InvalidInput
from signoff.prebuilt.models import as_model
from signoff.prebuilt.toolbox import joined, made_tools
from signoff.pregel.keywords import refuse_old

if TYPE_CHECKING:
    from signoff.cache.base import BaseCache
    from signoff.graph.compiled import CompiledStateGraph
    from signoff.store.base import BaseStore
    from signoff.types import Checkpointer

__all__ = ["create_deep_agent"]

PROMPT = (
    "You work for a user on tasks that may take many steps. Look before you change something. Your files are your "
    "memory: write down what you will need later. Some of your calls wait for a person, who may change or reject them; "
    "take that as it is, and do not try the same in another way."
)
GENERAL_PROMPT = "You do one piece of work for another agent. In the end, answer with all that it needs to know."
GENERAL_TEXT = "Has the same tools as you. For work of many steps whose details you need not see."
SUMMARISE_AT = ("tokens", 150_000)
KEEP = ("messages", 20)

_MEANT = {
    "instructions": "Write system_prompt= instead",
    "skills": SKILLS,
    "memory": SKILLS,
    "permissions": NAMES["FilesystemPermission"],
}
"""What to write for keywords that other deep agents have."""

Tools = Sequence[BaseTool | Callable[..., Any] | dict[str, Any]]
Policies = Mapping[str, bool | InterruptOnConfig]
Layer = AgentMiddleware[Any, Any]


def create_deep_agent(
    model: Any,
    tools: Tools | None = None,
    *,
    system_prompt: str | SystemMessage | None = None,
    subagents: Sequence[SubAgent | CompiledSubAgent] | None = None,
    interrupt_on: Policies | None = None,
    interrupt_mode: InterruptMode = "batched",
    rules: Sequence[Rule | str] = (),
    backend: Backend | None = None,
    middleware: Sequence[AgentMiddleware[Any, Any]] = (),
    summarize_at: Any = SUMMARISE_AT,
    response_format: Any = None,
    state_schema: Any = None,
    context_schema: Any = None,
    checkpointer: "Checkpointer" = None,
    store: "BaseStore | None" = None,
    debug: bool = False,
    name: str | None = None,
    cache: "BaseCache[Any] | None" = None,
    transformers: Sequence[Any] | None = None,
    **old: Never,
) -> "CompiledStateGraph":
    """An agent with a todo list, files, and subagents to which it hands work.

    subagents: declared ones, or compiled graphs; one for general purposes is always there.
    interrupt_on: changes what a person is asked about, tool by tool. By default that is what reaches out: commands,
        the web, and, in a real folder, writing. Subagents inherit it, and may change it again.
    tools: one with the name of a file tool takes its place; `task` is the tool that calls subagents.
    backend: where the files are; by default in the state of the thread.
    middleware: one with the name of that which every deep agent has takes its place.
    summarize_at: from which size on a history is summarised: ("tokens", 150_000), ("messages", 200), or None.
    """
    refuse_old("create_deep_agent()", old, meant=_MEANT, page=PAGE)
    check_parts(model, tools, middleware, interrupt_on, system_prompt, state_schema)
    check_subagents(subagents or (), backend)
    place, watched = backend or StateBackend(), dict(interrupt_on or {})
    own = made_tools(tools or ())
    kit = Kit(as_model(model), own, place, file_tools(place), watched, interrupt_mode, rules, summarize_at)
    known = _named(kit.tools, middleware)
    if "task" in known:
        raise InvalidInput("A deep agent calls its subagents with the tool 'task'. Give your tool another name.")
    return create_agent(
        kit.model,
        [*kit.tools, *kit.files_beside(known), kit.task(subagents or ())],
        system_prompt=_prompt(system_prompt),
        middleware=_layered(kit.layers(kit.watched, known), middleware),
        response_format=response_format,
        state_schema=state_schema,
        context_schema=context_schema,
        checkpointer=checkpointer,
        store=store,
        debug=debug,
        name=name,
        cache=cache,
        transformers=transformers,
    )


def _prompt(own: str | SystemMessage | None) -> str | SystemMessage:
    if own is None:
        return PROMPT
    if isinstance(own, str):
        return f"{own}\n\n{PROMPT}"
    return with_more(own, PROMPT)


def _named(tools: Sequence[Any], middleware: Sequence[AgentMiddleware[Any, Any]]) -> dict[str, Any]:
    """The tools of an agent, by name; those of its middleware, too."""
    every = joined(tools, [tool for one in middleware for tool in one.tools])
    return {one.name: one for one in every if isinstance(one, BaseTool)}


def _layered(usual: Sequence[Layer], own: Sequence[Layer]) -> list[Layer]:
    """Middleware of the user's own behind the usual, or in the place of that which has its name.

    Who watches over tools is not put aside in this way: what it asks about is said with `interrupt_on`.
    """
    left, layers = list(own), []
    for layer in usual:
        places = [at for at, one in enumerate(left) if one.name == layer.name]
        takes_place = places and not isinstance(layer, HumanInTheLoopMiddleware)
        layers.append(left.pop(places[0]) if takes_place else layer)
    return [*layers, *left]


class _Files(AgentMiddleware[Any, Any]):
    """Keeps virtual files in the state."""

    state_schema = FilesState


@dataclass(frozen=True, slots=True)
class Kit:
    """What an agent and its subagents are made of."""

    model: Any
    tools: list[Any]
    backend: Backend
    files: list[BaseTool]
    """The file tools over the backend; every agent of a team has the same."""
    watched: dict[str, bool | InterruptOnConfig]
    mode: InterruptMode
    rules: Sequence[Rule | str]
    summarize_at: Any

    def files_beside(self, tools: Mapping[str, Any]) -> list[BaseTool]:
        """The file tools, without those in whose place an agent has a tool of its own."""
        return [one for one in self.files if one.name not in tools]

    def layers(self, watched: Policies, tools: Mapping[str, Any], lent: Collection[str] = ()) -> list[Layer]:
        """The middleware of every deep agent.

        lent: tools that none but a wrapper may know; that the agent does not have them is no mistake.
        """
        files = {one.name: one for one in self.files_beside(tools)}
        policies = merged_policies(watched, self.backend, tools, files)
        layers: list[Layer] = [TodoListMiddleware()]
        if self.backend.is_virtual:
            layers.append(_Files())
        if self.summarize_at is not None:
            layers.append(SummarizationMiddleware(self.model, trigger=self.summarize_at, keep=KEEP))  # type: ignore[arg-type]
        watch: HumanInTheLoopMiddleware[Any, Any] = HumanInTheLoopMiddleware(
            policies, interrupt_mode=self.mode, rules=self.rules
        )
        watch.watched_tools = watch.policies.keys() - set(lent)
        return [*layers, watch]

    def task(self, subagents: Sequence[Any]) -> BaseTool:
        """The tool that calls the subagents."""
        check_names(subagents)
        declared = {one["name"]: one for one in subagents}
        general: Any = {"name": GENERAL, "description": GENERAL_TEXT}
        everyone = {GENERAL: general, **declared}
        agents = {name: one["runnable"] if "runnable" in one else self._made(one) for name, one in everyone.items()}
        return task_tool(agents, {name: one["description"] for name, one in everyone.items()})

    def _made(self, one: SubAgent) -> Any:
        tools = made_tools(one.get("tools", self.tools))
        wraps, said = one.get("middleware", ()), one.get("interrupt_on", {})
        known = _named(tools, wraps)
        # What is inherited may be about tools that the subagent lacks; what it says itself may not.
        lacking = self.watched.keys() - {*known, *(file.name for file in self.files), "write_todos", *said}
        lent = lacking if any(wraps_tools(layer) and layer.calls_unknown_tools for layer in wraps) else set[str]()
        inherited = {name: policy for name, policy in self.watched.items() if name not in lacking - lent}
        layers = self.layers({**inherited, **said}, known, lent)
        return create_agent(
            as_model(one.get("model", self.model)),
            [*tools, *self.files_beside(known)],
            system_prompt=one.get("system_prompt", GENERAL_PROMPT),
            middleware=_layered(layers, wraps),
            response_format=one.get("response_format"),
            name=one["name"],
        )
