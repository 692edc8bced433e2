"""The middleware of LangChain's that is not here: whoever imports it is told what there is in its place."""

__all__ = ["ELSEWHERE", "FILES", "PAGE", "SEARCH", "SHELL"]

SHELL = (
    "A shell whose commands wait for a person comes with create_deep_agent(..., backend=ShellBackend(folder)), from "
    "signoff.agents.backends"
)
FILES = (
    "The tools glob and grep come with create_deep_agent(..., backend=FolderBackend(folder)), from "
    "signoff.agents.backends"
)
SEARCH = "LLMToolSelectorMiddleware has a model choose among many tools"

ELSEWHERE = {
    **dict.fromkeys(("ShellToolMiddleware", "HostExecutionPolicy", "DockerExecutionPolicy"), SHELL),
    **dict.fromkeys(("CodexSandboxExecutionPolicy", "RedactionRule"), SHELL),
    "FilesystemFileSearchMiddleware": FILES,
    "ProviderToolSearchMiddleware": SEARCH,
}
"""From a name to what there is instead."""

PAGE = "docs/agents.md"
"""Where the rest is said."""
