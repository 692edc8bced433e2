"""Subagents: a tool, `task`, that hands a piece of work to another agent and returns what it says in the end."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NotRequired

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from typing_extensions import TypedDict

from signoff._words.commands import Command
from signoff.agents.backends.state import changed_files, keeps_files
from signoff.agents.gate import AGENTS
from signoff.agents.middleware.base import AgentMiddleware
from signoff.agents.middleware.human_in_the_loop import InterruptOnConfig
from signoff.agents.rule_homes import inherited, rules_in_state, telling_rules
from signoff.constants import CONF
from signoff.errors import InvalidInput
from signoff.forms import adapter_of
from signoff.prebuilt.injection import ToolRuntime

__all__ = ["CompiledSubAgent", "SubAgent"]

GENERAL = "general-purpose"


class SubAgent(TypedDict):
    """A subagent as it is declared. What it leaves out it has from the agent that it works for."""

    name: str
    description: str
    """What it is good for; the model chooses by this."""
    system_prompt: NotRequired[str]
    tools: NotRequired[Sequence[Any]]
    model: NotRequired[Any]
    middleware: NotRequired[Sequence[AgentMiddleware[Any, Any]]]
    interrupt_on: NotRequired[Mapping[str, bool | InterruptOnConfig]]
    """Changes, tool by tool, what is inherited: `{"write_file": False}`."""
    response_format: NotRequired[Any]
    """The form of its answer, which the agent gets as JSON."""


class CompiledSubAgent(TypedDict):
    """Any compiled graph as a subagent: its state needs `messages`."""

    name: str
    description: str
    runnable: Any


def task_tool(agents: Mapping[str, Any], descriptions: Mapping[str, str]) -> BaseTool:
    """The tool that calls subagents. They are given the virtual files; what they changed in them comes back."""

    def task(description: str, subagent_type: str, runtime: ToolRuntime) -> Any:
        given, config = _begin(agents, description, subagent_type, runtime)
        with _handing_down_rules(runtime):
            result = agents[subagent_type].invoke(given, config, **telling_rules(agents[subagent_type]))
        return _ended(agents[subagent_type], result, subagent_type, runtime)

    async def atask(description: str, subagent_type: str, runtime: ToolRuntime) -> Any:
        given, config = _begin(agents, description, subagent_type, runtime)
        with _handing_down_rules(runtime):
            result = await agents[subagent_type].ainvoke(given, config, **telling_rules(agents[subagent_type]))
        return _ended(agents[subagent_type], result, subagent_type, runtime)

    listed = "\n".join(f"- {name}: {text}" for name, text in descriptions.items())
    about = (
        "Hand a piece of work to a subagent. It sees nothing of this conversation: say in the description all that it "
        f"must know, and what it should answer.\nThe subagents (subagent_type):\n{listed}"
    )
    atask.__name__ = "task"
    return StructuredTool.from_function(
        task, atask, name="task", description=about, handle_tool_error=True, infer_schema=True
    )


def _begin(
    agents: Mapping[str, Any], description: str, name: str, runtime: ToolRuntime
) -> tuple[dict[str, Any], RunnableConfig]:
    if name not in agents:
        raise ToolException(f"There is no subagent {name!r}. There are: {', '.join(agents)}.")
    state = {"files": runtime.state["files"]} if "files" in runtime.state else {}
    conf = runtime.config.get(CONF) or {}
    path = [*conf.get(AGENTS, ()), name]
    config: Any = {**runtime.config, CONF: {**conf, AGENTS: path}}
    if metadata := runtime.config.get("metadata"):  # without the name of the agent around
        config["metadata"] = {key: value for key, value in metadata.items() if key != "lc_agent_name"}
    # The messages of the agent around are not for the subagent, and their callbacks are in the config already.
    return {**state, "messages": [HumanMessage(description)]}, config


@contextmanager
def _handing_down_rules(runtime: ToolRuntime) -> Iterator[None]:
    """What people allowed from here on in the agent holds in its subagents, too."""
    token = inherited.set(rules_in_state(runtime.state))
    try:
        yield
    finally:
        inherited.reset(token)


def _ended(agent: Any, result: Any, name: str, runtime: ToolRuntime) -> Any:
    if not isinstance(result, Mapping) or not result.get("messages"):
        raise InvalidInput(
            f"Subagent {name!r} ended without messages, and its last one is its answer. Give its state the key "
            "messages, and let it end with one."
        )
    message = ToolMessage(_answer(result), tool_call_id=runtime.tool_call_id)
    files = _changed_files(agent, runtime.state.get("files") or {}, result.get("files"))
    # Not from its messages, in which anything may stand: only the gate of an agent writes rules into its state.
    made = result.get("approval_rules") if telling_rules(agent) else None
    more = {"files": files, "approval_rules": made}
    return Command(update={**{key: value for key, value in more.items() if value}, "messages": [message]})


def _changed_files(agent: Any, given: Mapping[str, str], left: Mapping[str, str] | None) -> dict[str, Any]:
    """What a subagent has changed in the files. A graph of another kind may name those alone that it has written."""
    return changed_files(given, left if left is None or keeps_files(agent) else {**given, **left})


def _answer(result: Mapping[str, Any]) -> str:
    """What a subagent has answered: in its form, as JSON, or with its last words. It may end without any."""
    answered = result.get("structured_response")
    if answered is not None:
        return str(adapter_of(type(answered)).dump_json(answered), "utf-8")
    said = result["messages"]
    # A state without a reducer of messages keeps them as they were written.
    last, *before = reversed(convert_to_messages(said if isinstance(said, list | tuple) else [said]))
    words = [last.text, *(message.text for message in before if isinstance(message, AIMessage))]
    return next((text for text in words if text.strip()), "")


def check_names(subagents: Sequence[Mapping[str, Any]]) -> None:
    """Refuse declarations that cannot be meant."""
    names = [one.get("name") for one in subagents]
    for one in subagents:
        if not one.get("name") or not one.get("description"):
            raise InvalidInput(f"A subagent needs a name and a description: {dict(one)!r}.")
        _check_keys(one)
        if names.count(one["name"]) > 1:
            raise InvalidInput(f"Two subagents have the name {one['name']!r}. Rename one of them.")


def _check_keys(one: Mapping[str, Any]) -> None:
    """Refuse what a declaration would say in vain: with `interrupt_on` misspelt, nobody would be asked."""
    is_graph = "runnable" in one
    known = CompiledSubAgent.__annotations__ if is_graph else SubAgent.__annotations__
    for key in one:
        if key not in known:
            guess = get_close_matches(key, known, 1)
            mend = f"Did you mean {guess[0]!r}?" if guess else f"It may have: {', '.join(known)}."
            if is_graph and key in SubAgent.__annotations__:
                mend = "A compiled graph has its own, and asks by itself."
            raise InvalidInput(f"Subagent {one['name']!r} has {key!r}, which says nothing. {mend}")
