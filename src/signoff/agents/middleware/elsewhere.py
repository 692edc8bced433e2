"""The middleware of LangChain's that is not here: whoever imports it is told what there is in its place."""

__all__ = ["ELSEWHERE", "PAGE"]

_SHELL = (
    "A shell whose commands wait for a person comes with create_deep_agent(..., backend=ShellBackend(folder)), from "
    "signoff.agents.backends"
)
_FILES = (
    "The tools glob and grep come with create_deep_agent(..., backend=FolderBackend(folder)), from "
    "signoff.agents.backends"
)

ELSEWHERE = {
    **dict.fromkeys(("ShellToolMiddleware", "HostExecutionPolicy", "DockerExecutionPolicy"), _SHELL),
    **dict.fromkeys(("CodexSandboxExecutionPolicy", "RedactionRule"), _SHELL),
    "FilesystemFileSearchMiddleware": _FILES,
    "ProviderToolSearchMiddleware": "LLMToolSelectorMiddleware has a model choose among many tools",
}
"""From a name to what there is instead."""

PAGE = "docs/agents.md"
"""Where the rest is said."""
