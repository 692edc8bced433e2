"""The file tools of a deep agent: ls, read_file, write_file, edit_file, glob, grep, and with a shell execute."""

from collections.abc import Callable
from itertools import takewhile
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from signoff._words.commands import Command
from signoff.agents.backends.base import Backend, Executor, FileError, Files, clean
from signoff.agents.drafts import Draft, Drafts, Replaced, drafted
from signoff.agents.path_patterns import matching, naming
from signoff.constants import CONF, THREAD_ID
from signoff.prebuilt._invoking import messages_of
from signoff.prebuilt.agent_routes import last_of_model
from signoff.prebuilt.injection import ToolRuntime

MAX_LINES = 2000
MAX_FOUND = 200


def file_tools(backend: Backend) -> list[BaseTool]:
    """The tools over a backend."""
    drafts = Drafts()
    tools = [
        _ls(backend),
        _read_file(backend),
        _write_file(backend, drafts),
        _edit_file(backend, drafts),
        _glob(backend),
        _grep(backend),
    ]
    return [_tool(tool) for tool in [*tools, *([_execute(backend)] if isinstance(backend, Executor) else [])]]


def _tool(function: Callable[..., Any]) -> BaseTool:
    """What is wrong with a path is told to the model, and does not end the run."""
    return StructuredTool.from_function(function, handle_tool_error=True)


def _ls(backend: Backend) -> Callable[..., str]:
    def ls(runtime: ToolRuntime, path: str = "/") -> str:
        """List the files and folders in a folder. Folders end with a slash."""
        base = clean(path).rstrip("/") + "/"
        below = [one[len(base) :] for one in backend.open(runtime.state).paths() if one.startswith(base)]
        names = sorted({name.partition("/")[0] + ("/" if "/" in name else "") for name in below})
        return "\n".join(base + name for name in names) or f"There is nothing in {path}."

    return ls


def _read_file(backend: Backend) -> Callable[..., str]:
    def read_file(file_path: str, runtime: ToolRuntime, offset: int = 0, limit: int = MAX_LINES) -> str:
        """Read a file: its lines with their numbers, from line offset + 1 on, at most limit of them."""
        lines, start = backend.open(runtime.state).read(file_path).splitlines(), max(offset, 0)
        shown = lines[start : start + max(limit, 1)]
        if not shown:
            return f"{file_path} has {len(lines)} lines."
        numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(shown, start + 1))
        left = len(lines) - start - len(shown)
        return f"{numbered}\n({left} more lines)" if left > 0 else numbered

    return read_file


def _write_file(backend: Backend, drafts: Drafts) -> Callable[..., Any]:
    def write_file(file_path: str, content: str, runtime: ToolRuntime) -> Any:
        """Write a file. If there is one already, it is replaced."""
        with drafts.alone:
            update = backend.open(runtime.state).write(file_path, content)
            drafts.keep(_turn_of(runtime), clean(file_path), Draft([Replaced("", content.replace("\r\n", "\n"))]))
        return _done(f"Wrote {len(content.splitlines())} lines to {file_path}.", update, runtime)

    return write_file


def _edit_file(backend: Backend, drafts: Drafts) -> Callable[..., Any]:
    def edit_file(
        file_path: str, old_string: str, new_string: str, runtime: ToolRuntime, replace_all: bool = False
    ) -> Any:
        """Replace a text in a file. It must be there exactly once, unless all places are to be replaced."""
        files, path, turn = backend.open(runtime.state), clean(file_path), _turn_of(runtime)
        with drafts.alone:
            text = files.read(file_path)
            # Virtual files are in the state, which shows no call of a turn what another one has done.
            is_blind = backend.is_virtual
            draft = drafted(text, _calls_before(runtime, path)) if is_blind else drafts.of(turn, path, text)
            _refuse_overlap(draft, old_string, file_path)
            places = count_places(files, file_path, old_string, replace_all)
            update = files.edit(file_path, old_string, new_string, everywhere=replace_all)
            drafts.keep(turn, path, draft.with_replaced(old_string, new_string))
        return _done(f"Replaced {places} place{'s' * (places > 1)} in {file_path}.", update, runtime)

    return edit_file


def count_places(files: Files, file_path: str, old_string: str, replace_all: bool) -> int:
    """How many places an edit replaces; an edit that is not clear is refused."""
    places = files.read(file_path).count(old_string) if old_string else 0
    if not places:
        raise FileError(f"The text to replace is not in {file_path}. Read the file, and copy the text as it is.")
    if places > 1 and not replace_all:
        raise FileError(
            f"The text to replace is in {file_path} {places} times. Give more of what is around it, or set replace_all."
        )
    return places


def _refuse_overlap(draft: Draft, old_string: str, file_path: str) -> None:
    """Refuse an edit of what another call of the same turn changes: calls of a turn do not see each other's files."""
    if old_string and not draft.leaves(old_string):
        raise FileError(
            f"Another call of this turn changes the same part of {file_path}, so this edit was not made. Read the "
            "file, and edit it then."
        )


def _turn_of(runtime: ToolRuntime) -> Any:
    """What the calls of one message of the model have in common; None if nobody can tell."""
    said = last_of_model(messages_of(runtime.state) or ())
    return None if said is None or said.id is None else ((runtime.config.get(CONF) or {}).get(THREAD_ID), said.id)


def _calls_before(runtime: ToolRuntime, path: str) -> list[dict[str, Any]]:
    """The arguments of the calls of this turn that change the same file, up to the one that runs."""
    asked = last_of_model(runtime.state.get("messages", ()))
    calls = [] if asked is None else asked.tool_calls
    before = list(takewhile(lambda call: call["id"] != runtime.tool_call_id, calls))
    changing = [call["args"] for call in before if call["name"] in ("write_file", "edit_file")]
    return [args for args in changing if _is_at(path, args.get("file_path"))] if len(before) < len(calls) else []


def _is_at(path: str, said: Any) -> bool:
    try:
        return clean(str(said)) == path
    except FileError:  # that call is refused for itself
        return False


def _done(text: str, update: dict[str, Any] | None, runtime: ToolRuntime) -> Any:
    if update is None:
        return text
    return Command(update={**update, "messages": [ToolMessage(text, tool_call_id=runtime.tool_call_id)]})


def _glob(backend: Backend) -> Callable[..., str]:
    def glob(pattern: str, runtime: ToolRuntime, path: str = "/") -> str:
        """Find files by a pattern of their path, such as *.md or src/**/*.{py,pyi}."""
        found = filter(matching(pattern, path), backend.open(runtime.state).paths())
        return _listed(list(found), "No file matches.")

    return glob


def _grep(backend: Backend) -> Callable[..., str]:
    def grep(pattern: str, runtime: ToolRuntime, path: str = "/", glob: str | None = None) -> str:
        """Find lines that have a text in them, in all files below a path or those that match glob (*.md, src/**/*)."""
        files, base = backend.open(runtime.state), clean(path)
        within = [one for one in files.paths() if one == base or one.startswith(base.rstrip("/") + "/")]
        named = within if glob is None else filter(naming(glob, path), within)
        found = [hit for one in named for hit in _hits(files, one, pattern)]
        return _listed(found, "No line has it.")

    return grep


def _hits(files: Files, path: str, text: str) -> list[str]:
    try:
        lines = files.read(path).splitlines()
    except FileError:  # not text, or too big
        return []
    return [f"{path}:{number}:{line}" for number, line in enumerate(lines, 1) if text in line]


def _listed(found: list[str], otherwise: str) -> str:
    if len(found) > MAX_FOUND:
        return "\n".join([*found[:MAX_FOUND], f"({len(found) - MAX_FOUND} more)"])
    return "\n".join(found) or otherwise


def _execute(backend: Executor) -> Callable[..., str]:
    def execute(command: str) -> str:
        """Run a command of the shell in the folder."""
        done = backend.execute(command)
        notes = ["(The rest of the output was dropped.)"] * done.is_cut
        notes += ["(Its time was over, and it was stopped.)"] * done.is_late
        notes += [f"(It ended with code {done.exit_code}.)"] * bool(done.exit_code)
        return "\n".join([done.output.rstrip("\n"), *notes]).strip("\n") or "(It printed nothing.)"

    return execute
