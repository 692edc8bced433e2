"""What is asked before the usual tools run: readable descriptions, and previews of what would change."""

from collections.abc import Callable, Mapping
from typing import Any

from signoff._diffs import unified
from signoff.agents.backends.base import Backend, Exact, FileError, clean
from signoff.agents.backends.state import replaced
from signoff.agents.file_tools import count_places
from signoff.agents.middleware.human_in_the_loop import InterruptOnConfig

OUTSIDE = ("execute", "shell", "delete_file", "web_search", "fetch_url")
"""Tools that reach out of the agent: asked about by default."""
WRITING = ("write_file", "edit_file")
"""Asked about by default where the files are real."""


def merged_policies(
    given: Mapping[str, bool | InterruptOnConfig] | None,
    backend: Backend,
    tools: Mapping[str, Any],
    files: Mapping[str, Any],
) -> dict[str, bool | InterruptOnConfig]:
    """What to ask about the tools of an agent: the usual, changed tool by tool by what the user says.

    files: the file tools over the backend, whose changes can be shown. What a user's own `write_file` does is unknown.
    """
    usual = [*OUTSIDE, *(name for name in WRITING if name in tools or not backend.is_virtual)]
    wanted: dict[str, Any] = {name: True for name in usual if name in {**tools, **files}} | dict(given or {})
    return {name: _completed(name, one, backend if name in files else None) for name, one in wanted.items()}


def _completed(name: str, given: bool | InterruptOnConfig, backend: Backend | None) -> Any:
    """A setting with the usual description and preview of its tool, where it has none of its own."""
    if given is False or not isinstance(given, bool | Mapping):
        return given  # what is no setting is refused later, as it is of other tools
    usual: dict[str, Any] = {}
    if name in DESCRIPTIONS:
        describe = DESCRIPTIONS[name]
        usual["description"] = lambda call, state, runtime: describe(call["args"])
    if name in WRITING and backend is not None:
        usual["preview"] = previewer(name, backend)
    own: Any = {} if given is True else given
    return {**usual, **own} if usual or own else True


def _first_line(text: Any) -> str:
    lines = str(text).strip().splitlines() or [""]
    return lines[0] if len(lines) == 1 else f"{lines[0]} ..."


def _write(args: Mapping[str, Any]) -> str:
    count = len(str(args.get("content", "")).splitlines())
    return f"Write {count} line{'s' * (count != 1)} to {args.get('file_path')}"


def _edit(args: Mapping[str, Any]) -> str:
    everywhere = "everywhere in" if args.get("replace_all") else "in"
    return f"Replace a text {everywhere} {args.get('file_path')}"


DESCRIPTIONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "write_file": _write,
    "edit_file": _edit,
    "delete_file": lambda args: f"Delete file: {args.get('file_path', args.get('path'))}",
    "execute": lambda args: f"Run command: {args.get('command')}",
    "shell": lambda args: f"Run command: {args.get('command')}",
    "web_search": lambda args: f"Search the web: {args.get('query')}",
    "fetch_url": lambda args: f"Fetch {args.get('url')}",
    "task": lambda args: f"Ask subagent {args.get('subagent_type')}: {_first_line(args.get('description'))}",
}


# Previews


def previewer(name: str, backend: Backend) -> Callable[[Any], str | None]:
    """What makes a unified diff out of a call that writes or edits; None for one that would fail."""

    def preview(request: Any) -> str | None:
        args = request.tool_call["args"]
        try:
            files, path = backend.open(request.state), clean(args["file_path"])
            before = _before(name, files, path) if files.has(path) else ""
            return unified(path, before, _after(name, files, args, before))
        except (FileError, KeyError, TypeError, AttributeError):  # the tool itself will say what is wrong
            return None

    return preview


def _before(name: str, files: Any, path: str) -> str:
    """A file as it is. What is edited keeps its line ends, whatever the model sees of them."""
    return files.read_exactly(path) if name == "write_file" and isinstance(files, Exact) else str(files.read(path))


def _after(name: str, files: Any, args: Mapping[str, Any], before: str) -> str:
    if name == "write_file":
        return str(args["content"])
    everywhere = bool(args.get("replace_all"))
    count_places(files, args["file_path"], args["old_string"], everywhere)
    return replaced(before, args["old_string"], args["new_string"], everywhere)
