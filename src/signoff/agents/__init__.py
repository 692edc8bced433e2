"""Agents that ask first: a model with tools, middleware around both, and a person before the tools that matter."""

from typing import NoReturn

from signoff._elsewhere import tell_where
from signoff._extras import needing
from signoff.agents.elsewhere import NAMES, PAGE

with needing("agents", "signoff.agents"):
    from signoff.agents.deep_agent import create_deep_agent
    from signoff.agents.factory import create_agent
    from signoff.agents.middleware.state import AgentState
    from signoff.agents.rule_homes import alist_rules, arevoke_rule, list_rules, revoke_rule
    from signoff.agents.rules import Rule
    from signoff.agents.subagents import CompiledSubAgent, SubAgent

__all__ = [
    "AgentState",
    "CompiledSubAgent",
    "Rule",
    "SubAgent",
    "alist_rules",
    "arevoke_rule",
    "create_agent",
    "create_deep_agent",
    "list_rules",
    "revoke_rule",
]


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, NAMES, PAGE)
