"""The middleware of LangChain's that is not here: whoever imports it is told what there is in its place."""

from typing import NoReturn

__all__ = ["ELSEWHERE", "tell_where"]

_SHELL = (
    "A shell whose commands wait for a person comes with create_deep_agent(..., backend=ShellBackend(folder)), from "
    "signoff.agents.backends"
)
_FILES = (
    "The tools glob and grep come with create_deep_agent(..., backend=FolderBackend(folder)), from "
    "signoff.agents.backends"
)
_TRACES = "What traces record of a node, add_node(..., trace_policy=signoff.types.TracePolicy(...)) says"

ELSEWHERE = {
    **dict.fromkeys(("ShellToolMiddleware", "HostExecutionPolicy", "DockerExecutionPolicy"), _SHELL),
    **dict.fromkeys(("CodexSandboxExecutionPolicy", "RedactionRule"), _SHELL),
    "FilesystemFileSearchMiddleware": _FILES,
    "ProviderToolSearchMiddleware": "LLMToolSelectorMiddleware has a model choose among many tools",
    **dict.fromkeys(("TracePolicy", "configure_trace_policy", "omit_payload"), _TRACES),
}
"""From a name to what there is instead."""


def tell_where(module: str, name: str) -> NoReturn:
    """The error for a name that a module does not have."""
    if name in ELSEWHERE:
        raise ImportError(
            f"signoff has no {name}. {ELSEWHERE[name]}. What else is different: docs/agents.md.", name=module
        )
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
