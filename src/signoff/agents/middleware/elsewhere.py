"""The middleware of LangChain's and deepagents that is not here: whoever imports it is told what there is instead."""

from signoff.agents.elsewhere import NAMES, SUMMARIES

__all__ = ["ELSEWHERE", "FILES", "PAGE", "REFUSALS", "RISKS", "ROUTES", "SEARCH", "SHELL"]

SHELL = (
    "A shell whose commands wait for a person comes with create_deep_agent(..., backend=ShellBackend(folder)), from "
    "signoff.agents.backends"
)
FILES = (
    "The tools glob and grep come with create_deep_agent(..., backend=FolderBackend(folder)), from "
    "signoff.agents.backends"
)
SEARCH = "LLMToolSelectorMiddleware has a model choose among many tools"
RISKS = (
    "HumanInTheLoopMiddleware asks a person about the calls that a function of yours finds risky: "
    'interrupt_on={"pay": {"when": function}}'
)
REFUSALS = "A wrap_model_call of yours can raise an error where what handler(request) returns is a refusal"
ROUTES = "A wrap_model_call of yours chooses the model: handler(request.override(model=...))"

ELSEWHERE = {
    **dict.fromkeys(("ShellToolMiddleware", "HostExecutionPolicy", "DockerExecutionPolicy"), SHELL),
    **dict.fromkeys(("CodexSandboxExecutionPolicy", "RedactionRule"), SHELL),
    "FilesystemFileSearchMiddleware": FILES,
    "ProviderToolSearchMiddleware": SEARCH,
    "AutoModeMiddleware": RISKS,
    "ModelRefusalMiddleware": REFUSALS,
    **dict.fromkeys(("ModelChoice", "ModelRouterMiddleware"), ROUTES),
    **{name: instead for name, instead in NAMES.items() if name.endswith("Middleware")},
    **dict.fromkeys(("CompiledSubAgent", "SubAgent"), "Import it from signoff.agents"),
    **SUMMARIES,
}
"""From a name to what there is instead."""

PAGE = "docs/agents.md"
"""Where the rest is said."""
