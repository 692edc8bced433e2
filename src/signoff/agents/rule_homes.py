"""Where the rules live that people make: in the store of the agent, or, where it has none, in the state of the thread.

In the store a rule can be taken back at any moment. In the state it can be taken back while nothing is open, since a
change of the state would ask open questions anew. Of a rule in the store the state has the id, without which it does
not hold: a new thread that is given the name of one that was deleted would have other people's yes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig

from signoff._snapshots import StateUpdate
from signoff.agents.admission import DECISION
from signoff.agents.rules import StoredRule, merge_rules
from signoff.constants import CONF, END, THREAD_ID
from signoff.errors import InvalidInput, QuestionsOpen
from signoff.prebuilt._invoking import runtime_of
from signoff.prebuilt.tool_results import messages_in
from signoff.steps import Steps, adrive, drive

__all__ = ["alist_rules", "arevoke_rule", "list_rules", "revoke_rule"]


@dataclass(frozen=True, slots=True)
class Search:
    """The rules in a store."""

    store: Any
    thread_id: str


@dataclass(frozen=True, slots=True)
class Put:
    """Keep a rule in a store; None takes it away."""

    store: Any
    thread_id: str
    id: str
    rule: Any


def perform(effect: Any) -> Any:
    """Do what a procedure asks of a store."""
    if isinstance(effect, Put):
        return effect.store.put(_home(effect.thread_id), effect.id, effect.rule, index=False)
    return _as_rules(effect.store.search(_home(effect.thread_id), limit=_MANY))


async def aperform(effect: Any) -> Any:
    """Do what a procedure asks of a store, on an event loop."""
    if isinstance(effect, Put):
        return await effect.store.aput(_home(effect.thread_id), effect.id, effect.rule, index=False)
    return _as_rules(await effect.store.asearch(_home(effect.thread_id), limit=_MANY))


_MANY = 1000


def _home(thread_id: str) -> tuple[str, ...]:
    # A namespace is a list of labels, which have no periods. Each thread has a home of its own: "%" is replaced, too.
    return ("approval_rules", thread_id.replace("%", "%25").replace(".", "%2E"))


def _as_rules(items: Any) -> dict[str, Any]:
    return {item.key: item.value for item in items}


inherited: ContextVar[dict[str, Any]] = ContextVar("signoff_inherited_rules")
"""The rules in the state of the agent around, for a subagent. Not in the config, where a caller could put some."""


def rules_in_state(state: Any) -> dict[str, Any]:
    """The rules in the state of an agent: those of the agents around it, and its own."""
    return {**inherited.get({}), **(state.get("approval_rules") or {})}


def telling_rules(agent: Any) -> dict[str, Any]:
    """How to call an agent so that it tells the rules that people made in it, too, which it keeps to itself."""
    program: Any = getattr(agent, "program", None)
    channel = getattr(program, "channels", {}).get("approval_rules")
    is_told = getattr(channel, "operator", None) is merge_rules
    return {"output_keys": [*program.output_keys, "approval_rules"]} if is_told else {}


def rules_made(results: Sequence[Any]) -> dict[str, Any]:
    """The rules that people made as they decided on the calls of these messages or Commands."""
    records = (message.additional_kwargs.get(DECISION) for message in messages_in(list(results)))
    rules = [one["from_here_on"] for record in records for one in _chain(record) if "from_here_on" in one]
    return {rule["id"]: rule for rule in rules}


def _chain(record: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    """The record of a decision, and those of what was decided then."""
    while record:
        yield record
        record = record.get("then")


def known_rules(in_state: Mapping[str, StoredRule], config: RunnableConfig) -> Steps[dict[str, StoredRule]]:
    """The rules of the thread that runs."""
    store, thread_id = runtime_of(config).store, _thread(config)
    if store is None or thread_id is None or not in_state:
        return whole(in_state)
    return _known(in_state, (yield Search(store, thread_id)))


def whole(in_state: Mapping[str, Any]) -> dict[str, Any]:
    """The rules in a state that are not in a store."""
    return {id: rule for id, rule in in_state.items() if "tool" in rule}


def _known(in_state: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**whole(in_state), **{id: rule for id, rule in stored.items() if id in in_state}}


def keep_rules(rules: dict[str, Any], config: RunnableConfig) -> Steps[dict[str, Any]]:
    """Keep new rules in the store, if there is one; what is returned has to go into the state."""
    store, thread_id = runtime_of(config).store, _thread(config)
    if store is None or thread_id is None:
        return rules
    for id, rule in rules.items():
        yield Put(store, thread_id, id, rule)
    return {id: {"id": id} for id in rules}


def _thread(config: Mapping[str, Any]) -> str | None:
    thread_id = (config.get(CONF) or {}).get(THREAD_ID)
    return None if thread_id is None else str(thread_id)


# For people


def list_rules(agent: Any, config: Mapping[str, Any]) -> list[StoredRule]:
    """The rules that people made in a thread, oldest first."""
    return _sorted(_known(_in_state(agent.get_state(config)), drive(_stored(agent, config), perform)))


async def alist_rules(agent: Any, config: Mapping[str, Any]) -> list[StoredRule]:
    """The rules that people made in a thread, oldest first."""
    return _sorted(_known(_in_state(await agent.aget_state(config)), await adrive(_stored(agent, config), aperform)))


def revoke_rule(agent: Any, config: Mapping[str, Any], rule_id: str) -> None:
    """Take a rule back: calls that it covered are asked about again."""
    if not drive(_taken_away(agent, config, rule_id), perform):
        agent.bulk_update_state(config, _without(agent.get_state(config), rule_id))


async def arevoke_rule(agent: Any, config: Mapping[str, Any], rule_id: str) -> None:
    """Take a rule back: calls that it covered are asked about again."""
    if not await adrive(_taken_away(agent, config, rule_id), aperform):
        await agent.abulk_update_state(config, _without(await agent.aget_state(config), rule_id))


def _stored(agent: Any, config: Mapping[str, Any]) -> Steps[dict[str, Any]]:
    return {} if agent.store is None else (yield Search(agent.store, str(_thread(config))))


def _taken_away(agent: Any, config: Mapping[str, Any], rule_id: str) -> Steps[bool]:
    """Take a rule out of the store, and whether it was there."""
    is_there = rule_id in (yield from _stored(agent, config))
    if is_there:
        yield Put(agent.store, str(_thread(config)), rule_id, None)
    return is_there


def _in_state(snapshot: Any) -> dict[str, Any]:
    return dict((snapshot.values or {}).get("approval_rules") or {})


def _sorted(rules: dict[str, Any]) -> list[StoredRule]:
    return sorted(rules.values(), key=lambda rule: (rule.get("at") or "", rule["id"]))


def _without(snapshot: Any, rule_id: str) -> list[list[StateUpdate]]:
    """The updates that take a rule out of the state, if it is there and nothing is open."""
    known = whole(_in_state(snapshot))
    if rule_id not in known:
        raise InvalidInput(f"The thread has no rule {rule_id!r}. It has: {', '.join(map(repr, known)) or 'none'}.")
    if snapshot.next:
        raise QuestionsOpen(
            f"The rule {rule_id!r} is in the state of the thread, which is at {', '.join(snapshot.next)}. Let the run "
            "come to its end first; or give the agent a store, then rules can be taken back at any moment."
        )
    # The tools lead to the model; the second update ends that.
    return [[StateUpdate({"approval_rules": {rule_id: None}}, "tools")], [StateUpdate(None, END)]]
