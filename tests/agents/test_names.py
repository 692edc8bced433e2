"""Whoever imports what the package deepagents has, and signoff has not, is told what there is instead."""

from importlib import import_module

import pytest

from signoff import agents

NAMES = {
    "AsyncSubAgent": "A tool of yours",
    "AsyncSubAgentMiddleware": "A tool of yours",
    "DeepAgentState": "AgentState",
    "FilesystemMiddleware": "create_deep_agent",
    "FilesystemPermission": "interrupt_on=",
    "FsToolName": "create_deep_agent",
    "GeneralPurposeSubagentProfile": "system_prompt=",
    "HarnessProfile": "system_prompt=",
    "HarnessProfileConfig": "system_prompt=",
    "MemoryMiddleware": "system_prompt=",
    "ProviderProfile": "system_prompt=",
    "RubricMiddleware": "after_agent",
    "SubAgentMiddleware": "subagents=",
    "register_harness_profile": "system_prompt=",
    "register_provider_profile": "system_prompt=",
}


@pytest.mark.parametrize(("name", "instead"), NAMES.items())
def test_a_name_that_is_not_here(name, instead):
    with pytest.raises(ImportError, match=rf"signoff.agents has no {name}\. .*{instead}.*docs/deep-agents.md"):
        exec(f"from signoff.agents import {name}")
    assert not hasattr(agents, name)


def test_a_name_that_nobody_has():
    with pytest.raises(ImportError, match="cannot import name 'NothingAtAll'"):
        exec("from signoff.agents import NothingAtAll")


@pytest.mark.parametrize(
    "name", ["FilesystemMiddleware", "SubAgentMiddleware", "SkillsMiddleware", "MemoryMiddleware", "CompiledSubAgent"]
)
def test_a_name_that_is_looked_for_among_middleware(name):
    with pytest.raises(ImportError, match=rf"signoff.agents.middleware has no {name}\. "):
        exec(f"from signoff.agents.middleware import {name}")


@pytest.mark.parametrize("tail", ["middleware", "middleware.summarization"])
def test_a_summary_that_the_model_asks_for(tail):
    with pytest.raises(ImportError, match="has no create_summarization_tool_middleware. .*summarize_at="):
        exec(f"from signoff.agents.{tail} import create_summarization_tool_middleware")


@pytest.mark.parametrize(
    ("tail", "instead"),
    [
        ("graph", "import it, SubAgent and CompiledSubAgent from signoff.agents"),
        ("middleware.subagents", "import it, SubAgent and CompiledSubAgent from signoff.agents"),
        ("middleware.filesystem", "signoff.agents.backends"),
        ("middleware.skills", "system_prompt="),
        ("backends.filesystem", "signoff.agents.backends"),
        ("backends.protocol", "what Backend says"),
        ("backends.utils", "files in the state are texts"),
    ],
)
def test_a_module_that_is_not_here(tail, instead):
    with pytest.raises(
        ModuleNotFoundError, match=rf"There is no signoff.agents.{tail}\. .*{instead}.*docs/deep-agents"
    ):
        import_module(f"signoff.agents.{tail}")
