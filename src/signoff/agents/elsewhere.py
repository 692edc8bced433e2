"""What the package deepagents has and is not here: whoever imports it is told what there is in its place."""

__all__ = ["BACKENDS", "FILES", "NAMES", "OWN", "PAGE", "SKILLS", "SUBAGENTS", "SUMMARIES"]

PAGE = "docs/deep-agents.md"
"""Where the rest is said."""

OWN = "Keep files elsewhere with an object of your own that does what Backend says"
FILES = (
    "The tools for files come with create_deep_agent(..., backend=...), from signoff.agents; the backends are in "
    "signoff.agents.backends, and files in the state are texts"
)
SUBAGENTS = (
    "Subagents come with create_deep_agent(..., subagents=[...]); import it, SubAgent and CompiledSubAgent from "
    "signoff.agents"
)
SKILLS = "Read the files, and put what they say into system_prompt="

_SERVED = "A tool of yours may call whatever serves the other agent, as it calls any service"
_PROFILES = "Say what is different for a model where the agent is made: system_prompt=, tools=, middleware="
_CHECKED = "An after_agent of yours can look at the answer, and jump to the model if it is not good enough"

NAMES = {
    **dict.fromkeys(("AsyncSubAgent", "AsyncSubAgentMiddleware"), _SERVED),
    **dict.fromkeys(("FilesystemMiddleware", "FsToolName"), FILES),
    "FilesystemPermission": "Write interrupt_on= and rules= for what waits for a person; a folder cannot be left",
    "SubAgentMiddleware": SUBAGENTS,
    **dict.fromkeys(("MemoryMiddleware", "SkillsMiddleware"), SKILLS),
    "RubricMiddleware": _CHECKED,
    "DeepAgentState": "Derive a state of your own from AgentState, and give it as state_schema=",
    **dict.fromkeys(("HarnessProfile", "HarnessProfileConfig", "register_harness_profile"), _PROFILES),
    **dict.fromkeys(("ProviderProfile", "register_provider_profile", "GeneralPurposeSubagentProfile"), _PROFILES),
}
"""From a name to what there is instead."""

SUMMARIES = dict.fromkeys(
    ("SummarizationToolMiddleware", "create_summarization_tool_middleware"),
    "A summary is made when it is due: say when with summarize_at=, or with trigger= of SummarizationMiddleware",
)
"""The same for the names of summaries."""

BACKENDS = {
    "FilesystemBackend": "Take FolderBackend(path)",
    "LocalShellBackend": "Take ShellBackend(path)",
    **dict.fromkeys(("BackendProtocol", "SandboxBackendProtocol"), "Write your own as Backend says"),
    **dict.fromkeys(("StoreBackend", "CompositeBackend", "ContextHubBackend", "LangSmithSandbox"), OWN),
    "NamespaceFactory": OWN,
}
"""The same for the names of backends."""
